/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A repeated line is printed a few times, and then counted. */
#include "session/notes.h"

#include "base/clock.h"
#include "os/os.h"
#include "tap.h"

static char said[4096]; /* line after line */
static unsigned int lines;

static void on_line(void *arg, enum notes_level level, const char *line)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s\n", line);
	lines++;
}

static void forget(void)
{
	said[0] = '\0';
	lines = 0;
}

TEST(notes)
{
	struct notes_limit limit = {0};
	struct notes notes = {.line = on_line, .lowest = NOTES_USER, .limit = &limit};
	uint64_t before = os__now(), late;

	for (int i = 0; i < 40; i++)
		notes__user(&notes, "process %d is stopped", 100 + i * i);
	notes__user(&notes, "process 7 is not R");
	tap__ok(lines == NOTES_FEW + 1 && strstr(said, "process 101 is stopped\n") &&
			strstr(said, "process 7 is not R\n"),
		"a few of a kind are printed, and another kind");
	forget();
	notes__settle(&notes, os__now(), false);
	tap__ok(!lines, "no more while its time is not over");
	notes__settle(&notes, before, false);
	tap__ok(!lines, "nor at a time that was before them");
	late = os__now() + NOTES_WINDOW * NS_PER_S;
	notes__settle(&notes, late, false);
	tap__ok(lines == 1 &&
			!strcmp(said,
				"and 37 more of this kind; the last: process 1621 is stopped\n"),
		"then how many more there were: %s", said);
	forget();
	notes__settle(&notes, late, true);
	tap__ok(!lines, "once");
	for (int i = 0; i < 4; i++)
		notes__user(&notes, "process %d is stopped", i);
	forget();
	notes__settle(&notes, os__now(), true);
	tap__ok(!strcmp(said, "process 3 is stopped\n"),
		"a single one is printed unchanged, at the end");
	forget();
	for (unsigned int i = 0; i < 2 * NOTES_KINDS; i++)
		for (int k = 0; k < 5; k++)
			notes__user(&notes, "%c%d", 'A' + (char)i, k);
	notes__settle(&notes, os__now(), true);
	tap__ok(lines == 2 * NOTES_KINDS * (NOTES_FEW + 1),
		"more kinds than can be kept: none is forgotten");
	forget();
	notes.lowest = NOTES_DEBUG;
	for (int i = 0; i < 40; i++)
		notes__user(&notes, "process %d is stopped", i);
	tap__ok(lines == 40, "--verbose: all of it");
	notes.lowest = NOTES_USER;
	notes.limit = NULL;
	for (int i = 0; i < 40; i++)
		notes__user(&notes, "process %d is stopped", i);
	tap__ok(lines == 80, "without a limit: all of it");
}

/* A service prints one line an hour for each version, library and cause, and then counts. */
TEST(service)
{
	static const char *const names[] = {"R", "Rscript", "my R", "rstudio-server"};
	struct notes_limit limit = {.few = 1, .window = 3600};
	struct notes notes = {.line = on_line, .lowest = NOTES_USER, .limit = &limit};
	uint64_t before = os__now();

	forget();
	for (int i = 0; i < 60; i++) {
		notes__user(&notes, "R 4.%d.0 (process %d) is not in the table of layouts",
			    6 + i % 2, 100 + i);
		notes__user(&notes, "process %d (%s): no GC marks: libR-%d.so is stripped", 100 + i,
			    names[i % 4], i);
		notes__user(&notes, "process %d (%s): cannot read /opt/R/4.%d/lib/libR.so: why",
			    200 + i, names[i % 4], i % 3);
	}
	tap__ok(lines == 6 && strstr(said, "R 4.6.0") && strstr(said, "R 4.7.0") &&
			strstr(said, "/4.0/") && strstr(said, "/4.1/") && strstr(said, "/4.2/"),
		"a line for each version and library: %s", said);
	forget();
	notes__settle(&notes, before + 3599 * NS_PER_S, false);
	tap__ok(!lines, "no more within the hour");
	notes__settle(&notes, os__now() + 3600 * NS_PER_S, false);
	tap__ok(lines == 6 &&
			strstr(said, "and 29 more of this kind; the last: R 4.7.0 (process 159)") &&
			strstr(said, "and 59 more of this kind; the last: process 159 "
				     "(rstudio-server)") &&
			strstr(said,
			       "and 19 more of this kind; the last: process 259 (rstudio-server)"),
		"then their number: %s", said);
}
