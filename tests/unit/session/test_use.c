/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of processes that waited, and of code without source references. */

#include "base/clock.h"
#include "os/os.h"
#include "session/lineless.h"
#include "session/use.h"
#include "stack_maker.h"
#include "tap.h"

static char said[8192];

static void on_line(void *arg, enum notes_level level, const char *line)
{
	(void)arg;
	(void)level;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static const struct notes listener = {.line = on_line, .lowest = NOTES_DEBUG};

TEST(look)
{
	struct use u = {0};
	struct use old;
	uint64_t now = os__now();
	volatile uint64_t sum = 0;
	pid_t pid;

	use__look(&u, getpid(), now);
	tap__ok(u.since == now && !use__elapsed(&u) && !use__cpu(&u), "the first look");
	tap__ok(!use__due(&u, now + NS_PER_S / 2, 1) && use__due(&u, now + NS_PER_S, 1) &&
			!use__due(&u, now + NS_PER_S, 640),
		"once a second, and of many processes more seldom");
	old = (struct use){.since = NS_PER_S, .at = 41 * NS_PER_S};
	tap__ok(!use__due(&old, 45 * NS_PER_S, 1) && use__due(&old, 46 * NS_PER_S, 1),
		"one that was there for 40 seconds rests for five");
	old.at = 4000 * NS_PER_S;
	tap__ok(!use__due(&old, 4009 * NS_PER_S, 100) && use__due(&old, 4010 * NS_PER_S, 100) &&
			!use__due(&old, 4010 * NS_PER_S, 1024),
		"ten at most, but for many processes");
	while (!use__cpu(&u)) {
		for (int i = 0; i < 1000000; i++)
			sum += (uint64_t)i;
		use__look(&u, getpid(), os__now());
	}
	tap__ok(use__cpu(&u) <= use__elapsed(&u) + 20 * NS_PER_MS, "%llu ns of CPU in %llu ns",
		(unsigned long long)use__cpu(&u), (unsigned long long)use__elapsed(&u));
	now = u.at;
	use__look(&u, -1, os__now());
	tap__ok(u.at == now, "of one that has ended the last look stays");
	pid = fork();
	if (!pid)
		raise(SIGSTOP);
	waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WSTOPPED | WNOWAIT);
	memset(&old, 0, sizeof(old));
	use__look(&old, pid, os__now());
	tap__ok(old.stopped && !u.stopped, "one that is stopped");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(verdict)
{
	const struct use busy = {.since = 1, .at = 1 + 6 * NS_PER_S, .cpu = 5 * NS_PER_S};
	const struct use waits = {.since = 1, .at = 1 + 6 * NS_PER_S, .cpu = 60 * NS_PER_MS};
	const struct use stopped = {
		.since = 1, .at = 1 + 6 * NS_PER_S, .cpu = 60 * NS_PER_MS, .stopped = true};
	const struct use brief = {.since = 1, .at = NS_PER_S / 2};
	struct verdict v = {0};

	verdict__add(&v, &listener, &busy, 1, "busy", true);
	verdict__add(&v, &listener, &brief, 2, "brief", true);
	verdict__end(&v, &listener);
	tap__ok(!*said, "nothing of one that works, or was seen for a moment");
	for (uint32_t pid = 1476; pid < 1481; pid++)
		verdict__add(&v, &listener, &waits, pid, "R", true);
	verdict__add(&v, &listener, &waits, 1490, "R", false);
	verdict__end(&v, &listener);
	tap__ok(strstr(said, "process 1476 (R) used 0.06 s of CPU in 6.00 s and waited the rest; "
			     "--clock wall shows where\n") &&
			strstr(said, "1478 (R)") && !strstr(said, "1479"),
		"three have a line each");
	tap__ok(strstr(said, "3 more of 8 processes used less than a tenth"), "the others one: %s",
		said);
	*said = '\0';
	verdict__add(&v, &listener, &stopped, 1500, "R", true);
	tap__ok(strstr(said, "process 1500 (R) is stopped, by a signal (SIGSTOP) or a debugger") &&
			strstr(said, "kill -CONT 1500") && !strstr(said, "waited"),
		"one that is stopped did not wait: %s", said);
}

TEST(lineless)
{
	const struct frame *bare = stack__frame(FRAME_R, "f", NULL, 0);
	const struct frame *placed = stack__frame(FRAME_R, "g", "g.R", 3);
	const struct stack *none = stack__of(1, &bare, NULL, 0);
	const struct stack *some = stack__of(1, &placed, NULL, 0);
	const struct stack *empty = stack__of(0, NULL, NULL, 0);
	struct lineless l = {0}, with = {0}, brief = {0}, idle = {0};
	uint32_t lines = 0;

	*said = '\0';
	for (uint32_t i = 0; i < 2 * LINELESS_SAMPLES; i++) {
		lineless__sample(&l, &listener, &lines, 7, "R", none);
		lineless__sample(&with, &listener, &lines, 8, "R", i % 50 ? none : some);
		lineless__sample(&idle, &listener, &lines, 9, "R", empty);
	}
	lineless__sample(&brief, &listener, &lines, 10, "R", none);
	tap__ok(lines == 1 && strstr(said, "process 7 (R): no source lines in 100 samples") &&
			strstr(said, "keep.source = TRUE") && strstr(said, "R_KEEP_PKG_SOURCE=yes"),
		"said once, with the cure: %s", said);
	lineless__end(&l, &listener, &lines, 7, "R");
	lineless__end(&with, &listener, &lines, 8, "R");
	lineless__end(&idle, &listener, &lines, 9, "R");
	lineless__end(&brief, &listener, &lines, 10, "R");
	tap__ok(lines == 2 && strstr(said, "process 10 (R): no source lines in 1 sample:"),
		"at the end, too, of a brief one");
}
