/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much CPU time processes used while they were profiled, and what is to be said of those that
 * mostly waited: their profile of CPU time says little.
 */
#ifndef XR_SESSION_USE_H
#define XR_SESSION_USE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/notes.h"

/* Of one process.  Starts as { 0 }.  Times in ns; CPU time since the process began. */
struct use {
	uint64_t since;	 /* CLOCK_MONOTONIC, when it was looked at first; 0: never */
	uint64_t before; /* what it had used by then */
	uint64_t at;	 /* when it was looked at last, */
	uint64_t cpu;	 /* and what it had used */
	bool stopped;	 /* and was it stopped, by a signal or a debugger? */
};

/* use__look - at process @pid now, @now: os__now().  Of one that has ended the last look stays. */
void use__look(struct use *u, pid_t pid, uint64_t now);

/*
 * use__due - is it time for another look, among @processes?  Some dozens are made a second at most,
 * and of one that was there for long one in ten seconds.
 */
bool use__due(const struct use *u, uint64_t now, size_t processes);

/* use__elapsed, use__cpu - ns between the first look and the last, and CPU time used in them. */
static inline uint64_t use__elapsed(const struct use *u)
{
	return u->at - u->since;
}

static inline uint64_t use__cpu(const struct use *u)
{
	return u->cpu > u->before ? u->cpu - u->before : 0;
}

/* use__waited - was it looked at long enough to say that it was off the CPU nearly all the time? */
bool use__waited(const struct use *u);

#define VERDICT_SAID 3u /* processes that have a line each */

/* What is said of all at the end.  Starts as { 0 }. */
struct verdict {
	uint32_t processes, waited, said;
	uint64_t cpu_ns; /* used by all of them while they were profiled */
};

/*
 * verdict__add - a process whose profile is complete.  @named: the user asked for it, so it may
 * have a line of its own.
 */
void verdict__add(struct verdict *v, const struct notes *notes, const struct use *u, uint32_t pid,
		  const char *comm, bool named);

/* verdict__end - one line for those that had none. */
void verdict__end(const struct verdict *v, const struct notes *notes);

#endif
