/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An alarm of a thread: a timer on the CPU that the thread runs on, which rings after some CPU time
 * of the thread if the thread then executes its own code.  It raises a signal in the thread.  The
 * tracer of the thread sees the signal before the thread does (a signal-delivery-stop).
 *
 * PTRACE_INTERRUPT sends an interrupt to the CPU of the thread.  A virtual machine delivers it
 * late, and the thread is found where it next enters or leaves the kernel.  So samples of short
 * system calls would be far too many.  The alarm tells the two apart: if it rings, the moment was
 * in the thread's own code, and the thread stops there.  If its time has passed and it has not
 * rung, the moment was in the kernel, and PTRACE_INTERRUPT finds the thread at a system call.
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
	uint64_t set_at;  /* its count of CPU time when it was set, ns */
	uint32_t silent;  /* times in a row that it was set and did not ring */
};

/*
 * CPU time of the thread until it rings, ns.  While the thread is inside the kernel the timer goes
 * on in vain.  On a virtual machine one interrupt took 55 us of the CPU, so that a period of 100 us
 * would leave less than half of it.
 */
#define ALARM_NS 500000

/* alarm__init - of thread @tid of @pid; nothing is opened.  Afterwards alarm__close. */
void alarm__init(struct alarm *a, pid_t pid, pid_t tid);
void alarm__close(struct alarm *a);

/*
 * alarm__set - let it ring after ALARM_NS of CPU time.  False: it cannot (a->err is the reason if
 * the kernel forbids it).  alarm__clear - it does not ring any more; a signal that it has raised
 * may still come.  @rang: it did.
 */
bool alarm__set(struct alarm *a);
void alarm__clear(struct alarm *a, bool rang);

/*
 * alarm__left - CPU time of the thread until an alarm that is set should ring, ns.  0 or less: that
 * moment has passed.
 */
int64_t alarm__left(const struct alarm *a);

/* alarm__is_of - is the signal that stopped @tid one that alarms raise, which is @signal? */
bool alarm__is_of(pid_t tid, int signal);

#endif
