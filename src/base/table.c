/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

static void table__place(struct table *t, void *record)
{
	size_t i = *(const uint64_t *)record & (t->cap - 1);

	while (t->records[i])
		i = (i + 1) & (t->cap - 1);
	t->records[i] = record;
}

static int table__grow(struct table *t)
{
	struct table bigger = {.budget = t->budget, .cap = t->cap ? t->cap * 2 : 16};

	if (!budget__take(t->budget, bigger.cap * sizeof(void *)))
		return -ENOMEM;
	bigger.records = calloc(bigger.cap, sizeof(void *));
	if (!bigger.records) {
		budget__give(t->budget, bigger.cap * sizeof(void *));
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->cap; i++)
		if (t->records[i])
			table__place(&bigger, t->records[i]);
	bigger.count = t->count;
	table__free(t);
	*t = bigger;
	return 0;
}

int table__add(struct table *t, void *record)
{
	if (t->count >= t->cap / 4 * 3 && table__grow(t))
		return -ENOMEM;
	table__place(t, record);
	t->count++;
	return 0;
}

void table__free(struct table *t)
{
	free(t->records);
	budget__give(t->budget, t->cap * sizeof(void *));
	*t = (struct table){.budget = t->budget};
}
