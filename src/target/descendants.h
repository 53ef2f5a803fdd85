/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes and all that descend from them, for --subprocesses: a child stays a descendant for
 * good, also when its parent ends first and it is given to another (`command &`, setsid).
 *
 * Fed with forks and exits and their times (any clock, the same for all), in any order between two
 * calls of descendants__settle: the kernel keeps them in one ring per CPU.  Starts as { 0 }, freed
 * by descendants__free.
 */
#ifndef XR_TARGET_DESCENDANTS_H
#define XR_TARGET_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

struct descendants_event;

struct descendants {
	struct map members; /* pid to time of fork */
	/* not acted on yet: forks by a parent that is not a member so far, and exits */
	struct descendants_event *events;
	size_t nevents, room;
};

/* descendants__add - @pid, which runs already, is one of them.  -ENOMEM. */
int descendants__add(struct descendants *f, pid_t pid);

/* descendants__has - is @pid one of them?  Takes all forks told so far into account. */
bool descendants__has(struct descendants *f, pid_t pid);

/* descendants__forked, descendants__exited - what became of processes, members or not.  -ENOMEM. */
int descendants__forked(struct descendants *f, uint64_t time, pid_t parent, pid_t child);
int descendants__exited(struct descendants *f, uint64_t time, pid_t pid);

/*
 * descendants__settle - all records up to now have come: drop the members that exited, and forget
 * forks by others.
 */
void descendants__settle(struct descendants *f);

void descendants__free(struct descendants *f);

#endif
