/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which native frames are shown: stacks written down, and what is left of them. */
#include "profile/native_rules.h"
#include "base/intern.h"
#include "tap.h"

static struct intern names;
static struct frame frames[64];
static uint32_t nframes;

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

#define R(text)		     item(text, FRAME_R, 0, NULL)
#define NATIVE(text, module) item(text, FRAME_NATIVE, NATIVE_ITEM | NATIVE_ITEM_NAMED, module)
#define CODE(text)	     NATIVE(text, "/lib/libx.so")
#define OF_R(text, kind, what)                                                                     \
	item(text, kind, NATIVE_ITEM | NATIVE_ITEM_NAMED | NATIVE_ITEM_OF_R | (what),              \
	     "/lib/libR.so")
#define INTERNAL(text) OF_R(text, FRAME_NATIVE, 0)
#define OWNER(text)    OF_R(text, FRAME_NATIVE, NATIVE_ITEM_OWNS)
#define BUILTIN(text)  OF_R(text, FRAME_BUILTIN, 0)

BEFORE()
{
	intern__init(&names, NULL);
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

TEST(elsewhere)
{
	struct native_item items[] = {
		CODE("work"),
		NATIVE("start_thread", "/lib/libc.so.6"),
		R("f"),
		R("g"),
	};
	is(items, native_rules__elsewhere(items, 4), "work f g",
	   "another thread is without how it began");
}

TEST(native_rules)
{
	CHECK("dgemm_ f", "code of a library inside of an R function", CODE("dgemm_"),
	      OWNER("bcEval"), R("f"));
	CHECK("[R] f", "R's own code at the leaf", INTERNAL("bcEval"), OWNER("R_execClosure"),
	      R("f"));
	CHECK("exp f", "a builtin", BUILTIN("exp"), OWNER("bcEval"), R("f"));
	CHECK("sin exp f", "code of a library inside of a builtin", CODE("sin"), BUILTIN("exp"),
	      OWNER("bcEval"), R("f"));
	CHECK("[R] f", "control flow is not shown", BUILTIN("{"), OWNER("bcEval"), R("f"));
	CHECK("c_f f", "nor .Call, when what it calls is", CODE("c_f"), BUILTIN(".Call"),
	      OWNER("bcEval"), R("f"));
	CHECK(".Call f", "but it is when nothing else is", INTERNAL("x"), BUILTIN(".Call"),
	      OWNER("bcEval"), R("f"));
	CHECK("[R] paste f", "a builtin within the function that wraps it is one with it",
	      BUILTIN("paste"), OWNER("bcEval"), R("paste"), OWNER("bcEval"), R("f"));
	CHECK("Rf_allocVector c_f f", "what package code calls of R is shown", INTERNAL("alloc"),
	      INTERNAL("Rf_allocVector"), CODE("c_f"), INTERNAL("do_dotcall"), OWNER("bcEval"),
	      R("f"));
	CHECK("c_g g c_f f", "R calls C calls R calls C", CODE("c_g"), OWNER("bcEval"), R("g"),
	      OWNER("bcEval"), CODE("c_f"), OWNER("bcEval"), R("f"));
	CHECK("dgemm_ f", "how the process began is not shown", CODE("dgemm_"), OWNER("bcEval"),
	      R("f"), INTERNAL("Rf_mainloop"), CODE("main"),
	      item("libc.so.6+0x1", FRAME_NATIVE, NATIVE_ITEM, "/lib/libc.so.6"), CODE("_start"));
	CHECK("[R] f Rf_eval PyEval_Eval", "but what R is embedded in is", OWNER("bcEval"), R("f"),
	      INTERNAL("Rf_eval"), CODE("PyEval_Eval"), CODE("main"));
	CHECK("read f", "frames of the kernel are",
	      item("read", FRAME_KERNEL, NATIVE_ITEM | NATIVE_ITEM_NAMED | NATIVE_ITEM_KERNEL,
		   "[kernel.kallsyms]"),
	      OWNER("bcEval"), R("f"));
	CHECK("f g", "without native frames nothing changes", R("f"), R("g"));
}
