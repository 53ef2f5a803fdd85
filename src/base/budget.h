/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that something may take: a limit, and how much of it is taken.  Budgets may be parts of a
 * larger one.
 */
#ifndef XR_BASE_BUDGET_H
#define XR_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* All in bytes. */
struct budget {
	struct budget *whole; /* what it is a part of, NULL: nothing */
	size_t max, used;
	size_t reserve; /* it may take so much even when the whole has no more */
};

/* budget__take - is there room for @n more?  They are taken then.  @b may be NULL: no limit. */
static inline bool budget__take(struct budget *b, size_t n)
{
	if (!b)
		return true;
	if (n > b->max || b->used > b->max - n)
		return false;
	if (b->whole && b->used + n > b->reserve &&
	    (n > b->whole->max || b->whole->used > b->whole->max - n))
		return false;
	b->used += n;
	if (b->whole)
		b->whole->used += n;
	return true;
}

/* budget__give - @n bytes that were taken are free again. */
static inline void budget__give(struct budget *b, size_t n)
{
	if (!b)
		return;
	b->used -= n;
	if (b->whole)
		b->whole->used -= n;
}

#endif
