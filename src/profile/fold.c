/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/names.h"

#define SHINY_OFF "..stacktraceoff.."
#define SHINY_ON  "..stacktraceon.."

/* Sorted, as strcmp() does. */
static const char *const wrappers[] = {
	"FUN",
	"Map",
	"do.call",
	"doTryCatch",
	"doWithOneRestart",
	"eval",
	"eval.parent",
	"evalq",
	"lapply",
	"local",
	"mapply",
	"rapply",
	"sapply",
	"simplify2array",
	"suppressMessages",
	"suppressPackageStartupMessages",
	"suppressWarnings",
	"try",
	"tryCatch",
	"tryCatchList",
	"tryCatchOne",
	"tryInvokeRestart",
	"vapply",
	"with",
	"with.default",
	"withCallingHandlers",
	"withOneRestart",
	"withRestartList",
	"withRestarts",
	"withVisible",
};

static int text__compare(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

static bool frame__is_of_shiny(const char *name)
{
	return !strcmp(name, SHINY_OFF) || !strcmp(name, SHINY_ON) ||
	       !strcmp(name, "..stacktracefloor..");
}

bool fold__wrapper(const struct frame *frame)
{
	const char *name = name__bare(frame->function->text);

	if (frame->kind != FRAME_R)
		return false;
	return frame__is_of_shiny(name) ||
	       bsearch(name, wrappers, sizeof(wrappers) / sizeof(wrappers[0]), sizeof(wrappers[0]),
		       text__compare);
}

/* Frames that stay, innermost first, into @kept; how many.  Not more than there are. */
static long stack__keep(const struct stack *stack, const struct frame **kept)
{
	uint32_t n = stack->nframes, innermost = 0, end = n;
	int shown = 1; /* by shiny's own count */

	while (innermost < n && stack->frames[innermost]->kind == FRAME_MARK)
		innermost++;
	/* from the outermost on, as what is off is so for those called; filled from the end */
	for (uint32_t i = n; i-- > 0;) {
		const struct frame *frame = stack->frames[i];
		const char *name = name__bare(frame->function->text);
		bool mark = frame->kind == FRAME_MARK || i == innermost;

		if (frame->kind == FRAME_R && !strcmp(name, SHINY_OFF))
			shown--;
		else if (frame->kind == FRAME_R && !strcmp(name, SHINY_ON))
			shown++;
		if (mark || (shown > 0 && !fold__wrapper(frame)))
			kept[--end] = frame;
	}
	if (end)
		memmove(kept, kept + end, (n - end) * sizeof(*kept));
	return (long)(n - end);
}

bool fold__recurs(const struct frame *frame)
{
	bool named =
		frame->kind == FRAME_R && strcmp(name__bare(frame->function->text), "FUN") != 0;

	if (fold__wrapper(frame) && named)
		return false;
	return named ||
	       ((frame->kind == FRAME_R || frame->kind == FRAME_ANON) && frame->defined.file);
}

static bool frame__same_function(const struct frame *a, const struct frame *b)
{
	return a->function == b->function && a->package == b->package && a->kind == b->kind &&
	       a->defined.file == b->defined.file && a->defined.line == b->defined.line;
}

/* The key of a function in a map: different functions may have the same one. */
static uint64_t frame__key(const struct frame *frame)
{
	return map__hash((uintptr_t)frame->package,
			 map__hash((uintptr_t)frame->defined.file, frame->defined.line));
}

/* The outermost call of each function into @outermost: its number, from 1 on. */
static int frames__outermost(struct map *outermost, const struct frame *const *frames, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++)
		if (fold__recurs(frames[i]))
			err = map__put_number(outermost, (uintptr_t)frames[i]->function,
					      frame__key(frames[i]), i + 1);
	return err;
}

long fold__recursion(const struct frame **frames, uint32_t n)
{
	struct map outermost = {0};
	uint32_t kept = 0;
	int err = frames__outermost(&outermost, frames, n);

	for (uint32_t i = 0; i < n && !err; i++) {
		const struct frame *frame = frames[i];
		uintptr_t last = 0;

		if (fold__recurs(frame))
			last = map__number(&outermost, (uintptr_t)frame->function,
					   frame__key(frame));
		/* @last is not further in than @i, and what is there was not moved yet */
		if (last && frame__same_function(frame, frames[last - 1]))
			i = (uint32_t)last - 1;
		frames[kept++] = frame;
	}
	map__free(&outermost);
	return err ? err : (long)kept;
}

/* What @keep leaves of @stack: the stack of @to. */
static const struct stack *stack__reduced(struct stacks *to, const struct stack *stack,
					  long (*keep)(const struct stack *, const struct frame **))
{
	const struct frame **kept;
	const struct stack *reduced = stack;
	long n;

	if (!stack->nframes)
		return stack;
	kept = malloc(stack->nframes * sizeof(*kept));
	if (!kept)
		return NULL;
	n = keep(stack, kept);
	if (n < 0)
		reduced = NULL;
	else if (n < (long)stack->nframes)
		reduced = stacks__stack(to, kept, (uint32_t)n, stack->top);
	free(kept);
	return reduced;
}

const struct stack *fold__stack(struct stacks *to, const struct stack *stack)
{
	return stack__reduced(to, stack, stack__keep);
}

static long stack__merge(const struct stack *stack, const struct frame **kept)
{
	memcpy(kept, stack->frames, stack->nframes * sizeof(*kept));
	return fold__recursion(kept, stack->nframes);
}

const struct stack *fold__merged(struct stacks *to, const struct stack *stack)
{
	return stack__reduced(to, stack, stack__merge);
}
