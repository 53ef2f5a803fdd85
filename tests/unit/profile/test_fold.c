/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wrappers are left out of stacks, callers and the innermost function stay. */
#include "read_scene.h"

static void folds(const char *stack, const char *wanted, const char *name)
{
	struct buf text = {0}, is = {0};

	buf__printf(&text, "%s 1\n", stack);
	buf__printf(&is, "%s 1\n", wanted);
	buf__add(&is, "", 1);
	scene__read_bytes(text.data, text.len, &(struct scene_how){.fold = true});
	if (!tap__ok(!scene.err && !strcmp(scene.text.data, is.data), "%s", name))
		tap__diag("%s", scene.text.data);
	buf__free(&text);
	buf__free(&is);
}

int main(void)
{
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
		"base::lapply",
	};
	char stack[256];

	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		snprintf(stack, sizeof(stack), "main;%s;f", wrappers[i]);
		folds(stack, "main;f", wrappers[i]);
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
	      "runApp;server;poll", "but for the innermost");
	folds("tryCatchAll;lapply2;evaluate;f", "tryCatchAll;lapply2;evaluate;f",
	      "others with such names stay");
	buf__free(&scene.text);
	return tap__done();
}
