/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of profiles by their stacks, as words are in a dictionary: outermost frame first.  The order
 * is the same in each run.  A stack without an R function has the level <toplevel>.
 */
#ifndef XR_OUTPUT_PAGE_ORDER_H
#define XR_OUTPUT_PAGE_ORDER_H

#include "profile/aggregate.h"

struct page_row {
	const struct aggregate_row *row;
	bool before;   /* it is of what the profile is compared with */
	uint32_t node; /* of the page's tree: where its stack ends; 0 at first */
};

/*
 * page_rows__sorted - the rows of @profile and of @before (NULL: there is none), and how many; the
 * caller frees them.  NULL: no memory.
 */
struct page_row *page_rows__sorted(const struct aggregate *profile, const struct aggregate *before,
				   size_t *n);

uint32_t stack__depth(const struct stack *s);

/* stack__at - its frame at @level, 0 being the outermost. */
const struct frame *stack__at(const struct stack *s, uint32_t level);

/* stack__common - how many levels @a and @b have in common. */
uint32_t stack__common(const struct stack *a, const struct stack *b);

#endif
