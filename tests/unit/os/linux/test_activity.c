/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a thread does, from what /proc says of it. */
#include "os/linux/activity.h"

#include <sys/syscall.h>

#include "tap.h"

static char words[1024];

static const char *describe(const struct activity *a)
{
	struct buf b = {0};

	tap__bail_if(activity__describe(a, &b), "no memory");
	snprintf(words, sizeof(words), "%.*s", (int)b.len, b.data);
	buf__free(&b);
	return words;
}

/* A line of /proc/PID/stat in that state. */
static const char *stat_in(char state)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "12 (R (x) y) %c 1 12 12 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 777 1000 10 1 2 3 "
		 "4 5 6",
		 state);
	return text;
}

/* Of a thread in @state whose syscall file is @number and arguments. */
static const char *doing(char state, int number, unsigned int arg)
{
	char syscall[128];
	struct activity a;

	snprintf(syscall, sizeof(syscall), "%d 0x%x 0x2 0x3 0x4 0x5 0x6 0x7ffd0 0x7f00\n", number,
		 arg);
	activity__parse(&a, stat_in(state), syscall, "do_something");
	return describe(&a);
}

TEST(words)
{
	static const struct {
		char state;
		int number;
		unsigned int arg;
		const char *want;
	} rows[] = {
		{'S', SYS_clock_nanosleep, 0, "sleeping in clock_nanosleep"},
		{'S', SYS_pselect6, 1, "sleeping in pselect6"},
		{'S', SYS_wait4, 1, "waiting for a child in wait4"},
		{'S', SYS_read, 0, "reading standard input in read"},
		{'S', SYS_read, 7, "reading descriptor 7 in read"},
		{'S', SYS_write, 1, "writing standard output in write"},
		{'S', SYS_futex, 1, "waiting for another thread in futex"},
		{'D', SYS_fsync, 3, "writing to disk descriptor 3 in fsync, uninterruptible"},
		{'S', 99999, 3, "sleeping in system call 99999"},
		{'R', SYS_read, 0, "running"},
		{'T', SYS_read, 0, "stopped by a signal"},
		{'t', SYS_read, 0, "stopped by a debugger"},
		{'Z', SYS_read, 0, "ending"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		tap__is(doing(rows[i].state, rows[i].number, rows[i].arg), rows[i].want, "%c, %d",
			rows[i].state, rows[i].number);
}

/* What can be read may be less, and it may be anything. */
TEST(texts)
{
	static const char *const junk[] = {
		"",	      "running\n",  "0",
		"0 ",	      "0 0x",	    "0 0x1",
		"1x 0x1 0x2", "-2 0x1 0x2", "99999999999999999999 0x1 0x2",
		"\xff\x1b[2J"};
	struct activity a;

	for (size_t i = 0; i < COUNT(junk); i++) {
		activity__parse(&a, stat_in('S'), junk[i], "0");
		tap__ok(!a.waits && !activity__syscall(&a) && !strcmp(describe(&a), "sleeping"),
			"no system call in text %zu: %s", i, words);
	}
	activity__parse(&a, stat_in('S'), "", "poll_schedule_timeout.constprop.0");
	tap__is(describe(&a), "sleeping in the kernel's poll_schedule_timeout.constprop.0",
		"without the right to see the system call");
	activity__parse(&a, stat_in('D'), "-1 0x7ffd0 0x7f00\n", "folio_wait");
	tap__is(describe(&a), "sleeping in the kernel's folio_wait, uninterruptible",
		"a page that does not come");
	activity__parse(&a, stat_in('S'), "", "\x1b[2J");
	tap__ok(!a.wchan[0], "a wchan with control characters is dropped");
	activity__parse(&a, "12 (R", "", "");
	tap__is(describe(&a), "not known", "a malformed line has no state");
}

/* A child that reads a pipe, its standard input or not. */
static void test_live(bool standard)
{
	struct activity a = {0};
	int ends[2];
	pid_t pid;
	char c;

	tap__bail_if(pipe(ends) || (pid = fork()) < 0, "no child");
	if (!pid) {
		close(ends[1]);
		if (standard)
			dup2(ends[0], STDIN_FILENO);
		_exit((int)read(ends[0], &c, 1));
	}
	close(ends[0]);
	while (!activity__read(&a, pid, pid) && !(a.state == 'S' && (a.waits || geteuid())))
		usleep(1000);
	if (geteuid() && !a.waits)
		tap__skip("needs the right to trace", "a child is seen reading");
	else
		tap__ok(strstr(describe(&a), standard ? "reading standard input in read"
						      : "reading pipe:[") == words,
			"a child is seen reading: %s", words);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	tap__ok(activity__read(&a, pid, pid) == -ESRCH, "and gone");
}

TEST(live)
{
	test_live(false);
	test_live(true);
}
