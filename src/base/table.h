/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table of pointers to records, which are found by what they hold.  A record begins with
 * its hash, a uint64_t.  Starts as { .budget = ... }; freed by table__free, which leaves the
 * records alone.
 */
#ifndef XR_BASE_TABLE_H
#define XR_BASE_TABLE_H

#include <stdint.h>

#include "base/budget.h"

struct table {
	struct budget *budget; /* of the table itself; borrowed, NULL: no limit */
	void **records;	       /* cap of them, NULL: free; linear probing */
	size_t cap, count;     /* cap: 0 or a power of two */
};

/* Is @record what is looked for? */
typedef bool (*table_same)(const void *record, const void *key);

/* table__find - the record of @hash that is the @same as @key, or NULL. */
static inline void *table__find(const struct table *t, uint64_t hash, table_same same,
				const void *key)
{
	size_t mask = t->cap - 1;

	if (!t->cap)
		return NULL;
	for (size_t i = hash & mask; t->records[i]; i = (i + 1) & mask)
		if (*(const uint64_t *)t->records[i] == hash && same(t->records[i], key))
			return t->records[i];
	return NULL;
}

/* table__add - put in @record, which must not be there yet.  -ENOMEM: or over the budget. */
int table__add(struct table *t, void *record);

void table__free(struct table *t);

#endif
