/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks in order, as words are in a dictionary: outermost frame first.  The order is the same in
 * each run.  A stack without an R function has the level <toplevel>.
 */
#ifndef XR_OUTPUT_PAGE_ORDER_H
#define XR_OUTPUT_PAGE_ORDER_H

#include "profile/profile.h"

uint32_t stack__depth(const struct stack *s);

/* stack__at - its frame at @level, 0 being the outermost. */
const struct frame *stack__at(const struct stack *s, uint32_t level);

/* stack__common - how many levels @a and @b have in common. */
uint32_t stack__common(const struct stack *a, const struct stack *b);

/* stack__order - as qsort has it. */
int stack__order(const struct stack *a, const struct stack *b);

#endif
