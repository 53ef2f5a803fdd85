/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/unwind/table.h"

#include <stdlib.h>

/* The number of the last row at or before @address; -1: there is none. */
static int64_t table__at(const struct unwind_table *t, uint64_t address)
{
	uint64_t pc = address - t->base;
	uint32_t low = 0, high = t->nrows;

	if (address < t->base || pc > UINT32_MAX)
		return -1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->rows[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

const struct xr_unwind_row *unwind_table__find(const struct unwind_table *t, uint64_t address)
{
	int64_t at = table__at(t, address);

	return at < 0 || !t->rows[at].rule ? NULL : &t->rows[at];
}

bool unwind_table__function(const struct unwind_table *t, uint64_t address, uint64_t *begin,
			    uint64_t *end)
{
	int64_t at = table__at(t, address), next = at + 1;

	/* within a function rule 0 may be that of code which is not followed */
	while (at > 0 && t->rows[at].back & XR_ROW_BACK)
		at--;
	if (at < 0)
		return false;
	while (next < t->nrows && t->rows[next].back & XR_ROW_BACK)
		next++;
	if (next >= t->nrows || (next == at + 1 && !t->rows[at].rule))
		return false;
	*begin = t->base + t->rows[at].pc;
	*end = t->base + t->rows[next].pc;
	return true;
}

void unwind_table__free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t->rules);
	free(t);
}
