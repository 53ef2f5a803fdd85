/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A repeated line is printed a few times, and then counted. */
#include "session/notes.h"

#include "base/clock.h"
#include "os/os.h"
#include "tap.h"

static unsigned int lines;

static void on_line(void *arg, enum notes_level level, const char *line)
{
	tap__say("%s\n", line);
	lines++;
}

static void stopped(const struct notes *notes, int n)
{
	for (int i = 0; i < n; i++)
		notes__user(notes, "process %d is stopped", i * i);
}

TEST(notes)
{
	struct notes_limit limit = {0};
	struct notes notes = {.line = on_line, .lowest = NOTES_USER, .limit = &limit};
	uint64_t before = os__now(), late;

	stopped(&notes, 40);
	notes__user(&notes, "process 7 is not R");
	tap__said("process 0 is stopped\nprocess 1 is stopped\nprocess 4 is stopped\n"
		  "process 7 is not R\n",
		  "a few of a kind are printed, and another kind");
	notes__settle(&notes, os__now(), false);
	tap__said("", "no more while its time is not over");
	notes__settle(&notes, before, false);
	tap__said("", "nor at a time that was before them");
	late = os__now() + NOTES_WINDOW * NS_PER_S;
	notes__settle(&notes, late, false);
	tap__said("and 37 more of this kind; the last: process 1521 is stopped\n",
		  "then how many more there were");
	notes__settle(&notes, late, true);
	tap__said("", "once");
	stopped(&notes, 4);
	notes__settle(&notes, os__now(), true);
	tap__said("process 0 is stopped\nprocess 1 is stopped\nprocess 4 is stopped\n"
		  "process 9 is stopped\n",
		  "a single one is printed unchanged, at the end");
	lines = 0;
	for (unsigned int i = 0; i < 2 * NOTES_KINDS; i++)
		for (int k = 0; k < 5; k++)
			notes__user(&notes, "%c%d", 'A' + (char)i, k);
	notes__settle(&notes, os__now(), true);
	tap__ok(lines == 2 * NOTES_KINDS * (NOTES_FEW + 1),
		"more kinds than can be kept: none is forgotten");
	lines = 0;
	notes.lowest = NOTES_DEBUG;
	stopped(&notes, 40);
	tap__ok(lines == 40, "--verbose: all of it");
	notes.lowest = NOTES_USER;
	notes.limit = NULL;
	stopped(&notes, 40);
	tap__ok(lines == 80, "without a limit: all of it");
}

/* The limits of a service. */
TEST(service)
{
	static const char *const names[] = {"R", "Rscript", "my) R", "rstudio-server"};
	struct notes_limit limit = {.few = 1, .window = 3600};
	struct notes notes = {.line = on_line, .lowest = NOTES_USER, .limit = &limit};
	uint64_t before = os__now();

	for (int i = 0; i < 60; i++) {
		notes__user(&notes, "R 4.%d.0 (process %d)", 6 + i % 2, 100 + i);
		notes__user(&notes, "process %d (%s): libR-%d.so is stripped", 100 + i,
			    names[i % 4], i);
		notes__user(&notes, "process %d (%s): cannot read /opt/4.%d/libR.so", 200 + i,
			    names[i % 4], i % 3);
	}
	tap__said("R 4.6.0 (process 100)\n"
		  "process 100 (R): libR-0.so is stripped\n"
		  "process 200 (R): cannot read /opt/4.0/libR.so\n"
		  "R 4.7.0 (process 101)\n"
		  "process 201 (Rscript): cannot read /opt/4.1/libR.so\n"
		  "process 202 (my) R): cannot read /opt/4.2/libR.so\n",
		  "a line for each version and library");
	notes__settle(&notes, before + 3599 * NS_PER_S, false);
	tap__said("", "no more within the hour");
	notes__settle(&notes, os__now() + 3600 * NS_PER_S, false);
	tap__said("and 29 more of this kind; the last: R 4.6.0 (process 158)\n"
		  "and 59 more of this kind; the last: process 159 (rstudio-server): libR-59.so is "
		  "stripped\n"
		  "and 19 more of this kind; the last: process 257 (Rscript): cannot read "
		  "/opt/4.0/libR.so\n"
		  "and 29 more of this kind; the last: R 4.7.0 (process 159)\n"
		  "and 19 more of this kind; the last: process 258 (my) R): cannot read "
		  "/opt/4.1/libR.so\n"
		  "and 19 more of this kind; the last: process 259 (rstudio-server): cannot read "
		  "/opt/4.2/libR.so\n",
		  "then their number");
}
