/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/function_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/fold.h"
#include "profile/names.h"

static int frame__row_label(struct buf *b, const struct frame *frame, enum function_by by)
{
	int err;

	if (by == BY_PACKAGES && frame->kind != FRAME_MARK)
		return frame->package ? buf__add(b, frame->package->safe, frame->package->safe_len)
				      : buf__str(b, "<unknown>");
	err = frame__label(b, frame, NAME_SAFE);
	return err || by != BY_LINES ? err : place__text(b, frame->place, NAME_SAFE);
}

/* The number of a new row, from 1 on. */
static long function_table__new(struct function_table *t, const struct name *label)
{
	if (!budget__take(t->budget, 2 * sizeof(*t->rows) + 4 * sizeof(struct map_entry)))
		return -ENOSPC;
	if (array__room(&t->rows, t->n, &t->cap, sizeof(*t->rows)))
		return -ENOMEM;
	if (map__put_number(&t->by_label, (uintptr_t)label, 0, t->n + 1))
		return -ENOMEM;
	t->rows[t->n++] = (struct function_row){.label = label->text};
	return (long)t->n;
}

static long function_table__find(struct function_table *t, const struct frame *frame)
{
	struct buf text = {0};
	const struct name *label = NULL;
	long n = frame__row_label(&text, frame, t->by);

	if (!n) {
		t->labels.table.budget = t->labels.arena.budget = t->budget;
		label = intern__get(&t->labels, text.data ? text.data : "", text.len);
		n = label ? (long)map__number(&t->by_label, (uintptr_t)label, 0) : -ENOSPC;
	}
	buf__free(&text);
	return n || !label ? n : function_table__new(t, label);
}

long function_table__row(struct function_table *t, const struct frame *frame)
{
	long n = (long)map__number(&t->by_frame, (uintptr_t)frame, 0);

	if (n)
		return n - 1;
	n = function_table__find(t, frame);
	if (n < 0)
		return n;
	if (!budget__take(t->budget, 4 * sizeof(struct map_entry)))
		return -ENOSPC;
	if (map__put_number(&t->by_frame, (uintptr_t)frame, 0, n))
		return -ENOMEM;
	return n - 1;
}

/* Is the row of @frame met in this stack for the first time?  Its index in @index. */
static int function_table__meet(struct function_table *t, const struct frame *frame, long *index)
{
	struct function_row *row;

	*index = function_table__row(t, frame);
	if (*index < 0)
		return (int)*index;
	row = &t->rows[*index];
	if (row->stamp == t->stamp)
		return 0;
	row->stamp = t->stamp;
	return 1;
}

long function_table__steps(struct function_table *t, struct function_table *functions,
			   const struct stack *stack, const struct stack *folded,
			   struct function_step *steps)
{
	const bool toplevel = stack__is_toplevel(stack);
	uint32_t kept = 0, n = 0;

	t->stamp++;
	if (functions)
		functions->stamp++;
	for (uint32_t i = 0; i < stack->nframes + toplevel; i++) {
		const bool last = i == stack->nframes;
		const struct frame *frame = last ? &mark_toplevel : stack->frames[i];
		const bool stays =
			last || (kept < folded->nframes && folded->frames[kept] == frame);
		int met = 1;
		long index;

		if (functions && fold__recurs(frame))
			met = function_table__meet(functions, frame, &index);
		if (met > 0) {
			met = function_table__meet(t, frame, &index);
			if (met > 0) {
				t->rows[index].step = n;
				steps[n++] =
					(struct function_step){.row = (uint32_t)index & INT32_MAX};
			}
			if (met >= 0)
				steps[t->rows[index].step].stays |= stays;
		}
		if (met < 0)
			return met;
		kept += stays;
	}
	return n;
}

void function_table__count(struct function_table *t, const struct function_step *steps, size_t n,
			   uint64_t value, int side, bool fold)
{
	t->samples[side] += value;
	for (size_t i = 0; i < n; i++) {
		struct function_row *row = &t->rows[steps[i].row];

		if (!i)
			row->self[side] += value;
		if (!i || !fold || steps[i].stays)
			row->total[side] += value;
	}
}

int function_table__add(struct function_table *t, const struct aggregate *a, uint32_t type,
			int side, bool merge)
{
	struct function_table functions = {0};
	struct function_step *steps = NULL;
	const struct aggregate_row *of;
	size_t rows, most = 0;
	long n = 0;

	of = aggregate__rows(a, &rows);
	for (size_t i = 0; i < rows; i++)
		if (of[i].stack->nframes > most)
			most = of[i].stack->nframes;
	steps = calloc(most + 1, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	for (size_t i = 0; i < rows && n >= 0; i++) {
		if (of[i].type != type)
			continue;
		n = function_table__steps(t, merge ? &functions : NULL, of[i].stack, of[i].stack,
					  steps);
		if (n >= 0)
			function_table__count(t, steps, (size_t)n, of[i].value, side, false);
	}
	function_table__free(&functions);
	free(steps);
	return n < 0 ? (int)n : 0;
}

int function_line__compare(const void *a, const void *b)
{
	const struct function_line *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->key[i] < y->key[i] || x->key[i] > y->key[i])
			return x->key[i] < y->key[i] ? 1 : -1;
	return x->label ? strcmp(x->label, y->label) : (x->row > y->row) - (x->row < y->row);
}

void function_table__free(struct function_table *t)
{
	map__free(&t->by_label);
	map__free(&t->by_frame);
	intern__free(&t->labels);
	free(t->rows);
	*t = (struct function_table){.budget = t->budget, .by = t->by};
}
