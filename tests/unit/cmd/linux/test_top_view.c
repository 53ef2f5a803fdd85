/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do to what `top` shows. */
#include "cmd/linux/top_view.h"
#include "base/limits.h"
#include "top_scene.h"

static struct top_view view;
static char shown[1024];

/* The labels of the lines, the selected one in brackets. */
static const char *labels(void)
{
	const struct top_function *list;
	size_t n;

	shown[0] = '\0';
	list = top_model__functions(model, &n);
	for (size_t i = 0; i < view.nlines; i++)
		snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "%s%s%s%s",
			 i ? " " : "", i == view.selected ? "[" : "",
			 list[view.lines[i].function].label, i == view.selected ? "]" : "");
	return shown;
}

static void shows(const char *want, const char *what)
{
	if (!tap__ok(!strcmp(labels(), want), "%s: %s", what, want))
		tap__diag("got: %s", shown);
}

static int keys(const char *text)
{
	int err = 0;

	for (; *text && !err; text++)
		err = top_view__key(&view, (unsigned char)*text);
	return err;
}

static void open_view(void)
{
	begin(LIMIT_MEMORY, 5);
	top_view__init(&view, model);
	take(&one, "a main", 5);
	take(&one, "b lapply main", 3);
	take(&two, "c main", 1);
	second();
	tap__bail_if(top_view__update(&view), "no memory");
}

static void close_view(void)
{
	top_view__free(&view);
	end();
}

TEST(sort)
{
	open_view();
	shows("[a] b c main lapply", "by self");
	keys("t");
	shows("[main] a b lapply c", "by total");
	keys("s");
	shows("[a] b c main lapply", "and back");
	tap__ok(keys("x") == 0 && keys("q") == 1, "q ends it, other keys do nothing");
	close_view();
}

TEST(select)
{
	open_view();
	top_view__key(&view, TOP_KEY_UP);
	shows("[a] b c main lapply", "there is nothing above");
	top_view__key(&view, TOP_KEY_DOWN);
	shows("a [b] c main lapply", "down");
	take(&one, "b", 9);
	take(&one, "c", 20);
	second();
	top_view__update(&view);
	shows("c [b] a main lapply", "the selection stays on its function");
	top_view__key(&view, TOP_KEY_END);
	shows("c b a main [lapply]", "the last");
	top_view__key(&view, TOP_KEY_DOWN);
	view.page = 2;
	top_view__key(&view, TOP_KEY_PAGE_UP);
	shows("c b [a] main lapply", "a page");
	top_view__key(&view, TOP_KEY_HOME);
	shows("[c] b a main lapply", "the first");
	take(&one, "new", 99);
	second();
	top_view__update(&view);
	shows("[new] c b a main lapply", "it stays the first");
	close_view();
}

TEST(filter)
{
	open_view();
	keys("/A");
	tap__ok(view.typing, "what is typed now is text");
	shows("[a] main lapply", "those with it, whatever the case");
	keys("pq");
	shows("", "none has it");
	top_view__key(&view, TOP_KEY_BACKSPACE);
	shows("[lapply]", "a character less");
	top_view__key(&view, TOP_KEY_ENTER);
	tap__ok(!view.typing && keys("t") == 0, "then keys are keys again");
	shows("[lapply]", "and the filter stays");
	keys("/");
	top_view__key(&view, TOP_KEY_ESCAPE);
	shows("[main] a b lapply c", "until it is given up");
	keys("/\xc3\xa9");
	top_view__key(&view, TOP_KEY_BACKSPACE);
	tap__ok(!view.filter[0], "a character of two bytes is one");
	for (int i = 0; i < 200; i++)
		keys("z");
	tap__ok(strlen(view.filter) == TOP_FILTER_MAX - 1, "it has an end");
	close_view();
}

TEST(scopes)
{
	open_view();
	for (int i = 0; i < 6; i++)
		second();
	take(&one, "late", 1);
	second();
	top_view__update(&view);
	shows("[late]", "the last seconds");
	keys("w");
	shows("[a] b c late main lapply", "all since counting began");
	keys("w");
	shows("[late]", "and back");
	close_view();
}

TEST(processes)
{
	open_view();
	tap__ok(view.nprocesses == 2 && view.processes[0]->serial == 1, "the busiest is first");
	keys("n");
	shows("[a] b main lapply", "of the first");
	keys("n");
	shows("[c] main", "of the next");
	keys("n");
	shows("[a] b c main lapply", "and of all again");
	close_view();
}

TEST(pause)
{
	open_view();
	keys("p");
	take(&one, "c", 50);
	second();
	top_view__update(&view);
	shows("[a] b c main lapply", "paused, it stays");
	keys("t");
	shows("[main] a b lapply c", "but can be sorted");
	keys("s ");
	shows("[c] a b main lapply", "and goes on with what came meanwhile");
	close_view();
}

TEST(callers)
{
	open_view();
	top_view__key(&view, TOP_KEY_DOWN);
	top_view__key(&view, TOP_KEY_ENTER);
	tap__ok(view.pane == TOP_CALLERS && view.ncallers == 2 && view.of_total == 3 &&
			view.callers[0].depth == 1 && view.callers[1].depth == 2,
		"who calls b");
	keys("f");
	tap__ok(view.ncallers == 1 && view.callers[0].depth == 1, "folded, main does");
	top_view__key(&view, TOP_KEY_DOWN);
	tap__ok(view.first_caller == 0, "there is no more");
	take(&one, "b main", 1);
	second();
	top_view__update(&view);
	tap__ok(view.of_total == 4, "it is kept up to date");
	keys("r");
	tap__ok(view.pane == TOP_FUNCTIONS && !view.nlines,
		"there are none when counting began anew");
	keys("h");
	tap__ok(view.pane == TOP_HELP, "help");
	top_view__key(&view, TOP_KEY_ESCAPE);
	tap__ok(view.pane == TOP_FUNCTIONS, "and back");
	top_view__key(&view, TOP_KEY_ENTER);
	tap__ok(view.pane == TOP_FUNCTIONS, "nothing is selected, nothing opens");
	close_view();
}
