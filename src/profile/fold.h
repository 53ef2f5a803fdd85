/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks without the frames that only lead from one function to another: the wrappers of base R
 * (tryCatch() alone is four frames, lapply() two), and what shiny has between ..stacktraceoff..()
 * and ..stacktraceon..(), by which it marks itself what is not the user's code.  And stacks with
 * recursive calls merged into one.
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

/*
 * fold__recurs - are two frames of the function of @frame certainly one function that calls itself?
 * Wrappers, builtins and native code are below each other in all programs, and functions without a
 * name and a definition may be different ones.
 */
bool fold__recurs(const struct frame *frame);

/*
 * fold__recursion - merge all calls of a function on the stack of @n @frames, innermost first, into
 * the outermost one, and leave out what is between them: "main f g f h" becomes "main f h".  The
 * place is that of the innermost call.  Returns how many frames are left; -ENOMEM.
 */
long fold__recursion(const struct frame **frames, uint32_t n);

/* fold__merged - @stack with its recursion merged; as fold__stack otherwise. */
const struct stack *fold__merged(struct stacks *to, const struct stack *stack);

#endif
