/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "engine/remote/linux/alarm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"

#define CHECK_NS   (100 * NS_PER_MS) /* between two looks at the program's signals */
#define SILENT_MAX 100u /* after this many alarms in vain only each SILENT_MAX-th is set */

/*
 * Ignored by default, and nothing else (SIGCONT has an effect by itself): if the tracer is gone,
 * nothing happens to the program.
 */
static const int signals[] = {SIGURG, SIGWINCH, SIGCHLD};

void alarm__init(struct alarm *a, pid_t pid, pid_t tid)
{
	*a = (struct alarm){.pid = pid, .tid = tid, .fd = -1};
}

void alarm__close(struct alarm *a)
{
	if (a->fd >= 0)
		close(a->fd);
	alarm__init(a, a->pid, a->tid);
}

/* A signal that the program has no handler for, and that the thread does not block; 0: none. */
static int alarm__choose(const struct alarm *a)
{
	char name[32], text[PROC_STATUS_MAX];
	uint64_t taken;

	snprintf(name, sizeof(name), "task/%d/status", (int)a->tid);
	if (proc__text(a->pid, name, text, sizeof(text)) <= 0)
		return 0;
	taken = proc__status(text, "\nSigBlk:", 16, UINT64_MAX) |
		proc__status(text, "\nSigCgt:", 16, UINT64_MAX);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!(taken >> (signals[i] - 1) & 1))
			return signals[i];
	return 0;
}

static bool alarm__check(struct alarm *a)
{
	const uint64_t now = os__now();
	int signal;

	if (a->checked && now - a->checked < CHECK_NS)
		return a->signal;
	a->checked = now;
	signal = alarm__choose(a);
	if (signal && signal != a->signal && fcntl(a->fd, F_SETSIG, signal))
		signal = 0;
	a->signal = signal;
	return a->signal;
}

static bool alarm__open(struct alarm *a)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = ALARM_NS,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = a->tid};
	uint64_t raised = rights__raise(RIGHTS_TARGET | RIGHTS_EVENTS);

	a->fd = (int)syscall(SYS_perf_event_open, &attr, a->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	a->err = a->fd < 0 ? -errno : 0;
	rights__lower(raised);
	if (!a->err &&
	    (fcntl(a->fd, F_SETOWN_EX, &owner) || fcntl(a->fd, F_SETFL, O_ASYNC | O_NONBLOCK)))
		a->err = -errno;
	return !a->err;
}

/* An event that is disabled does not count. */
static uint64_t alarm__count(const struct alarm *a)
{
	uint64_t ns;

	return read(a->fd, &ns, sizeof(ns)) == sizeof(ns) ? ns : 0;
}

bool alarm__set(struct alarm *a)
{
	if (a->err || (a->fd < 0 && !alarm__open(a)) || !alarm__check(a))
		return false;
	if (a->silent >= SILENT_MAX && ++a->silent % SILENT_MAX)
		return false;
	a->set_at = alarm__count(a);
	return !ioctl(a->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void alarm__clear(struct alarm *a, bool rang)
{
	ioctl(a->fd, PERF_EVENT_IOC_DISABLE, 0);
	a->silent = rang ? 0 : a->silent + 1;
}

int64_t alarm__left(const struct alarm *a)
{
	return ALARM_NS - (int64_t)(alarm__count(a) - a->set_at);
}

bool alarm__is_of(pid_t tid, int signal)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) || info.si_signo != signal)
		return false;
	/* what fs/fcntl.c, send_sigio_to_task(), gives; SI_SIGIO is for SIGCHLD */
	return info.si_code == POLL_IN || info.si_code == POLL_HUP || info.si_code == SI_SIGIO;
}
