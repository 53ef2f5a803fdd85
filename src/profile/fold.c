/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/fold.h"

#include <stdlib.h>
#include <string.h>

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

/* The name of @frame without `package::`. */
static const char *frame__name(const struct frame *frame)
{
	const char *text = frame->function->text, *colons = strstr(text, "::");

	if (!colons)
		return text;
	colons += 2;
	return *colons == ':' ? colons + 1 : colons;
}

static bool frame__is_of_shiny(const char *name)
{
	return !strcmp(name, SHINY_OFF) || !strcmp(name, SHINY_ON) ||
	       !strcmp(name, "..stacktracefloor..");
}

bool fold__wrapper(const struct frame *frame)
{
	const char *name = frame__name(frame);

	if (frame->kind != FRAME_R)
		return false;
	return frame__is_of_shiny(name) ||
	       bsearch(name, wrappers, sizeof(wrappers) / sizeof(wrappers[0]), sizeof(wrappers[0]),
		       text__compare);
}

/* Frames that stay, innermost first, into @kept; how many.  Not more than there are. */
static uint32_t stack__keep(const struct stack *stack, const struct frame **kept)
{
	uint32_t n = stack->nframes, innermost = 0, end = n;
	int shown = 1; /* by shiny's own count */

	while (innermost < n && stack->frames[innermost]->kind == FRAME_MARK)
		innermost++;
	/* from the outermost on, as what is off is so for those called; filled from the end */
	for (uint32_t i = n; i-- > 0;) {
		const struct frame *frame = stack->frames[i];
		const char *name = frame__name(frame);
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
	return n - end;
}

const struct stack *fold__stack(struct stacks *to, const struct stack *stack)
{
	const struct frame **kept;
	const struct stack *folded = stack;
	uint32_t n;

	if (!stack->nframes)
		return stack;
	kept = malloc(stack->nframes * sizeof(*kept));
	if (!kept)
		return NULL;
	n = stack__keep(stack, kept);
	if (n < stack->nframes)
		folded = stacks__stack(to, kept, n, stack->top);
	free(kept);
	return folded;
}
