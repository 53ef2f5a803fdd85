/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "engine/remote/linux/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/remote/linux/alarm.h"
#include "engine/remote/linux/watchdog.h"
#include "os/os.h"
#include "os/proc.h"

#define LATE_MAX 64u	/* while that many are late, no more are interrupted */
#define CLOSE_MS 50	/* how long late ones are waited for at the end */
#define RING_NS	 100000 /* after the moment of an alarm its stop is waited for */

#define ERESTARTNOHAND 514 /* include/linux/errno.h: restart, unless a handler runs */

struct tracee {
	pid_t tid;   /* 0: none */
	bool leader; /* its number is that of its process */
	int signal;  /* that was about to be delivered to it, to be passed on */
	int alarm;   /* the signal of its alarm, which is not passed on; 0: it has none */
	bool rang;   /* it was that that stopped it */
};

struct tracees {
	struct watchdog *watchdog;
	pid_t tracer; /* this thread */
	struct tracee now;
	/* changed by the handler of SIGCHLD, and with that blocked */
	struct tracee late[LATE_MAX];
	volatile sig_atomic_t nlate;
	struct sigaction before;
};

/* A signal handler has no argument. */
static struct tracees *handled;

/* The next stop of any child or tracee that was not taken: its thread, or 0. */
static pid_t stop__take(int *status)
{
	siginfo_t info = {0};

	if (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | __WALL))
		return 0;
	*status = info.si_status;
	return info.si_pid;
}

/*
 * What is to be delivered to @t.  An event is our stop, or one of the whole process by SIGSTOP and
 * its kind.
 */
static int stop__signal(struct tracee *t, int status)
{
	const int signal = status >> 8 ? 0 : status & 0x7f;

	t->rang = signal && signal == t->alarm && alarm__is_of(t->tid, signal);
	return t->rang ? 0 : signal;
}

/*
 * A system call that waits ends with -EINTR if the tracer interrupts its thread, or if the thread
 * gets a signal that it ignores.  The kernel restarts most of them.  It does not restart
 * epoll_wait(), sigtimedwait(), semtimedop() and others, which go on in a thread without a tracer.
 * So this function changes -EINTR to -ERESTARTNOHAND: the kernel then restarts the call unless a
 * handler of the program runs.  A restarted call waits for its whole time again.  close() must not
 * be repeated.
 */
static void stop__restart(pid_t tid)
{
#ifdef __x86_64__
	const size_t call_at = offsetof(struct user, regs.orig_rax);
	const size_t result_at = offsetof(struct user, regs.rax);
	const long call = ptrace(PTRACE_PEEKUSER, tid, call_at, NULL);

	if (call < 0 || call == SYS_close ||
	    ptrace(PTRACE_PEEKUSER, tid, result_at, NULL) != -EINTR)
		return;
	ptrace(PTRACE_POKEUSER, tid, result_at, (long)-ERESTARTNOHAND);
#else
	(void)tid; /* the first argument of the call is lost */
#endif
}

static void tracee__detach(const struct tracee *t, int signal)
{
	stop__restart(t->tid);
	ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)signal);
}

/* Is process @pid, which has ended, a child of ours? */
static bool pid__is_child(pid_t pid)
{
	char path[32], text[512];
	ssize_t n = -1;
	struct proc p;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return false;
	text[n] = '\0';
	return !proc__parse_stat(text, (size_t)n, &p) && p.ppid == getpid();
}

/*
 * Is it gone, or no tracee any more?  What has ended stays until its tracer has taken it; but the
 * end of a child of ours is for those who started it.
 */
static bool tracee__gone(const struct tracee *t)
{
	const int how = WEXITED | WNOHANG | __WALL;
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)t->tid, &info, how | WNOWAIT))
		return errno == ECHILD;
	if (info.si_code != CLD_EXITED && info.si_code != CLD_KILLED && info.si_code != CLD_DUMPED)
		return false;
	if (!t->leader || !pid__is_child(t->tid))
		waitid(P_PID, (id_t)t->tid, &info, how);
	return true;
}

static void late__remove(struct tracees *ts, struct tracee *t)
{
	t->tid = 0;
	ts->nlate--;
	watchdog__undone(ts->watchdog);
}

static struct tracee *late__find(struct tracees *ts, pid_t tid)
{
	for (uint32_t i = 0; ts->nlate && i < LATE_MAX; i++)
		if (ts->late[i].tid == tid)
			return &ts->late[i];
	return NULL;
}

/* Thread @tid stopped, and not because it is waited for just now. */
static void stop__undo(struct tracees *ts, pid_t tid, int status)
{
	struct tracee unknown = {.tid = tid};
	struct tracee *t = late__find(ts, tid);

	tracee__detach(t ? t : &unknown, stop__signal(t ? t : &unknown, status));
	if (t)
		late__remove(ts, t);
	else
		watchdog__stopped(ts->watchdog, tid);
}

/* Let go of all that have stopped late.  SIGCHLD is blocked. */
static void late__undo(struct tracees *ts)
{
	int status = 0;
	pid_t tid;

	while ((tid = stop__take(&status)) > 0)
		stop__undo(ts, tid, status);
	for (uint32_t i = 0; ts->nlate && i < LATE_MAX; i++)
		if (ts->late[i].tid && tracee__gone(&ts->late[i]))
			late__remove(ts, &ts->late[i]);
}

/* SIGCHLD may come to any thread, but only the tracer can let go. */
static void on_child(int signal)
{
	struct tracees *ts = handled;
	int err = errno;

	if ((pid_t)syscall(SYS_gettid) != ts->tracer) {
		syscall(SYS_tgkill, getpid(), ts->tracer, signal);
	} else {
		late__undo(ts);
		watchdog__beat(ts->watchdog);
	}
	errno = err;
}

/* Wait until ts->now stops.  What else stops meanwhile is let go. */
static int tracee__wait(struct tracees *ts, int64_t ns)
{
	const uint64_t end = os__now() + (uint64_t)ns;
	struct timespec limit = {.tv_sec = ns / (int64_t)NS_PER_S,
				 .tv_nsec = ns % (int64_t)NS_PER_S};
	sigset_t child;
	bool stopped = false;
	int status = 0;
	pid_t tid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		/* before the look, so that none is left for the handler */
		sigtimedwait(&child, NULL, &limit);
		/* all there are: SIGCHLD does not come again for those that are left */
		while ((tid = stop__take(&status)) > 0) {
			if (tid != ts->now.tid) {
				stop__undo(ts, tid, status);
				continue;
			}
			ts->now.signal = stop__signal(&ts->now, status);
			stopped = true;
		}
		if (stopped)
			return STOPPED;
		if (tracee__gone(&ts->now))
			return -ESRCH;
		if (os__now() >= end)
			return STOPPED_NOT;
	}
}

/*
 * Wait until the alarm, which is set, has stopped ts->now.  STOPPED_NOT: its moment has passed and
 * the thread was inside the kernel then; or the thread had no CPU, and stands where the scheduler
 * left it; or it had too little CPU time in @ns.
 */
static int tracee__await_alarm(struct tracees *ts, const struct alarm *alarm, int64_t ns)
{
	const uint64_t end = os__now() + (uint64_t)ns;
	int64_t left = ALARM_NS;
	int got;

	do {
		got = tracee__wait(ts, left + RING_NS);
		if (got != STOPPED_NOT)
			return got;
		left = alarm__left(alarm);
	} while (left > 0 && left < ALARM_NS && os__now() < end);
	/* it may have rung just before that was asked */
	return tracee__wait(ts, 0);
}

/* As tracees__stop, of ts->now. */
static int tracee__stop(struct tracees *ts, struct alarm *alarm, int64_t ns)
{
	int got = STOPPED_NOT;

	if (ptrace(PTRACE_SEIZE, ts->now.tid, NULL, NULL))
		return -errno;
	if (alarm && alarm__set(alarm)) {
		ts->now.alarm = alarm->signal;
		got = tracee__await_alarm(ts, alarm, ns);
		alarm__clear(alarm, ts->now.rang);
	}
	if (got != STOPPED_NOT)
		return got;
	ptrace(PTRACE_INTERRUPT, ts->now.tid, NULL, NULL);
	return tracee__wait(ts, ns);
}

static void late__add(struct tracees *ts, const struct tracee *t)
{
	struct tracee *slot = ts->late;

	while (slot->tid)
		slot++;
	*slot = *t;
	ts->nlate++;
}

int tracees__stop(struct tracees *ts, pid_t pid, pid_t tid, struct alarm *alarm, int64_t ns)
{
	int got;

	if (ts->nlate == LATE_MAX || tracees__late(ts, tid))
		return STOPPED_NOT;
	if (!watchdog__enter(ts->watchdog, pid))
		return STOPPED_NOT;
	ts->now = (struct tracee){.tid = tid, .leader = tid == pid};
	got = tracee__stop(ts, alarm, ns);
	if (got == STOPPED)
		return STOPPED;
	if (got == STOPPED_NOT)
		late__add(ts, &ts->now);
	watchdog__leave(ts->watchdog, got == STOPPED_NOT);
	return got;
}

void tracees__let_go(struct tracees *ts)
{
	tracee__detach(&ts->now, ts->now.signal);
	watchdog__leave(ts->watchdog, false);
}

bool tracees__late(const struct tracees *ts, pid_t tid)
{
	return late__find((struct tracees *)(uintptr_t)ts, tid) != NULL;
}

static void child__block(bool on)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &child, NULL);
}

int tracees__open(struct tracees **out, struct errmsg *f)
{
	struct sigaction act = {.sa_handler = on_child, .sa_flags = SA_RESTART};
	struct tracees *ts;
	int err;

	if (handled) {
		*out = handled;
		return 0;
	}
	ts = calloc(1, sizeof(*ts));
	if (!ts)
		return errmsg__set(f, -ENOMEM, "out of memory");
	ts->tracer = (pid_t)syscall(SYS_gettid);
	err = watchdog__open(&ts->watchdog, f);
	if (err) {
		free(ts);
		return err;
	}
	handled = ts;
	sigfillset(&act.sa_mask);
	sigaction(SIGCHLD, &act, &ts->before);
	child__block(false);
	*out = ts;
	return 0;
}

struct watchdog *tracees__watchdog(const struct tracees *ts)
{
	return ts->watchdog;
}

/*
 * A thread that sleeps where it cannot be interrupted stops whenever that ends.  If some still have
 * to, the handler and the watchdog stay for as long as this process does; the next to open gets
 * them.
 */
void tracees__close(struct tracees *ts)
{
	const uint64_t end = os__now() + CLOSE_MS * NS_PER_MS;
	const struct timespec step = {.tv_nsec = NS_PER_MS};

	if (!ts)
		return;
	while (ts->nlate && os__now() < end)
		nanosleep(&step, NULL);
	if (ts->nlate)
		return;
	sigaction(SIGCHLD, &ts->before, NULL);
	handled = NULL;
	watchdog__close(ts->watchdog);
	free(ts);
}
