/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks, frames and names: equal ones are one. */
#include "profile/stacks.h"
#include "tap.h"

static struct stacks s;
static uint64_t last_id;

static const struct name *name(const char *text)
{
	return stacks__name(&s, text, strlen(text));
}

BEFORE()
{
	stacks__init(&s, NULL, &last_id);
}

AFTER()
{
	stacks__free(&s);
}

TEST(frames)
{
	const struct frame frame = {.function = name("f"), .place = {name("a.R"), 3}};
	const struct frame *one = stacks__frame(&s, &frame);
	struct frame others[6];

	for (size_t i = 0; i < COUNT(others); i++)
		others[i] = frame;
	others[0].place.line = 4;
	others[1].place.file = name("b.R");
	others[2].kind = FRAME_ANON;
	others[3].package = name("stats");
	others[4].module = name("libR.so");
	others[5].address = 1;
	for (size_t i = 0; i < COUNT(others); i++)
		tap__ok(stacks__frame(&s, &others[i]) != one,
			"another line, file, kind, package, module or address: %zu", i);
	tap__ok(one && one != &frame && stacks__frame(&s, &frame) == one, "equal frames are one");
}

TEST(stacks)
{
	const struct frame f = {.function = name("f")}, g = {.function = name("g")};
	const struct frame *fg[] = {stacks__frame(&s, &f), stacks__frame(&s, &g)};
	const struct frame *gf[] = {fg[1], fg[0]};
	const struct place top = {0}, place = {name("a.R"), 1};
	const struct stack *one = stacks__stack(&s, fg, 2, top);

	tap__ok(one->nframes == 2 && one->frames[0] == fg[0] && one->frames[1] == fg[1] && one->id,
		"a stack has its frames");
	tap__ok(stacks__stack(&s, fg, 2, top) == one, "equal stacks are one, with one id");
	tap__ok(stacks__stack(&s, gf, 2, top)->id != one->id, "another order");
	tap__ok(stacks__stack(&s, fg, 1, top)->id != one->id, "another depth");
	tap__ok(stacks__stack(&s, fg, 2, place)->id != one->id, "another place at top level");
	tap__ok(stacks__stack(&s, NULL, 0, top) == stacks__stack(&s, NULL, 0, top) &&
			stacks__stack(&s, NULL, 0, top) != stacks__stack(&s, NULL, 0, place),
		"stacks without frames");
	tap__ok(stacks__none()->nframes == 1 && stacks__none()->frames[0] == &mark_no_room &&
			!stacks__none()->id,
		"the stack of samples that do not fit");
}

TEST(copy)
{
	struct stacks other = {0};
	uint64_t other_id = 0;
	struct frame f = {.function = name("f"),
			  .package = name("p"),
			  .module = name("m"),
			  .place = {name("a.R"), 1}};
	struct frame cut = mark_truncated;
	const struct frame *frames[3];
	const struct stack *stack, *copy;

	cut.place = (struct place){name("b.R"), 2};
	frames[0] = &mark_gc;
	frames[1] = stacks__frame(&s, &f);
	frames[2] = stacks__frame(&s, &cut);
	stack = stacks__stack(&s, frames, 3, (struct place){name("c.R"), 3});
	stacks__init(&other, NULL, &other_id);
	copy = stacks__copy(&other, stack);
	tap__ok(copy && copy != stack && copy->nframes == 3 &&
			!strcmp(copy->frames[1]->function->text, "f") &&
			!strcmp(copy->frames[1]->package->text, "p") &&
			!strcmp(copy->frames[1]->module->text, "m") &&
			copy->frames[1]->function != stack->frames[1]->function &&
			!strcmp(copy->frames[2]->place.file->text, "b.R") &&
			!strcmp(copy->top.file->text, "c.R") && copy->top.line == 3,
		"a copy is equal, with separate names");
	tap__ok(copy->frames[0]->function == mark_gc.function &&
			copy->frames[2]->function == mark_truncated.function,
		"marks are known by their names in it, too");
	tap__ok(stacks__copy(&other, stack) == copy && stacks__copy(&other, copy) == copy,
		"copies of equal stacks are one");
	tap__ok(stacks__copy(&other, stacks__none()) == stacks__none(),
		"<no-room> stays <no-room> in another table");
	stacks__free(&other);
}

/* No allocation is made past the budget, and a failure at each of them is one. */
TEST(budget)
{
	struct frame f = {.function = name("function"), .place = {name("file"), 1}};
	const struct frame *frame = stacks__frame(&s, &f);
	const struct stack *stack = stacks__stack(&s, &frame, 1, (struct place){name("top"), 9});
	struct budget budget = {0};
	struct stacks small = {0};
	unsigned int failed = 0, done = 0, over = 0;
	uint64_t id = 0;

	for (budget.max = 0; budget.max < 8192; budget.max += 8) {
		stacks__init(&small, &budget, &id);
		if (stacks__copy(&small, stack))
			done++;
		else
			failed++;
		over += budget.used > budget.max || small.arena.total > budget.used;
		stacks__free(&small);
		over += budget.used != 0;
	}
	tap__ok(failed > 50 && done > 50 && !over, "of 1024 budgets %u were too small", failed);
}
