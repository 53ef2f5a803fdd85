/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that did not answer (ask.h), which are not asked again for a while.  If a user has too
 * many of those, none of that user's processes is asked.
 */
#ifndef XR_TARGET_LINUX_SILENT_H
#define XR_TARGET_LINUX_SILENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "target/ask.h"

struct silent {
	pid_t pid;
	uint64_t start_time, stack; /* as struct proc: which process and program it was */
	uint32_t uid;
	int fd;		   /* the worker that waits for it still; -1: it has ended */
	uint64_t ended_at; /* when that was seen; ns, CLOCK_MONOTONIC */
	bool told;	   /* that others of this user are not asked */
};

/* Starts as { 0 }, freed by silents__free. */
struct silents {
	struct silent list[ASK_ALL_MAX];
	size_t n;
	uint64_t total; /* that ever were */
};

/*
 * silents__allow - may @pid be asked now?  0; -ETIMEDOUT it did not answer before; -EBUSY too many
 * did not.  *@quiet: the same was reported already.
 */
int silents__allow(struct silents *s, pid_t pid, bool *quiet, struct errmsg *f);

/*
 * silents__add - @pid did not answer; fill @f with that.  @fd: hung up when the worker that waits
 * for it has ended; from now on theirs.
 */
void silents__add(struct silents *s, pid_t pid, int fd, uint64_t now, struct errmsg *f);

/* silents__tend - forget those whose time is over. */
void silents__tend(struct silents *s, uint64_t now);

void silents__free(struct silents *s);

#endif
