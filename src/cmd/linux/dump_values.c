/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc.h"
#include "os/rights.h"
#include "values/calls.h"
#include "values/deparse.h"

#define READS_MAX     20000u /* for one frame */
#define NAME_READS    8u     /* for the name of a function */
#define CALL_BYTES    500u
#define VALUE_BYTES   160u
#define VARIABLES_MAX 200u /* of one frame */

static bool frame__is_function(const struct frame *f)
{
	return f->kind == FRAME_R || f->kind == FRAME_ANON || f->kind == FRAME_UNNAMED;
}

/* Is @call one of the function that @f names?  Heads other than symbols are not compared. */
static bool call__fits(struct heap *h, const struct call *call, const struct frame *f)
{
	struct buf name = {0};
	struct object o;
	bool fits;

	if (!heap__object(h, call->call, &o) || o.type != HEAP_CALL)
		return false;
	fits = heap__name(h, o.word[0], &name, strlen(f->function->text) + 1) ||
	       (name.len == strlen(f->function->text) &&
		!memcmp(name.data ? name.data : "", f->function->text, name.len));
	buf__free(&name);
	return fits;
}

int frame_values__read(const struct mem_reader *reader, const struct xr_row *row,
		       const struct call *call, bool calls, bool locals, uint32_t *left,
		       struct frame_values *v)
{
	const uint32_t given = *left < READS_MAX ? *left : READS_MAX;
	struct buf text = {0};
	struct heap h;
	int err = 0;

	heap__init(&h, reader, row, given);
	if (calls)
		err = deparse__call(&h, call->call, &text, CALL_BYTES);
	if (err >= 0 && calls)
		err = buf__add(&text, "", 1);
	v->call = text.data;
	if (err >= 0 && locals && !call->builtin) {
		v->has_locals = true;
		err = locals__read(&h, call->env, VARIABLES_MAX, VALUE_BYTES, &v->locals);
	}
	*left -= given - h.left;
	return err < 0 ? err : 0;
}

void frame_values__free(struct frame_values *v)
{
	free(v->call);
	locals__free(&v->locals);
	*v = (struct frame_values){0};
}

/*
 * Of the first @n frames, drop the values of those whose calls have ended.  What is not dropped was
 * read while its call ran, and is not looked at again: @of is NULL for all of them.
 */
static int values__settle(const struct mem_reader *reader, const struct xr_row *row, uint32_t n,
			  struct frame_values *values, const struct call **of)
{
	struct calls now;
	int err = calls__read_all(reader, row, XR_CONTEXTS_MAX, &now);

	for (uint32_t i = 0; i < n && !err; i++) {
		if (of[i] && !calls__still(&now, of[i]))
			frame_values__free(&values[i]);
		of[i] = NULL;
	}
	calls__free(&now);
	return err;
}

/*
 * Which of the calls that are read now each frame of the sample is.  A function has its context and
 * its environment as long as it runs.  A builtin is known by its place, right inside of the
 * function that called it, and by its name.  Was there any?
 */
static bool values__match(const struct mem_reader *reader, const struct xr_row *row,
			  const struct stack *stack, const struct sample_call *sampled,
			  const struct calls *now, const struct call **of)
{
	struct heap h;
	size_t k = now->n, at;

	for (uint32_t i = stack->nframes; i-- > 0 && k;) {
		if (!frame__is_function(stack->frames[i]))
			continue;
		at = k;
		while (sampled[i].env && at && now->list[at - 1].at != sampled[i].context)
			at--;
		if (!at || (sampled[i].env && now->list[at - 1].env != sampled[i].env))
			break;
		heap__init(&h, reader, row, NAME_READS);
		if (!sampled[i].env && (!now->list[at - 1].builtin ||
					!call__fits(&h, &now->list[at - 1], stack->frames[i])))
			continue;
		k = at - 1;
		of[i] = &now->list[k];
	}
	return k < now->n;
}

static int values__fill(const struct mem_reader *reader, const struct xr_row *row,
			const struct stack *stack, bool calls, bool locals,
			struct frame_values *values, const struct call **of)
{
	uint32_t left = FRAME_VALUES_READS, nread = 0;
	int err = 0;

	/* the innermost first: they end first, and matter most if the reads do not suffice */
	for (uint32_t i = 0; i < stack->nframes && left && !err; i++) {
		if (!of[i])
			continue;
		err = frame_values__read(reader, row, of[i], calls, locals, &left, &values[i]);
		nread++;
		/* after the first, the second, the fourth, ...: few looks, and soon enough */
		if (!err && !(nread & (nread - 1)))
			err = values__settle(reader, row, i + 1, values, of);
	}
	return err ? err : values__settle(reader, row, stack->nframes, values, of);
}

int dump_values__read(pid_t pid, const struct xr_row *row, const struct stack *stack,
		      const struct sample_call *sampled, bool calls, bool locals,
		      struct frame_values **out)
{
	const struct mem_reader reader = proc__reader(pid);
	struct frame_values *values = calloc(stack->nframes + 1, sizeof(*values));
	const struct call **of = calloc(stack->nframes + 1, sizeof(*of));
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	struct calls now = {0};
	int err = values && of ? calls__read_all(&reader, row, XR_CONTEXTS_MAX, &now) : -ENOMEM;

	if (!err && !values__match(&reader, row, stack, sampled, &now, of) && !now.whole)
		err = -EFAULT; /* the outer calls, by which the others are known */
	if (!err)
		err = values__fill(&reader, row, stack, calls, locals, values, of);
	rights__lower(raised);
	calls__free(&now);
	free(of);
	if (err) {
		dump_values__free(values, stack);
		return err;
	}
	*out = values;
	return 0;
}

void dump_values__free(struct frame_values *values, const struct stack *stack)
{
	for (uint32_t i = 0; values && i < stack->nframes; i++)
		frame_values__free(&values[i]);
	free(values);
}
