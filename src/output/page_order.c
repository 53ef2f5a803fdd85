/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/page_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

uint32_t stack__depth(const struct stack *s)
{
	return s->nframes + stack__is_toplevel(s);
}

const struct frame *stack__at(const struct stack *s, uint32_t level)
{
	if (stack__is_toplevel(s)) {
		if (!level)
			return &mark_toplevel;
		level--;
	}
	return s->frames[s->nframes - 1 - level];
}

static int number__order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t name__hash(const struct name *name)
{
	return map__hash(map__hash_bytes(name->text, name->len), name->len);
}

/* Names of different tables, in the same order in each run: not by the hash of the tables. */
static int name__order(const struct name *a, const struct name *b)
{
	int order;

	if (a == b)
		return 0;
	if (!a || !b)
		return a ? 1 : -1;
	order = number__order(name__hash(a), name__hash(b));
	return order ? order : strcmp(a->text, b->text);
}

static int place__order(struct place a, struct place b)
{
	int order = name__order(a.file, b.file);

	return order ? order : number__order(a.line, b.line);
}

/* The same in each run, so not by address. */
static int frame__order(const struct frame *a, const struct frame *b)
{
	int order;

	if (a == b)
		return 0;
	order = name__order(a->function, b->function);
	order = order ? order : number__order(a->kind, b->kind);
	order = order ? order : name__order(a->package, b->package);
	order = order ? order : place__order(a->defined, b->defined);
	order = order ? order : place__order(a->place, b->place);
	order = order ? order : name__order(a->module, b->module);
	return order ? order : number__order(a->address, b->address);
}

uint32_t stack__common(const struct stack *a, const struct stack *b)
{
	uint32_t depth = stack__depth(a) < stack__depth(b) ? stack__depth(a) : stack__depth(b);
	uint32_t level = 0;

	while (level < depth && !frame__order(stack__at(a, level), stack__at(b, level)))
		level++;
	return level;
}

static int stack__order(const struct stack *a, const struct stack *b)
{
	const uint32_t common = stack__common(a, b);

	if (common < stack__depth(a) && common < stack__depth(b))
		return frame__order(stack__at(a, common), stack__at(b, common));
	return number__order(stack__depth(a), stack__depth(b));
}

static int row__order(const void *x, const void *y)
{
	const struct page_row *a = x, *b = y;
	const struct stack *s = a->row->stack, *t = b->row->stack;
	int order = s == t ? 0 : stack__order(s, t);

	order = order ? order : number__order(a->before, b->before);
	return order ? order : number__order((uintptr_t)a->row, (uintptr_t)b->row);
}

struct page_row *page_rows__sorted(const struct aggregate *profile, const struct aggregate *before,
				   size_t *n)
{
	const struct aggregate *const sets[] = {profile, before};
	const struct aggregate_row *of[2] = {NULL, NULL};
	size_t count[2] = {0, 0};
	struct page_row *rows;

	for (uint32_t set = 0; set < 2 && sets[set]; set++)
		of[set] = aggregate__rows(sets[set], &count[set]);
	*n = count[0] + count[1];
	rows = calloc(*n + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	for (size_t i = 0; i < *n; i++)
		rows[i] = (struct page_row){i < count[0] ? &of[0][i] : &of[1][i - count[0]],
					    i >= count[0], 0};
	qsort(rows, *n, sizeof(*rows), row__order);
	return rows;
}
