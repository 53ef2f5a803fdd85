/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/linux/activity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "os/linux/syscalls.h"
#include "os/proc.h"

/* What a thread does that waits in one of these; all others sleep. */
static const struct doing {
	const char *syscall;
	const char *words;
	bool file;  /* its first argument is a descriptor, which the words are followed by */
	bool reads; /* from there */
} doings[] = {
	{"read", "reading", true, true},
	{"pread64", "reading", true, true},
	{"readv", "reading", true, true},
	{"write", "writing", true, false},
	{"pwrite64", "writing", true, false},
	{"writev", "writing", true, false},
	{"fsync", "writing to disk", true, false},
	{"fdatasync", "writing to disk", true, false},
	{"recvfrom", "receiving from", true, false},
	{"recvmsg", "receiving from", true, false},
	{"sendto", "sending to", true, false},
	{"sendmsg", "sending to", true, false},
	{"connect", "connecting", true, false},
	{"accept", "waiting for a connection on", true, false},
	{"accept4", "waiting for a connection on", true, false},
	{"flock", "waiting for a lock of", true, false},
	{"fcntl", "waiting for a lock of", true, false},
	{"wait4", "waiting for a child", false, false},
	{"waitid", "waiting for a child", false, false},
	{"futex", "waiting for another thread", false, false},
	{"open", "opening a file", false, false},
	{"openat", "opening a file", false, false},
	{"pause", "waiting for a signal", false, false},
	{"rt_sigsuspend", "waiting for a signal", false, false},
	{"rt_sigtimedwait", "waiting for a signal", false, false},
};

static const struct doing *activity__doing(const struct activity *a)
{
	const char *name = activity__syscall(a);

	for (size_t i = 0; name && i < sizeof(doings) / sizeof(doings[0]); i++)
		if (!strcmp(doings[i].syscall, name))
			return &doings[i];
	return NULL;
}

/* "running", or "NUMBER 0xARGUMENT ... 0xSP 0xPC", where -1 stands for no system call. */
static void activity__parse_syscall(struct activity *a, const char *text)
{
	const char *at = text;
	uint64_t number;
	char *end;

	if (!strncmp(text, "-1 ", 3)) {
		a->waits = true;
		a->syscall = -1;
		return;
	}
	if (parse__digits(&at, INT32_MAX, &number) || strncmp(at, " 0x", 3) != 0)
		return;
	a->arg = strtoull(at + 3, &end, 16);
	if (end == at + 3 || *end != ' ')
		return;
	a->waits = true;
	a->syscall = (int64_t)number;
}

void activity__parse(struct activity *a, const char *stat, const char *syscall, const char *wchan)
{
	struct proc p;
	size_t n = strspn(wchan, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_.");

	*a = (struct activity){.syscall = -1};
	if (!proc__parse_stat(stat, strlen(stat), &p))
		a->state = p.state;
	if (a->state != 'R')
		activity__parse_syscall(a, syscall);
	if (n < sizeof(a->wchan) && !wchan[n] && strcmp(wchan, "0") != 0)
		memcpy(a->wchan, wchan, n);
}

/* "" where it cannot be read. */
static ssize_t thread__text(pid_t pid, pid_t tid, const char *file, char *text, size_t size)
{
	char name[48];
	ssize_t n;

	snprintf(name, sizeof(name), "task/%d/%s", (int)tid, file);
	n = proc__text(pid, name, text, size);
	if (n < 0)
		*text = '\0';
	return n;
}

/* What descriptor @fd of process @pid is open on, into @path: "" if unknown. */
static void process__file(pid_t pid, int fd, char *path)
{
	char name[32];

	snprintf(name, sizeof(name), "fd/%d", fd);
	if (proc__link(pid, name, path, ACTIVITY_FILE_MAX) < 0)
		*path = '\0';
}

int activity__read(struct activity *a, pid_t pid, pid_t tid)
{
	char stat[1024], syscall[256], wchan[128], input[ACTIVITY_FILE_MAX];
	const struct doing *doing;

	if (thread__text(pid, tid, "stat", stat, sizeof(stat)) <= 0)
		return -ESRCH;
	thread__text(pid, tid, "syscall", syscall, sizeof(syscall));
	thread__text(pid, tid, "wchan", wchan, sizeof(wchan));
	activity__parse(a, stat, syscall, wchan);
	doing = activity__doing(a);
	if (!doing || !doing->file || a->arg > INT32_MAX)
		return 0;
	process__file(pid, (int)a->arg, a->file);
	process__file(pid, STDIN_FILENO, input);
	/* R's file("stdin") is a copy of the descriptor */
	a->input = doing->reads && (!a->arg || (*a->file && !strcmp(a->file, input)));
	return 0;
}

const char *activity__syscall(const struct activity *a)
{
	return a->waits && a->syscall >= 0 ? syscalls__name(a->syscall) : NULL;
}

static int activity__describe_file(const struct activity *a, struct buf *b)
{
	static const char *const standard[] = {"input", "output", "error"};

	if (a->input)
		return buf__str(b, " standard input");
	if (a->arg < sizeof(standard) / sizeof(standard[0]))
		return buf__printf(b, " standard %s", standard[a->arg]);
	if (a->file[0])
		return buf__printf(b, " %s", a->file);
	return buf__printf(b, " descriptor %llu", (unsigned long long)a->arg);
}

static int activity__describe_wait(const struct activity *a, struct buf *b)
{
	const struct doing *doing = activity__doing(a);
	const char *name = activity__syscall(a);
	int err;

	err = buf__str(b, doing ? doing->words : "sleeping");
	if (!err && doing && doing->file)
		err = activity__describe_file(a, b);
	if (err)
		return err;
	if (name)
		return buf__printf(b, " in %s", name);
	if (a->waits && a->syscall >= 0)
		return buf__printf(b, " in system call %lld", (long long)a->syscall);
	return a->wchan[0] ? buf__printf(b, " in the kernel's %s", a->wchan) : 0;
}

int activity__describe(const struct activity *a, struct buf *b)
{
	int err;

	switch (a->state) {
	case 'R':
		return buf__str(b, "running");
	case 'T':
		return buf__str(b, "stopped by a signal");
	case 't':
		return buf__str(b, "stopped by a debugger");
	case 'D':
		err = activity__describe_wait(a, b);
		return err ? err : buf__str(b, ", uninterruptible");
	case 'S':
		return activity__describe_wait(a, b);
	case 0:
		return buf__str(b, "not known");
	default: /* Z, X: its end */
		return buf__str(b, "ending");
	}
}
