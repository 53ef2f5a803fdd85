/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An alarm of a thread: a timer on the CPU that the thread runs on, which rings only while the
 * thread executes its own code, and then raises a signal in it.  The tracer of the thread sees the
 * signal before the thread does (a signal-delivery-stop).
 *
 * A thread that PTRACE_INTERRUPT stops is found where it next enters or leaves the kernel, if the
 * interrupt of its CPU is late (a virtual machine): too often in system calls.  A system call that
 * waits fails by it, too.  An alarm does neither.
 *
 * The timer is a perf event (task-clock, exclude_kernel).  A user may open it for processes that he
 * may trace if /proc/sys/kernel/perf_event_paranoid is 2 or less.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_ALARM_H
#define XR_ENGINE_REMOTE_LINUX_ALARM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct alarm {
	pid_t pid, tid;
	int fd;		  /* -1: none */
	int err;	  /* why there is none, a negative errno; 0: it was not opened yet */
	int signal;	  /* 0: the program uses all that would do */
	uint64_t checked; /* when the signal was chosen, ns */
	uint32_t silent;  /* so many times in a row it was set and did not ring */
};

/* alarm__init - of thread @tid of @pid; nothing is opened.  Afterwards alarm__close. */
void alarm__init(struct alarm *a, pid_t pid, pid_t tid);
void alarm__close(struct alarm *a);

/*
 * alarm__set - let it ring in some 250 us.  False: it cannot (a->err says why if the kernel forbids
 * it).  alarm__clear - it does not ring any more; a signal that it has raised may still come.
 * @rang: it did.
 */
bool alarm__set(struct alarm *a);
void alarm__clear(struct alarm *a, bool rang);

/* alarm__is_of - is the signal that stopped @tid one that alarms raise, which is @signal? */
bool alarm__is_of(pid_t tid, int signal);

#endif
