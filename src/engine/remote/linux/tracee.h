/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of other processes that are stopped by ptrace(2) and let go.  This is the one place that
 * waits for stops; the ends of children are left to the code that started them.
 *
 * A thread is stopped by its alarm (alarm.h), in its own code.  PTRACE_INTERRUPT stops threads that
 * have no alarm, or whose alarm did not ring.  If that interrupts a system call that the kernel
 * would not restart, the call is restarted (x86-64).
 *
 * A thread that is asked to stop and does not soon is late.  SIGCHLD comes when it does, and its
 * handler lets it go at once, whatever the profiler is doing then.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_TRACEE_H
#define XR_ENGINE_REMOTE_LINUX_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

struct alarm;
struct tracees;
struct watchdog;

enum stopped {
	STOPPED = 0,
	STOPPED_NOT = 1, /* not yet, or it cannot be asked to now */
};

/*
 * tracees__open - for the calling thread, the only one that may use it.  There is one at a time,
 * for it takes SIGCHLD.  A negative errno with @f filled.
 */
int tracees__open(struct tracees **out, struct errmsg *f);

/* tracees__close - NULL is allowed.  Late ones are waited for, but not long: see tracee.c. */
void tracees__close(struct tracees *ts);

/* tracees__watchdog - theirs. */
struct watchdog *tracees__watchdog(const struct tracees *ts);

/*
 * tracees__stop - stop thread @tid of process @pid, by its @alarm if that is not NULL.  Wait up to
 * @ns for that, then interrupt the thread, and wait again.  Do not call it for one that sleeps.
 * STOPPED: it stands still, and all signals are blocked, until tracees__let_go; STOPPED_NOT: it is
 * late. -ESRCH: it is gone; -EPERM: not allowed, or somebody else traces it.
 */
int tracees__stop(struct tracees *ts, pid_t pid, pid_t tid, struct alarm *alarm, int64_t ns);
void tracees__let_go(struct tracees *ts);

/* tracees__late - was @tid told to stop and has not been let go yet? */
bool tracees__late(const struct tracees *ts, pid_t tid);

#endif
