/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks, frames and names, each equal one once.  The decoder has one such set for each process,
 * an aggregate one for all that it holds.
 */
#ifndef XR_PROFILE_STACKS_H
#define XR_PROFILE_STACKS_H

#include "profile/profile.h"

/* Starts as { 0 }; stacks__init gives it a budget.  Freed by stacks__free, then it is as new. */
struct stacks {
	struct intern names;
	struct table frames, stacks;
	struct arena arena;
	uint64_t *last_id; /* of those that share it; borrowed */
};

/* @budget and @last_id (starts as 0) are borrowed. */
void stacks__init(struct stacks *s, struct budget *budget, uint64_t *last_id);

/* Those that return a pointer return NULL when there is no memory, or no more in the budget. */

/* stacks__name - the one name of these bytes (intern.h). */
const struct name *stacks__name(struct stacks *s, const char *text, size_t len);

/*
 * stacks__word - the name of a text that is terminated; of NULL it is NULL.  stacks__text - its
 * text.
 */
const struct name *stacks__word(struct stacks *s, const char *text);
const char *stacks__text(struct stacks *s, const char *text);

/* stacks__labels - copy @n labels of @from to @to.  False: no room. */
bool stacks__labels(struct stacks *s, struct profile_label *to, const struct profile_label *from,
		    size_t n);

/* stacks__learn - what is known by now of @call, of which @ours is a copy. */
void stacks__learn(struct stacks *s, struct profile_call *ours, const struct profile_call *call);

/*
 * stacks__frame - the one frame that is equal to @frame.  Its names must be from a table that
 * lives as long as @s, or be those of a mark; equal: at the same address.
 */
const struct frame *stacks__frame(struct stacks *s, const struct frame *frame);

/* stacks__stack - the one stack of @n @frames, each from stacks__frame or a mark. */
const struct stack *stacks__stack(struct stacks *s, const struct frame *const *frames, uint32_t n,
				  struct place top);

/* stacks__copy - the stack that is equal to @stack, whose names are from elsewhere. */
const struct stack *stacks__copy(struct stacks *s, const struct stack *stack);

/* stacks__none - stands for a stack that did not fit: it is a mark.  Its id is 0. */
const struct stack *stacks__none(void);

void stacks__free(struct stacks *s);

#endif
