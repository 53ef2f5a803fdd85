/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do to what `top` shows. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "cmd/linux/top_dump.h"
#include "top_scene.h"

/* The labels of the lines are @want, the selected one in brackets. */
static void shows(const char *want, const char *what)
{
	const struct function_row *list = model->functions.rows;

	for (size_t i = 0; i < view.nlines; i++)
		tap__say(i == view.selected ? "%s[%s]" : "%s%s", i ? " " : "",
			 list[view.lines[i].order.row].label);
	tap__said(want, "%s", what);
}

/* Each character of @text is a key; "<down>" and the like are one. */
static int keys(const char *text)
{
	static const struct {
		const char *name;
		int key;
	} named[] = {{"<up>", TOP_KEY_UP},	    {"<down>", TOP_KEY_DOWN},
		     {"<home>", TOP_KEY_HOME},	    {"<end>", TOP_KEY_END},
		     {"<back>", TOP_KEY_BACKSPACE}, {"<enter>", TOP_KEY_ENTER},
		     {"<escape>", TOP_KEY_ESCAPE},  {"<page-up>", TOP_KEY_PAGE_UP}};
	int err = 0;

	while (*text && !err) {
		size_t i = 0, len = 0;

		while (i < COUNT(named) && strncmp(text, named[i].name, strlen(named[i].name)) != 0)
			i++;
		len = i < COUNT(named) ? strlen(named[i].name) : 1;
		err = top_view__key(&view, len > 1 ? named[i].key : (unsigned char)*text);
		text += len;
	}
	return err;
}

static void after(const char *text, const char *want, const char *what)
{
	keys(text);
	shows(want, what);
}

BEFORE()
{
	begin_view();
	take(&one, "a main", 5);
	take(&one, "b lapply main", 3);
	take(&two, "c main", 1);
	update();
}

AFTER()
{
	end();
}

TEST(sort)
{
	after("", "[a] b c main lapply", "by self");
	after("t", "[main] a b lapply c", "by total");
	after("s", "[a] b c main lapply", "and back");
	tap__ok(keys("x") == 0 && keys("q") == 1, "q ends it, other keys do nothing");
}

TEST(select)
{
	after("<up>", "[a] b c main lapply", "there is nothing above");
	after("<down>", "a [b] c main lapply", "down");
	take(&one, "b", 9);
	take(&one, "c", 20);
	update();
	shows("c [b] a main lapply", "the selection stays on its function");
	after("<end>", "c b a main [lapply]", "the last");
	view.page = 2;
	after("<down><page-up>", "c b [a] main lapply", "a page");
	after("<home>", "[c] b a main lapply", "the first");
	take(&one, "new", 99);
	update();
	shows("[new] c b a main lapply", "it stays the first");
}

TEST(filter)
{
	after("/A", "[a] main lapply", "those with it, whatever the case");
	tap__ok(view.typing, "what is typed now is text");
	after("pq", "", "none has it");
	after("<back>", "[lapply]", "a character less");
	after("<enter>t", "[lapply]", "the filter stays");
	tap__ok(!view.typing, "then keys are keys again");
	after("/<escape>", "[main] a b lapply c", "until Escape");
	keys("/\xc3\xa9<back>");
	tap__ok(!view.filter[0], "a character of two bytes is one");
	for (int i = 0; i < 200; i++)
		keys("z");
	tap__ok(strlen(view.filter) == TOP_FILTER_MAX - 1, "it has an end");
}

TEST(scopes)
{
	for (int i = 0; i < 6; i++)
		second();
	take(&one, "late", 1);
	update();
	shows("[late]", "the last seconds");
	after("w", "[a] b c late main lapply", "all since counting began");
	after("w", "[late]", "and back");
}

TEST(processes)
{
	tap__ok(view.nprocesses == 2 && view.processes[0].serial == 1, "the busiest is first");
	after("n", "[a] b main lapply", "of the first");
	after("n", "[c] main", "of the next");
	after("n", "[a] b c main lapply", "and of all again");
	for (uint32_t i = 10; i < 1000; i++)
		take(&(struct profile_process){.serial = i, .pid = one.pid}, "a", 1);
	tap__ok(view.nprocesses == 2 && view.processes[0].serial == 1 &&
			view.processes[1].serial == 2,
		"those that come meanwhile change nothing until the next second");
}

TEST(pause)
{
	keys("p");
	take(&one, "c", 50);
	update();
	shows("[a] b c main lapply", "paused, it stays");
	after("t", "[main] a b lapply c", "but can be sorted");
	after("s ", "[c] a b main lapply", "and goes on with what came meanwhile");
}

TEST(callers)
{
	keys("<down><enter>");
	tap__ok(view.pane == TOP_CALLERS && view.ncallers == 2 && view.of_total == 3 &&
			view.callers[0].depth == 1 && view.callers[1].depth == 2,
		"who calls b");
	keys("f");
	tap__ok(view.ncallers == 1 && view.callers[0].depth == 1, "folded, main does");
	keys("<down>");
	tap__ok(view.first_caller == 0, "there is no more");
	take(&one, "b main", 1);
	update();
	tap__ok(view.of_total == 4, "it is kept up to date");
	keys("r");
	tap__ok(view.pane == TOP_FUNCTIONS && !view.nlines,
		"there are none when counting restarted");
	keys("h");
	tap__ok(view.pane == TOP_HELP, "help");
	keys("<escape>");
	tap__ok(view.pane == TOP_FUNCTIONS, "and back");
	keys("<enter>");
	tap__ok(view.pane == TOP_FUNCTIONS, "nothing is selected, nothing opens");
}

TEST(dump)
{
	char lines[] = "process\n  R\n    f\n";
	const struct buf text = {.data = lines, .len = strlen(lines)};

	keys("d");
	tap__ok(view.pane == TOP_DUMP && view.dumps == 1 && view.dump_pid == view.processes[0].pid,
		"the stack of the busiest process is asked for");
	top_view__dump(&view, &text);
	keys("<down><down><down><down>");
	tap__ok(view.dump_lines == 3 && view.first_dump_line == 2, "down to its last line");
	keys("d");
	tap__ok(view.dumps == 2 && !view.dump && !view.first_dump_line,
		"again, from its first line");
	keys("<escape>");
	tap__ok(view.pane == TOP_FUNCTIONS, "and back");
}

/* A dump that `top` cannot take. */
TEST(dump_not_started)
{
	const char *why = strerror(EMFILE);
	struct top_dump d = TOP_DUMP_NONE;
	struct rlimit limit, none;
	int err;

	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){0, limit.rlim_max};
	tap__bail_if(setrlimit(RLIMIT_NOFILE, &none), "no limit");
	err = top_dump__start(&d, 17);
	setrlimit(RLIMIT_NOFILE, &limit);
	tap__ok(err == 1 && !top_dump__poll(&d) &&
			memmem(d.text.data, d.text.len, why, strlen(why)),
		"without a descriptor its text has the reason");
	top_dump__free(&d);
}
