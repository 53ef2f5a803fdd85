/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which native frames are shown: stacks written down, and what is left of them. */
#include "profile/native_rules.h"
#include "base/intern.h"
#include "tap.h"

static struct intern names;
static struct frame frames[64];
static uint32_t nframes;

#define OF_R (NATIVE_ITEM | NATIVE_ITEM_OF_R)

static const struct name *name(const char *text)
{
	return text ? intern__get(&names, text, strlen(text)) : NULL;
}

static struct native_item item(const char *text, enum frame_kind kind, uint32_t what,
			       const char *module)
{
	struct frame *f = &frames[nframes++];

	*f = (struct frame){.kind = kind, .function = name(text), .module = name(module)};
	return (struct native_item){f, what};
}

static struct native_item r(const char *text)
{
	return item(text, FRAME_R, 0, NULL);
}

static struct native_item native(const char *text)
{
	return item(text, FRAME_NATIVE, NATIVE_ITEM | NATIVE_ITEM_NAMED, "/lib/libx.so");
}

static struct native_item internal(const char *text)
{
	return item(text, FRAME_NATIVE, OF_R | NATIVE_ITEM_NAMED, "/lib/libR.so");
}

static struct native_item owner(const char *text)
{
	return item(text, FRAME_NATIVE, OF_R | NATIVE_ITEM_NAMED | NATIVE_ITEM_OWNS,
		    "/lib/libR.so");
}

static struct native_item builtin(const char *text)
{
	return item(text, FRAME_BUILTIN, OF_R | NATIVE_ITEM_NAMED, "/lib/libR.so");
}

static void is(const struct native_item *items, uint32_t n, const char *want, const char *what)
{
	char got[512] = "";

	for (uint32_t i = 0; i < n; i++) {
		strcat(got, i ? " " : "");
		strcat(got, items[i].frame->function->text);
	}
	tap__is(got, want, "%s", what);
	nframes = 0;
}

static void check(struct native_item *items, uint32_t n, const char *want, const char *what)
{
	struct frame leaf = {.kind = FRAME_NATIVE, .function = name("[R]")};
	is(items, native_rules__apply(items, n, &leaf), want, what);
}

#define CHECK(want, what, ...)                                                                     \
	do {                                                                                       \
		struct native_item items[] = {__VA_ARGS__};                                        \
		check(items, COUNT(items), want, what);                                            \
	} while (0)

static void test_elsewhere(void)
{
	struct native_item items[] = {
		native("work"),
		item("start_thread", FRAME_NATIVE, NATIVE_ITEM | NATIVE_ITEM_NAMED,
		     "/lib/libc.so.6"),
		r("f"),
		r("g"),
	};
	is(items, native_rules__elsewhere(items, 4), "work f g",
	   "another thread is without how it began");
}

TEST(native_rules)
{
	intern__init(&names, NULL);
	CHECK("dgemm_ f", "code of a library inside of an R function", native("dgemm_"),
	      owner("bcEval"), r("f"));
	CHECK("[R] f", "R's own code at the leaf", internal("bcEval"), owner("R_execClosure"),
	      r("f"));
	CHECK("exp f", "a builtin", builtin("exp"), owner("bcEval"), r("f"));
	CHECK("sin exp f", "code of a library inside of a builtin", native("sin"), builtin("exp"),
	      owner("bcEval"), r("f"));
	CHECK("[R] f", "control flow is not shown", builtin("{"), owner("bcEval"), r("f"));
	CHECK("c_f f", "nor .Call, when what it calls is", native("c_f"), builtin(".Call"),
	      owner("bcEval"), r("f"));
	CHECK(".Call f", "but it is when nothing else is", internal("x"), builtin(".Call"),
	      owner("bcEval"), r("f"));
	CHECK("[R] paste f", "a builtin within the function that wraps it is one with it",
	      builtin("paste"), owner("bcEval"), r("paste"), owner("bcEval"), r("f"));
	CHECK("Rf_allocVector c_f f", "what package code calls of R is shown", internal("alloc"),
	      internal("Rf_allocVector"), native("c_f"), internal("do_dotcall"), owner("bcEval"),
	      r("f"));
	CHECK("c_g g c_f f", "R calls C calls R calls C", native("c_g"), owner("bcEval"), r("g"),
	      owner("bcEval"), native("c_f"), owner("bcEval"), r("f"));
	CHECK("dgemm_ f", "how the process began is not shown", native("dgemm_"), owner("bcEval"),
	      r("f"), internal("Rf_mainloop"), native("main"),
	      item("libc.so.6+0x1", FRAME_NATIVE, NATIVE_ITEM, "/lib/libc.so.6"), native("_start"));
	CHECK("[R] f Rf_eval PyEval_Eval", "but what R is embedded in is", owner("bcEval"), r("f"),
	      internal("Rf_eval"), native("PyEval_Eval"), native("main"));
	CHECK("read f", "frames of the kernel are",
	      item("read", FRAME_KERNEL, NATIVE_ITEM | NATIVE_ITEM_NAMED | NATIVE_ITEM_KERNEL,
		   "[kernel.kallsyms]"),
	      owner("bcEval"), r("f"));
	CHECK("f g", "without native frames nothing changes", r("f"), r("g"));
	test_elsewhere();
	intern__free(&names);
}
