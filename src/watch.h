/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watches the whole machine for processes that R appears in, by the kernel's own records: each
 * mapping of executable code (and, for families, each fork and exit) is written by perf into one
 * ring per CPU.  /proc is looked at only for a process that a record names.
 *
 * Pids are those of the pid namespace the watch was opened in; what runs outside it is not seen.
 */
#ifndef XR_WATCH_H
#define XR_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fault.h"

struct watch;

/* Whom to tell; called from watch__read. */
struct watch_sink {
	/* @pid mapped a file that may hold R: libR.so, or a program with R's variables in it */
	void (*mapped)(void *arg, pid_t pid);
	/* @parent forked @child (a process, not a thread), at @time of perf's clock; NULL: not
	 * wanted */
	void (*forked)(void *arg, uint64_t time, pid_t parent, pid_t child);
	/* the first thread of @pid has ended; NULL: not wanted */
	void (*exited)(void *arg, uint64_t time, pid_t pid);
	void *arg;
};

/*
 * watch__open - an event on each CPU that is online, now or later.  @sink is copied.  -EACCES,
 * -EPERM: not allowed; or whatever perf_event_open() and mmap() fail with.
 */
int watch__open(struct watch **out, const struct watch_sink *sink, struct fault *f);

/* watch__fd - becomes readable when there is something to read; stays the watch's own. */
int watch__fd(const struct watch *w);

/*
 * watch__read - act on all records there are.  Forks and exits are told in no order between CPUs,
 * but before a mapping is told, all forks that led to it have been.  Returns whether records were
 * lost since the last call: then processes may have been missed, and /proc must be scanned
 * (target__scan()).
 */
bool watch__read(struct watch *w);

void watch__close(struct watch *w); /* NULL is allowed */

#endif
