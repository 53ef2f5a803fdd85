/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The watchdog: no thread of a target stays stopped because the tracer stalls, and no target blocks
 * the profiler by memory that does not respond.
 *
 * From before a thread is asked to stop until after it was released, all signals are blocked that
 * can be.  Against the others there are two things, each armed before and disarmed after:
 *
 * - A helper process, the watchdog.  A timer wakes it when a stop has lasted some milliseconds.  If
 *   the tracer is stopped (SIGSTOP) it continues it; the tracer releases the thread and then stops
 *   itself.
 * - A timer of the kernel that kills the tracer after a second.  It needs no running process: it
 *   works if the tracer is frozen with the watchdog, hangs in a read, or if the watchdog is gone.
 *   The kernel detaches the threads of a dead tracer (kernel/ptrace.c, exit_ptrace()).
 *
 * Only the end of its process ends a read of memory.  The watchdog checks once a second: it kills a
 * tracer that is in the reads of the same sample, in the kernel, at five checks, and reports it.
 * What was written until then is complete.
 *
 * All but watchdog__open and __close are called by the thread that called watchdog__open.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_WATCHDOG_H
#define XR_ENGINE_REMOTE_LINUX_WATCHDOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/errmsg.h"

struct watchdog;

/* watchdog__open - for the calling thread, the tracer.  A negative errno with @f filled. */
int watchdog__open(struct watchdog **out, struct errmsg *f);

/* watchdog__close - NULL is allowed.  No thread is held any more, late ones included. */
void watchdog__close(struct watchdog *w);

/*
 * watchdog__enter - a thread of process @pid will be asked to stop.  All signals are blocked until
 * watchdog__leave.  False: nothing is to be stopped now, as no watchdog is at work yet, or the
 * tracer is itself to stop as soon as it holds nothing.
 */
bool watchdog__enter(struct watchdog *w, pid_t pid);

/*
 * watchdog__leave - it was let go.  With @late the stop was sent, has not taken effect, and the
 * process counts as held until watchdog__undone.
 */
void watchdog__leave(struct watchdog *w, bool late);

/* watchdog__undone - one that was late was let go, or is gone.  Signals are blocked. */
void watchdog__undone(struct watchdog *w);

/*
 * watchdog__beat - the tracer lives.  While something late is held SIGCHLD comes some times a
 * second, in whose handler this is to be called.
 */
void watchdog__beat(struct watchdog *w);

/*
 * watchdog__read, watchdog__read_done - around all reads of memory of process @pid for one sample;
 * inside of it threads may be stopped.
 */
void watchdog__read(struct watchdog *w, pid_t pid);
void watchdog__read_done(struct watchdog *w);

/* watchdog__stopped - child @pid was seen stopped: if that is the watchdog, it goes on. */
void watchdog__stopped(const struct watchdog *w, pid_t pid);

#endif
