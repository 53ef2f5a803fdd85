/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs with R's variables in them: is R in what a process runs, and does the scan see it? */
#define _GNU_SOURCE
#include "target/linux/scan.h"

#include "child.h"
#include "scan_all.h"
#include "target/target.h"

static const char *with, *without, *called_r;

/* Processes the scan has seen, of those whose pids are here. */
struct wanted {
	pid_t pids[4];
	bool seen[4];
};

static int on_seen(void *arg, pid_t pid)
{
	struct wanted *w = arg;

	for (int i = 0; i < 4; i++)
		w->seen[i] = w->seen[i] || w->pids[i] == pid;
	return 0;
}

static void test_holds_r(void)
{
	struct programs known = {0};
	pid_t yes = child__exec(with, NULL), no = child__exec(without, NULL);

	tap__ok(yes > 0 && programs__holds_r(&known, yes) == 1,
		"a program that exports R_GlobalContext");
	tap__ok(no > 0 && programs__holds_r(&known, no) == 0, "one that does not");
	child__end(no);
	tap__ok(programs__holds_r(&known, no) == -ENOENT, "one that has ended");
	child__end(yes);
	programs__free(&known);
}

static void test_scan(void)
{
	struct wanted w = {.pids = {child__exec(with, NULL), child__exec(with, NULL),
				    child__exec(without, NULL), child__exec(called_r, NULL)}};

	tap__ok(!scan_all(on_seen, &w) && w.seen[0] && w.seen[1],
		"the scan sees each process of a program with R's variables");
	tap__ok(w.pids[2] > 0 && !w.seen[2], "not one of a program without");
	tap__ok(w.seen[3],
		"but a program without them that is called R, so that it can be reported");
	for (int i = 0; i < 4; i++)
		child__end(w.pids[i]);
}

/* The last word is discovery's. */
static void find__says(const char *path, int want, const char *text, const char *what)
{
	pid_t pid = child__exec(path, NULL);
	struct target t;
	struct errmsg f;
	int err = target__find(pid, 0, &t, &f);

	tap__ok(err == want && strstr(f.text, text) && (path != with || t.load == TARGET_STATIC),
		"%s: %s", what, f.text);
	child__end(pid);
}

TEST(program)
{
	with = tap__path("with");
	without = tap__path("without");
	called_r = tap__path("R");
	child__file(with, true, true);
	child__file(without, true, false);
	child__file(called_r, true, false);
	test_holds_r();
	test_scan();
	find__says(with, -EAGAIN, "not finished starting", "its R is found, and has not started");
	find__says(without, -ENOEXEC, "does not run R", "there is none");
	find__says(called_r, -ENOEXEC, "does not run R", "nor here");
}
