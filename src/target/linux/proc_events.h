/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of the whole machine that R appears in, by the kernel's own records: each mapping
 * of executable code (and, for descendants, each fork and exit) is written by perf into one ring
 * per CPU.  /proc is read only for a process that a record names.
 *
 * Pids are those of the pid namespace that these were opened in; what runs outside it is not seen.
 */
#ifndef XR_TARGET_LINUX_PROC_EVENTS_H
#define XR_TARGET_LINUX_PROC_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

struct proc_events;

/* Whom to tell; called from proc_events__read. */
struct proc_events_sink {
	/* @pid mapped a file that may hold R: libR.so, or a program with R's variables in it */
	void (*mapped)(void *arg, pid_t pid);
	/*
	 * @pid runs a program, @file, that was not met before: if R is in it (ASK_PROGRAM,
	 * target/ask.h), proc_events__learn() is to be called, and @pid is one of those above
	 */
	void (*program)(void *arg, pid_t pid, uint64_t file);
	/* @parent forked @child (a process, not a thread), at @time of perf's clock; NULL: not
	 * wanted */
	void (*forked)(void *arg, uint64_t time, pid_t parent, pid_t child);
	/* the first thread of @pid has ended; NULL: not wanted */
	void (*exited)(void *arg, uint64_t time, pid_t pid);
	void *arg;
};

/*
 * proc_events__open - an event on each CPU that is online, now or later.  @sink is copied. -EACCES,
 * -EPERM: not allowed; or whatever perf_event_open() and mmap() fail with.
 */
int proc_events__open(struct proc_events **out, const struct proc_events_sink *sink,
		      struct errmsg *f);

/* proc_events__fd - becomes readable when there is something to read; is not the caller's to close.
 */
int proc_events__fd(const struct proc_events *e);

/*
 * proc_events__read - act on all records there are.  Forks and exits are reported in no order
 * between CPUs, but all forks that led to a mapping are reported before it.  Returns whether
 * records were lost since the last call: then processes may have been missed, and /proc must be
 * scanned (target__each()).
 */
bool proc_events__read(struct proc_events *e);

/* proc_events__learn - is R in the program @file?  `mapped` reports processes that run it later. */
void proc_events__learn(struct proc_events *e, uint64_t file, bool holds_r);

void proc_events__close(struct proc_events *e); /* NULL is allowed */

#endif
