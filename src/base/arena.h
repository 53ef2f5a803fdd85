/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for many small things that all end together.  Starts as { .budget = ... }; freed by
 * arena__free, after which it is as new.
 */
#ifndef XR_BASE_ARENA_H
#define XR_BASE_ARENA_H

#include "base/budget.h"

struct arena_block;

struct arena {
	struct budget *budget;	    /* borrowed; NULL: no limit */
	struct arena_block *blocks; /* the newest is the one being filled */
	size_t used, size;	    /* of the newest block's data, bytes */
	size_t total;		    /* taken from the budget, bytes */
};

/* arena__alloc - @size bytes, aligned to 8, not set.  NULL: no memory, or over the budget. */
void *arena__alloc(struct arena *a, size_t size);

void arena__free(struct arena *a);

#endif
