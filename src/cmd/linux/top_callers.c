/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/top_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "profile/fold.h"

/* A way outward from the function asked for: indices of functions, the nearest caller first. */
struct way {
	uint32_t *functions;
	uint32_t n;
	uint64_t samples;
};

struct callers {
	struct top_model *model;
	uint32_t function;
	bool merge; /* recursive calls among the callers */
	struct way *ways;
	size_t n, cap;
	struct arena arena;
	uint64_t all; /* samples */
	struct top_caller *out;
	uint32_t nout;
};

/* Where the outermost call of the function asked for is in @stack, from 1 on; 0: nowhere. */
static long callers__find(const struct callers *c, const struct stack *stack)
{
	for (uint32_t at = stack->nframes; at > 0; at--) {
		long function = top_model__function(c->model, stack->frames[at - 1]);

		if (function < 0)
			return function;
		if (function == (long)c->function)
			return at;
	}
	return 0;
}

static int callers__way(void *arg, const struct stack *stack, uint64_t samples)
{
	struct callers *c = arg;
	long at = callers__find(c, stack);
	const struct frame **frames;
	struct way *way;
	long n;

	if (at <= 0)
		return (int)at;
	if (array__room(&c->ways, c->n, &c->cap, sizeof(*way)))
		return -ENOMEM;
	way = &c->ways[c->n];
	*way = (struct way){.samples = samples};
	n = (long)stack->nframes - at;
	way->functions = arena__alloc(&c->arena, ((size_t)n + 1) * sizeof(*way->functions));
	frames = arena__alloc(&c->arena, ((size_t)n + 1) * sizeof(const struct frame *));
	if (!way->functions || !frames)
		return -ENOMEM;
	memcpy(frames, stack->frames + at, (size_t)n * sizeof(const struct frame *));
	if (c->merge)
		n = fold__recursion(frames, (uint32_t)n);
	if (n < 0)
		return (int)n;
	for (; way->n < n; way->n++) {
		long function = top_model__function(c->model, frames[way->n]);

		if (function < 0)
			return (int)function;
		way->functions[way->n] = (uint32_t)function;
	}
	c->n++;
	c->all += samples;
	return 0;
}

static int way__compare(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	for (uint32_t i = 0; i < x->n && i < y->n; i++)
		if (x->functions[i] != y->functions[i])
			return x->functions[i] < y->functions[i] ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

/* Ways that are the same up to a depth: those from `begin` to before `end`. */
struct branch {
	size_t begin, end;
	uint64_t samples;
};

/* The branch at @depth that begins with way @begin, of those before @end. */
static struct branch callers__branch(const struct callers *c, size_t begin, size_t end,
				     uint32_t depth)
{
	struct branch b = {.begin = begin, .end = begin};

	for (; b.end < end && c->ways[b.end].functions[depth] == c->ways[begin].functions[depth];
	     b.end++)
		b.samples += c->ways[b.end].samples;
	return b;
}

/* Of the branches of @of at @depth the heaviest that comes after @last; 0 samples: none does. */
static struct branch callers__next(const struct callers *c, struct branch of, uint32_t depth,
				   struct branch last)
{
	struct branch best = {0}, b;

	for (size_t at = of.begin; at < of.end; at = b.end) {
		b = callers__branch(c, at, of.end, depth);
		if (b.samples > last.samples ||
		    (b.samples == last.samples && b.begin <= last.begin))
			continue;
		if (b.samples > best.samples)
			best = b;
	}
	return best;
}

/*
 * The callers at @depth in the ways of @of, which are sorted and the same up to there.  It ends: it
 * descends only into callers that get a line, and the number of lines is limited.
 */
static void callers__list(struct callers *c, struct branch of, uint32_t depth)
{
	struct branch b = {.samples = UINT64_MAX};

	while (of.begin < of.end && c->ways[of.begin].n == depth)
		of.begin++;
	for (;;) {
		b = callers__next(c, of, depth, b);
		if (!b.samples || b.samples * 100 < c->all || c->nout == TOP_CALLERS_MAX)
			return;
		c->out[c->nout++] = (struct top_caller){
			.function = c->ways[b.begin].functions[depth],
			.depth = depth + 1,
			.samples = b.samples,
		};
		callers__list(c, b, depth + 1);
	}
}

int top_callers__of(struct top_model *m, const struct top_scope *scope, uint32_t function,
		    struct top_caller *out)
{
	struct callers c = {.model = m, .function = function, .merge = scope->merge, .out = out};
	int err = top_model__each(m, scope, callers__way, &c);

	if (!err && c.n) {
		qsort(c.ways, c.n, sizeof(*c.ways), way__compare);
		callers__list(&c, (struct branch){.end = c.n}, 0);
	}
	free(c.ways);
	arena__free(&c.arena);
	return err ? err : (int)c.nout;
}
