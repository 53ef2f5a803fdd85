/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/aggregate.h"
#include "profile/stacks.h"

/* What a row costs: itself, its places in the two maps, and what arrays keep in store. */
#define ROW_COST (2 * sizeof(struct aggregate_row) + 6 * sizeof(struct map_entry))

/*
 * Rows and processes are found by numbers (index + 1, as a pointer): the arrays move.  `seen` is a
 * short cut by the ids that the samples' stacks have.
 */
struct aggregate {
	struct budget budget;
	uint32_t labels;
	uint64_t last_id;
	struct stacks stacks;
	struct map seen;  /* (id of the sample's stack, process << 32 | labels) to the row */
	struct map index; /* (id of our stack, process << 32 | labels) to the row */
	struct aggregate_row *rows;
	size_t nrows, cap;
	struct map serials; /* (serial, 0) to its newest process */
	struct aggregate_process *processes;
	size_t nprocesses, processes_cap;
	size_t cost; /* taken from the budget for rows and processes */
	size_t none; /* number of the row of those dropped, 0: none */
	uint64_t dropped;
	uint64_t first, last; /* ns */
};

static void *number(size_t n)
{
	return (void *)(uintptr_t)n;
}

static void aggregate__init(struct aggregate *a)
{
	stacks__init(&a->stacks, &a->budget, &a->last_id);
}

int aggregate__new(struct aggregate **out, size_t max, uint32_t labels)
{
	struct aggregate *a = calloc(1, sizeof(*a));

	*out = a;
	if (!a)
		return -ENOMEM;
	a->budget.max = max;
	a->labels = labels;
	aggregate__init(a);
	return 0;
}

/* One more place in an array of @n things of @size bytes, of which there is room for *@cap. */
static int array__room(void **array, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return 0;
	grown = realloc(*array, more * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*cap = more;
	return 0;
}

static bool aggregate__take(struct aggregate *a, size_t cost)
{
	if (!budget__take(&a->budget, cost))
		return false;
	a->cost += cost;
	return true;
}

/* The index of process @p, which is added if it is new; negative: an error. */
static long aggregate__process_index(struct aggregate *a, const struct profile_process *p)
{
	const char *comm = p->comm ? p->comm : "";
	size_t n = (size_t)(uintptr_t)map__get(&a->serials, p->serial, 0);
	struct aggregate_process *ours;
	void *array = a->processes;

	if (n && !strncmp(a->processes[n - 1].comm, comm, XR_COMM_LEN - 1))
		return (long)n - 1;
	if (!aggregate__take(a, 2 * sizeof(*ours) + 2 * sizeof(struct map_entry)))
		return -ENOSPC;
	if (array__room(&array, a->nprocesses, &a->processes_cap, sizeof(*ours)))
		return -ENOMEM;
	a->processes = array;
	if (map__put(&a->serials, p->serial, 0, number(a->nprocesses + 1)))
		return -ENOMEM;
	ours = &a->processes[a->nprocesses];
	*ours = (struct aggregate_process){
		.serial = p->serial, .pid = p->pid, .parent_pid = p->parent_pid};
	snprintf(ours->comm, sizeof(ours->comm), "%s", comm);
	return (long)a->nprocesses++;
}

/* Add a row: its number, 0: -ENOMEM. */
static size_t aggregate__new_row(struct aggregate *a, const struct stack *stack, uint32_t process,
				 uint32_t labels)
{
	void *array = a->rows;

	if (array__room(&array, a->nrows, &a->cap, sizeof(*a->rows)))
		return 0;
	a->rows = array;
	a->rows[a->nrows] =
		(struct aggregate_row){.stack = stack, .process = process, .labels = labels};
	return ++a->nrows;
}

/* The number of the row of our @stack, added if it is new; 0: -ENOMEM, or *@err. */
static size_t aggregate__row(struct aggregate *a, const struct stack *stack, uint32_t process,
			     uint32_t labels, int *err)
{
	uint64_t key = (uint64_t)process << 32 | labels;
	size_t n = (size_t)(uintptr_t)map__get(&a->index, stack->id, key);

	*err = -ENOMEM;
	if (n)
		return n;
	if (!aggregate__take(a, ROW_COST)) {
		*err = -ENOSPC;
		return 0;
	}
	n = aggregate__new_row(a, stack, process, labels);
	if (n && map__put(&a->index, stack->id, key, number(n))) {
		a->nrows--;
		n = 0;
	}
	return n;
}

static void row__count(struct aggregate *a, size_t n, const struct sample *s)
{
	struct aggregate_row *row = &a->rows[n - 1];

	row->samples++;
	row->values[s->unit < AGGREGATE_TYPES ? s->unit : 0] += s->weight;
	if (!a->first || s->time < a->first)
		a->first = s->time;
	if (s->time > a->last)
		a->last = s->time;
}

int aggregate__add(struct aggregate *a, const struct profile_process *p, const struct sample *s)
{
	uint32_t labels = s->flags & a->labels;
	const struct stack *stack;
	long process;
	uint64_t key;
	size_t n;
	int err;

	process = aggregate__process_index(a, p);
	if (process < 0)
		return (int)process;
	key = (uint64_t)process << 32 | labels;
	n = (size_t)(uintptr_t)map__get(&a->seen, s->stack->id, key);
	if (!n) {
		stack = stacks__copy(&a->stacks, s->stack);
		if (!stack)
			return -ENOSPC;
		n = aggregate__row(a, stack, (uint32_t)process, labels, &err);
		if (!n)
			return err;
		/* the short cut must not outgrow what it is for */
		if (a->seen.count > a->nrows + 64)
			map__free(&a->seen);
		if (map__put(&a->seen, s->stack->id, key, number(n)))
			return -ENOMEM;
	}
	row__count(a, n, s);
	return 0;
}

void aggregate__drop(struct aggregate *a, const struct profile_process *p, const struct sample *s)
{
	long process;

	a->dropped++;
	if (!a->none) {
		process = aggregate__process_index(a, p);
		if (process < 0 && a->nprocesses)
			process = 0;
		if (process >= 0)
			a->none = aggregate__new_row(a, stacks__none(), (uint32_t)process, 0);
	}
	if (a->none)
		row__count(a, a->none, s);
}

const struct aggregate_row *aggregate__rows(const struct aggregate *a, size_t *n)
{
	*n = a->nrows;
	return a->rows;
}

const struct aggregate_process *aggregate__process(const struct aggregate *a, uint32_t process)
{
	return &a->processes[process];
}

size_t aggregate__size(const struct aggregate *a)
{
	return a->budget.used;
}

uint64_t aggregate__dropped(const struct aggregate *a)
{
	return a->dropped;
}

void aggregate__span(const struct aggregate *a, uint64_t *first, uint64_t *last)
{
	*first = a->first;
	*last = a->last;
}

void aggregate__clear(struct aggregate *a)
{
	stacks__free(&a->stacks);
	map__free(&a->seen);
	map__free(&a->index);
	map__free(&a->serials);
	free(a->rows);
	free(a->processes);
	budget__give(&a->budget, a->cost);
	*a = (struct aggregate){.budget = a->budget, .labels = a->labels, .dropped = a->dropped};
	aggregate__init(a);
}

void aggregate__free(struct aggregate *a)
{
	if (!a)
		return;
	aggregate__clear(a);
	free(a);
}
