/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks by hand, for tests of what takes samples.  All live in one set, until stack__free_all().
 */
#ifndef STACK_MAKER_H
#define STACK_MAKER_H

#include "profile/stacks.h"
#include "tap.h"

static struct {
	struct stacks stacks;
	uint64_t last_id;
} maker;

static struct stacks *maker__stacks(void)
{
	if (!maker.stacks.last_id)
		stacks__init(&maker.stacks, NULL, &maker.last_id);
	return &maker.stacks;
}

/* @file NULL: not known. */
static struct place stack__place(const char *file, uint32_t line)
{
	struct place place = {.line = line};

	if (file)
		place.file = stacks__name(maker__stacks(), file, strlen(file));
	return place;
}

static inline const struct frame *stack__frame(enum frame_kind kind, const char *function,
					       const char *file, uint32_t line)
{
	struct frame frame = {.kind = kind, .place = stack__place(file, line)};
	const struct frame *one;

	frame.function = stacks__name(maker__stacks(), function, strlen(function));
	one = stacks__frame(maker__stacks(), &frame);
	tap__bail_if(!one, "no memory");
	return one;
}

/* Of @n frames, innermost first; the place being executed at top level. */
static const struct stack *stack__of(uint32_t n, const struct frame *const *frames,
				     const char *file, uint32_t line)
{
	const struct stack *stack =
		stacks__stack(maker__stacks(), frames, n, stack__place(file, line));

	tap__bail_if(!stack, "no memory");
	return stack;
}

static inline void stack__free_all(void)
{
	stacks__free(&maker.stacks);
}

#endif
