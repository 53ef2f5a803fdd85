/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes and all that descend from them, for --subprocesses: a child belongs to the family for
 * good, also when its parent ends first and it is given to another (`command &`, setsid).
 *
 * Fed with forks and exits and their times (any clock, the same for all), in any order between two
 * calls of family__settle: the kernel keeps them in one ring per CPU.  Starts as { 0 }, freed by
 * family__free.
 */
#ifndef XR_FAMILY_H
#define XR_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "map.h"

struct family_event;

struct family {
	struct map members; /* pid to time of fork */
	/* not acted on yet: forks by a parent that is no member so far, and exits */
	struct family_event *events;
	size_t nevents, room;
};

/* family__add - @pid, which runs already, belongs to it.  -ENOMEM. */
int family__add(struct family *f, pid_t pid);

/* family__has - does it?  Takes all forks told so far into account. */
bool family__has(struct family *f, pid_t pid);

/* family__forked, family__exited - what became of processes, members or not.  -ENOMEM. */
int family__forked(struct family *f, uint64_t time, pid_t parent, pid_t child);
int family__exited(struct family *f, uint64_t time, pid_t pid);

/*
 * family__settle - everything up to now was told: those that exited are members no more, and forks
 * by others are forgotten.
 */
void family__settle(struct family *f);

void family__free(struct family *f);

#endif
