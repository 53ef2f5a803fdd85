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
	size_t reserve; /* so much of it is apart from the whole */
	/*
	 * Of a whole: none of its parts may have more of it than is left for all others, so that
	 * who comes later finds room, too.
	 */
	bool shared;
};

/* budget__of_whole - what @b takes of its whole when it has @used. */
static inline size_t budget__of_whole(const struct budget *b, size_t used)
{
	return used > b->reserve ? used - b->reserve : 0;
}

/* budget__take - is there room for @n more?  They are taken then.  @b may be NULL: no limit. */
static inline bool budget__take(struct budget *b, size_t n)
{
	size_t after, more, left;

	if (!b)
		return true;
	if (n > b->max || b->used > b->max - n)
		return false;
	after = budget__of_whole(b, b->used + n);
	more = after - budget__of_whole(b, b->used);
	if (b->whole && more) {
		left = b->whole->max > b->whole->used ? b->whole->max - b->whole->used : 0;
		if (more > left || (b->whole->shared && after > left - more))
			return false;
		b->whole->used += more;
	}
	b->used += n;
	return true;
}

/* budget__owe - @n more are taken, whether there is room or not. */
static inline void budget__owe(struct budget *b, size_t n)
{
	if (!b)
		return;
	if (b->whole)
		b->whole->used += budget__of_whole(b, b->used + n) - budget__of_whole(b, b->used);
	b->used += n;
}

/* budget__give - @n bytes that were taken are free again. */
static inline void budget__give(struct budget *b, size_t n)
{
	if (!b)
		return;
	if (b->whole)
		b->whole->used -= budget__of_whole(b, b->used) - budget__of_whole(b, b->used - n);
	b->used -= n;
}

#endif
