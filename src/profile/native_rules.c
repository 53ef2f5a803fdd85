/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/native_rules.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool name__in(const struct name *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name->text, list[i]))
			return true;
	return false;
}

/* Builtins that only say how R goes from one call to the next. */
static bool builtin__is_control(const struct frame *frame)
{
	static const char *const names[] = {
		"{",
		"(",
		"if",
		"for",
		"while",
		"repeat",
		"return",
		"function",
		"<-",
		"<<-",
		"=",
		".Internal",
		"UseMethod",
		"standardGeneric",
		"eval",
		"Recall",
		"&&",
		"||",
		"break",
		"next",
		"switch",
		"NextMethod",
		"forceAndCall",
		"on.exit",
		"quote",
		"substitute",
		"missing",
	};

	return name__in(frame->function, names, COUNT(names));
}

/* Builtins that call native code, which stands for them where it is shown. */
static bool builtin__is_foreign(const struct frame *frame)
{
	static const char *const names[] = {
		".Call",    ".External",      ".External2",	    ".C",
		".Fortran", ".Call.graphics", ".External.graphics",
	};

	return name__in(frame->function, names, COUNT(names));
}

/* Does the name of its module end in @end? */
static bool frame__of(const struct frame *frame, const char *end)
{
	const size_t len = strlen(end);

	return frame->module && frame->module->len >= len &&
	       !strcmp(frame->module->text + frame->module->len - len, end);
}

/* How threads and programs begin, and the program that is R. */
static bool frame__is_start(const struct frame *frame)
{
	static const char *const names[] = {
		"_start",
		"main",
		"__libc_start_main",
		"__libc_start_call_main",
		"start_thread",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
		"thread_start",
		"__libc_start_main_impl",
	};

	return name__in(frame->function, names, COUNT(names)) || frame__of(frame, "/libc.so.6") ||
	       frame__of(frame, "/libpthread.so.0") || frame__of(frame, "/bin/exec/R");
}

/* The end of what is inside of where the process, or thread, began. */
static uint32_t items__without_start(const struct native_item *items, uint32_t n)
{
	while (n && items[n - 1].what & NATIVE_ITEM &&
	       (items[n - 1].what & NATIVE_ITEM_OF_R || frame__is_start(items[n - 1].frame)))
		n--;
	return n;
}

/* Is the next shown frame outward of @at one of R with the same name?  Then it is the same call. */
static bool items__wraps(const struct native_item *items, uint32_t n, uint32_t at)
{
	for (uint32_t i = at + 1; i < n; i++) {
		if (!(items[i].what & NATIVE_ITEM))
			return !strcmp(items[i].frame->function->text,
				       items[at].frame->function->text);
		if (!(items[i].what & NATIVE_ITEM_OF_R) || items[i].frame->kind == FRAME_BUILTIN)
			return false;
	}
	return false;
}

/* Was it called by code that is not R's? */
static bool items__is_boundary(const struct native_item *items, uint32_t n, uint32_t at)
{
	return at + 1 < n && (items[at + 1].what & NATIVE_ITEM) &&
	       !(items[at + 1].what & NATIVE_ITEM_OF_R);
}

/* Is item @at of R's own code shown?  @inner: a native frame inside of it is, next to it. */
static bool items__shows(const struct native_item *items, uint32_t n, uint32_t at, bool inner)
{
	const struct native_item *item = &items[at];

	if (item->what & NATIVE_ITEM_OWNS)
		return false;
	if (item->frame->kind == FRAME_BUILTIN)
		return !builtin__is_control(item->frame) &&
		       !(inner && builtin__is_foreign(item->frame)) && !items__wraps(items, n, at);
	return item->what & NATIVE_ITEM_NAMED && items__is_boundary(items, n, at);
}

uint32_t native_rules__apply(struct native_item *items, uint32_t n, const struct frame *leaf)
{
	const uint32_t end = items__without_start(items, n);
	bool inner = false, hidden = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < end; i++) {
		const struct native_item item = items[i];

		if (item.what & NATIVE_ITEM_OF_R) {
			if (!items__shows(items, end, i, inner)) {
				hidden = hidden || !kept;
				continue;
			}
		} else if (!(item.what & NATIVE_ITEM) && !kept && hidden && leaf) {
			/* R itself is at work, right inside of one of its functions */
			items[kept++].frame = leaf;
		}
		inner = item.what & NATIVE_ITEM && !(item.what & NATIVE_ITEM_OF_R);
		items[kept++] = item;
	}
	return kept;
}

uint32_t native_rules__elsewhere(struct native_item *items, uint32_t n)
{
	uint32_t first = 0, end;

	while (first < n && items[first].what & NATIVE_ITEM)
		first++;
	end = items__without_start(items, first);
	memmove(&items[end], &items[first], (n - first) * sizeof(*items));
	return n - (first - end);
}
