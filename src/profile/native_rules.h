/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which native frames of a stack are shown (docs/internals/native.md): all are in the sample, but
 * R's own C functions say nothing that its contexts do not, and what is outside of all of R is how
 * the process began.
 */
#ifndef XR_PROFILE_NATIVE_RULES_H
#define XR_PROFILE_NATIVE_RULES_H

#include "profile/profile.h"

#define NATIVE_ITEM	   0x01u /* else it is one of R's */
#define NATIVE_ITEM_OWNS   0x02u /* R contexts are in it: they stand for it */
#define NATIVE_ITEM_OF_R   0x04u /* the module is R itself */
#define NATIVE_ITEM_NAMED  0x08u /* it has a symbol */
#define NATIVE_ITEM_KERNEL 0x10u

/* A frame, and what the rules must know of it. */
struct native_item {
	const struct frame *frame;
	uint32_t what; /* NATIVE_ITEM_* */
};

/*
 * native_rules__apply - of @n @items, innermost first, keep those that are shown, in their order:
 * how many.  @leaf stands for C functions of R that nothing else stands for, NULL: they are left
 * out.
 */
uint32_t native_rules__apply(struct native_item *items, uint32_t n, const struct frame *leaf);

/*
 * native_rules__elsewhere - the native @items before those of R are another thread's: without how
 * it began.  How many are left.
 */
uint32_t native_rules__elsewhere(struct native_item *items, uint32_t n);

#endif
