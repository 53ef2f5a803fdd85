/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wrappers are left out of stacks, callers and the innermost function stay. */
#include "profile/names.h"
#include "read_scene.h"

static void reads(const char *stack, const char *wanted, const struct scene_how *how,
		  const char *name)
{
	char text[256], is[256];

	snprintf(text, sizeof(text), "%s 1\n", stack);
	snprintf(is, sizeof(is), "%s 1\n", wanted);
	scene__becomes(text, how, is, name);
}

static void folds(const char *stack, const char *wanted, const char *name)
{
	reads(stack, wanted, &(struct scene_how){.fold = true}, name);
}

static void merges(const char *stack, const char *wanted, const char *name)
{
	reads(stack, wanted, &(struct scene_how){.merge = true}, name);
}

/* As the page has it: tests/checks/page_sums.js. */
TEST(bare)
{
	static const char *const names[][2] = {
		{"f", "f"}, {"a::f", "f"}, {"a:::f", "f"}, {"a\n::f", "f"}, {"a::b::f", "b::f"},
	};

	for (size_t i = 0; i < COUNT(names); i++)
		tap__is(name__bare(names[i][0]), names[i][1], "a name without its package");
}

TEST(recursion)
{
	merges("main;fib;fib;fib", "main;fib", "a function that calls itself is one");
	merges("main;fib;fib;fib;g", "main;fib;g", "what it calls stays below it");
	merges("main;even;odd;even;odd;even;h", "main;even;h", "functions that call each other");
	merges("main;f;g;f;g", "main;f;g", "the innermost function stays the innermost");
	merges("a;b;c;b;d;a;e", "a;e", "the outermost call holds all of them");
	merges("main;f;g;f;<GC>", "main;f;!<GC>", "marks stay");
	merges("<truncated>;f;f", "!<truncated>;f", "also the outermost one");
	merges("main (a.R:9);f (a.R:1);f (a.R:2);g (a.R:5)", "main (a.R:9);f (a.R:2);g (a.R:5)",
	       "the place is that of the innermost call");
	merges("main;walk;lapply;FUN;walk;lapply;FUN;leaf", "main;walk;lapply;FUN;leaf",
	       "a function that calls itself by way of a wrapper");
	merges("main;lapply;FUN;f;lapply;FUN;g", "main;lapply;FUN;f;lapply;FUN;g",
	       "wrappers do not count as recursion");
	merges("main;<Anonymous>;f;<Anonymous>;g", "main;<Anonymous>;f;<Anonymous>;g",
	       "functions without a name may be different ones");
	merges("main;FUN {a.R:7};f;FUN {a.R:7};g", "main;FUN {a.R:7};g",
	       "by their definition they are the same");
	merges("main;FUN {a.R:7};f;FUN {a.R:8};g", "main;FUN {a.R:7};f;FUN {a.R:8};g",
	       "or are not");
	reads("main;walk;lapply;FUN;walk;lapply;FUN;leaf", "main;walk;leaf",
	      &(struct scene_how){.fold = true, .merge = true}, "without wrappers, too");
}

TEST(fold)
{
	char wrappers[] =
		"FUN Map do.call doTryCatch doWithOneRestart eval eval.parent evalq lapply local "
		"mapply rapply sapply simplify2array suppressMessages "
		"suppressPackageStartupMessages suppressWarnings try tryCatch tryCatchList "
		"tryCatchOne tryInvokeRestart vapply with with.default withCallingHandlers "
		"withOneRestart withRestartList withRestarts withVisible base::lapply";
	char stack[256], *at = wrappers;

	for (const char *wrapper; (wrapper = strsep(&at, " "));) {
		snprintf(stack, sizeof(stack), "main;%s;f", wrapper);
		folds(stack, "main;f", wrapper);
	}
	folds("main;tryCatch;tryCatchList;tryCatchOne;doTryCatch;f;lapply;FUN;g", "main;f;g",
	      "callers and what they call stay");
	folds("main;lapply", "main;lapply", "the innermost function stays: the time is its");
	folds("main;lapply;<GC>", "main;lapply;!<GC>", "and so it does below a mark");
	folds("<truncated>;eval;f", "!<truncated>;f", "marks stay");
	folds("main (a.R:3);lapply;FUN {a.R:2} (a.R:3);f (a.R:9)", "main (a.R:3);f (a.R:9)",
	      "so do places");
	folds("runApp;..stacktraceoff..;reactive;flush;..stacktraceon..;server;work",
	      "runApp;server;work", "what shiny hides");
	folds("runApp;..stacktraceoff..;flush;..stacktraceon..;server;..stacktraceoff..;render;"
	      "poll",
	      "runApp;server;poll", "except the innermost");
	folds("tryCatchAll;lapply2;evaluate;f", "tryCatchAll;lapply2;evaluate;f",
	      "others with such names stay");
}
