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

/* @text NULL: no name. */
static const struct name *stack__name(const char *text)
{
	return text ? stacks__name(maker__stacks(), text, strlen(text)) : NULL;
}

/* @file NULL: not known. */
static struct place stack__place(const char *file, uint32_t line)
{
	return (struct place){.file = stack__name(file), .line = line};
}

/* All that a frame can have; a name that is NULL is not known. */
struct made {
	enum frame_kind kind;
	const char *function, *package, *file, *defined, *module, *build_id, *hash;
	uint32_t line, defined_line;
	uint64_t address;
};

static const struct frame *stack__made(const struct made *m)
{
	struct frame frame = {.kind = m->kind, .address = m->address};
	const struct frame *one;

	frame.function = stack__name(m->function);
	frame.package = stack__name(m->package);
	frame.place = stack__place(m->file, m->line);
	frame.defined = stack__place(m->defined, m->defined_line);
	frame.module = stack__name(m->module);
	frame.build_id = stack__name(m->build_id);
	frame.hash = stack__name(m->hash);
	one = stacks__frame(maker__stacks(), &frame);
	tap__bail_if(!one, "no memory");
	return one;
}

/* A frame of the members of struct made. */
#define MADE(...) stack__made(&(const struct made){__VA_ARGS__})

static inline const struct frame *stack__frame(enum frame_kind kind, const char *function,
					       const char *file, uint32_t line)
{
	return MADE(.kind = kind, .function = function, .file = file, .line = line);
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

/* Of functions of R: their names with blanks between them, innermost first; "": none. */
static inline const struct stack *stack__named(const char *names)
{
	const struct frame *frames[64];
	char text[512], *at = text;
	uint32_t n = 0;

	snprintf(text, sizeof(text), "%s", names);
	for (const char *name; *names && n < 64 && (name = strsep(&at, " "));)
		frames[n++] = stack__frame(FRAME_R, name, NULL, 0);
	return stack__of(n, frames, NULL, 0);
}

/* Of one function of R, whatever its name. */
static inline const struct stack *stack__one(const char *function)
{
	return stack__of(1, (const struct frame *[]){stack__frame(FRAME_R, function, NULL, 0)},
			 NULL, 0);
}

static inline void stack__free_all(void)
{
	stacks__free(&maker.stacks);
}

#endif
