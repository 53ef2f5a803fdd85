/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/top_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "profile/fold.h"

/* A caller on a path outward from the function that was asked for. */
struct caller {
	uint32_t id, parent; /* from 1 on; parent 0: it called that function */
	uint32_t function, depth;
	uint64_t samples;
};

struct callers {
	struct top_model *model;
	uint32_t function;
	bool merge; /* recursive calls among the callers */
	struct caller *list;
	size_t n, cap;
	struct map by_parent; /* (id of the parent, function) to the id */
	uint64_t all;	      /* samples */
	struct top_caller *out;
	uint32_t nout;
};

/* Where the outermost call of the function asked for is in @stack, from 1 on; 0: nowhere. */
static long callers__find(const struct callers *c, const struct stack *stack)
{
	for (uint32_t at = stack->nframes; at > 0; at--) {
		long function = function_table__row(&c->model->functions, stack->frames[at - 1]);

		if (function < 0)
			return function;
		if (function == (long)c->function)
			return at;
	}
	return 0;
}

/* The id of caller @function of @parent, made if it is new. */
static long callers__id(struct callers *c, uint32_t parent, uint32_t function)
{
	size_t id = map__number(&c->by_parent, parent, function);

	if (id)
		return (long)id;
	if (array__room(&c->list, c->n, &c->cap, sizeof(*c->list)))
		return -ENOMEM;
	id = c->n + 1;
	if (map__put_number(&c->by_parent, parent, function, id))
		return -ENOMEM;
	c->list[c->n++] = (struct caller){
		.id = (uint32_t)id,
		.parent = parent,
		.function = function,
		.depth = parent ? c->list[parent - 1].depth + 1 : 1,
	};
	return (long)id;
}

/* Count the callers in @stack. */
static int callers__stack(void *arg, const struct stack *stack, uint64_t samples)
{
	struct callers *c = arg;
	long at = callers__find(c, stack), n, id = 0;
	const struct frame **frames;

	if (at <= 0)
		return (int)at;
	n = (long)stack->nframes - at;
	frames = malloc(((size_t)n + 1) * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	memcpy(frames, stack->frames + at, (size_t)n * sizeof(*frames));
	if (c->merge)
		n = fold__recursion(frames, (uint32_t)n);
	for (long i = 0; i < n && id >= 0; i++) {
		long function = function_table__row(&c->model->functions, frames[i]);

		id = function < 0 ? function : callers__id(c, (uint32_t)id, (uint32_t)function);
		if (id > 0)
			c->list[id - 1].samples += samples;
	}
	free(frames);
	c->all += samples;
	return n < 0 ? (int)n : id < 0 ? (int)id : 0;
}

/* Callers of the same function together, the heaviest first. */
static int caller__compare(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

/*
 * List the callers of @parent, in the sorted list.  It ends: it descends only into callers that get
 * a line, and the number of lines is limited.
 */
static void callers__list(struct callers *c, uint32_t parent)
{
	size_t at = 0, end = c->n;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (c->list[middle].parent < parent)
			at = middle + 1;
		else
			end = middle;
	}
	for (; at < c->n && c->list[at].parent == parent; at++) {
		const struct caller *one = &c->list[at];

		if (!one->samples || one->samples * 100 < c->all || c->nout == TOP_CALLERS_MAX)
			return;
		c->out[c->nout++] = (struct top_caller){
			.function = one->function, .depth = one->depth, .samples = one->samples};
		callers__list(c, one->id);
	}
}

int top_callers__of(struct top_model *m, const struct top_scope *scope, uint32_t function,
		    struct top_caller *out)
{
	struct callers c = {.model = m, .function = function, .merge = scope->merge, .out = out};
	int err = top_model__each(m, scope, callers__stack, &c);

	if (!err && c.n) {
		qsort(c.list, c.n, sizeof(*c.list), caller__compare);
		callers__list(&c, 0);
	}
	free(c.list);
	map__free(&c.by_parent);
	return err ? err : (int)c.nout;
}
