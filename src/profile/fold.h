/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks without the frames that only lead from one function to another: the wrappers of base R
 * (tryCatch() alone is four frames, lapply() two), and what shiny has between ..stacktraceoff..()
 * and ..stacktraceon..(), by which it says itself what is none of the user's.
 */
#ifndef XR_PROFILE_FOLD_H
#define XR_PROFILE_FOLD_H

#include "profile/stacks.h"

/* fold__wrapper - is @frame of a function that only calls what it was given? */
bool fold__wrapper(const struct frame *frame);

/*
 * fold__stack - @stack without wrappers: the stack of @to, whose names must come from where @to's
 * do.  The innermost function stays, whatever it is, as the time is its; so do marks, and the
 * order.  A caller that stays has the place that it had.  It is @stack itself if nothing is left
 * out; NULL: no room.
 */
const struct stack *fold__stack(struct stacks *to, const struct stack *stack);

#endif
