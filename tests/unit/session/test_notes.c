/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said again and again is said a few times, and then counted. */
#include "session/notes.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "os/os.h"
#include "tap.h"

static char said[4096]; /* line after line */
static unsigned int lines;

static void on_line(void *arg, enum notes_level level, const char *line)
{
	size_t len = strlen(said);

	(void)arg;
	(void)level;
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
	uint64_t before = os__now(), late = before + (NOTES_WINDOW + 1) * NS_PER_S;

	for (int i = 0; i < 40; i++)
		notes__user(&notes, "process %d is stopped", 100 + i * i);
	notes__user(&notes, "process 7 is no R");
	tap__ok(lines == NOTES_FEW + 1 && strstr(said, "process 101 is stopped\n") &&
			strstr(said, "process 7 is no R\n"),
		"a few of a kind are said, and another kind");
	forget();
	notes__settle(&notes, os__now(), false);
	tap__ok(!lines, "no more while its time is not over");
	notes__settle(&notes, before, false);
	tap__ok(!lines, "nor at a time that was before them");
	notes__settle(&notes, late, false);
	tap__ok(lines == 1 &&
			!strcmp(said, "and 37 more such; the last: process 1621 is stopped\n"),
		"then how many more there were: %s", said);
	forget();
	notes__settle(&notes, late, true);
	tap__ok(!lines, "once");
	for (int i = 0; i < 4; i++)
		notes__user(&notes, "process %d is stopped", i);
	forget();
	notes__settle(&notes, os__now(), true);
	tap__ok(!strcmp(said, "process 3 is stopped\n"),
		"a single one is said as it is, at the end");
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
