/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread of another process does right now, as /proc tells it: whether it runs, and if not,
 * in which system call it waits.  Nothing here stops it or reads its memory.
 */
#ifndef XR_OS_LINUX_ACTIVITY_H
#define XR_OS_LINUX_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

#define ACTIVITY_FILE_MAX 256

struct activity {
	char state;	 /* as in /proc/PID/stat: 'R', 'S', 'D', 'T', 't', ...; 0: not known */
	bool waits;	 /* `syscall` and `arg` are known: it is off the CPU */
	int64_t syscall; /* the number of the system call; -1: it waits in none (a page fault) */
	uint64_t arg;	 /* its first argument */
	char wchan[64];	 /* the function of the kernel that it waits in; "": not known */
	bool input;	 /* it reads what descriptor 0 is open on */
	char file[ACTIVITY_FILE_MAX]; /* what descriptor `arg` is open on, if it is one; "" */
};

/*
 * activity__parse - from the texts of /proc/PID/task/TID/stat, syscall and wchan (proc(5)), each ""
 * where it could not be read.  They may hold anything.  `file` is left empty.
 */
void activity__parse(struct activity *a, const char *stat, const char *syscall, const char *wchan);

/*
 * activity__read - of thread @tid of process @pid.  Without the right to look at it only the state
 * is known.  -ESRCH: it is gone.
 */
int activity__read(struct activity *a, pid_t pid, pid_t tid);

/* activity__syscall - the name of its system call; NULL: none, or not known. */
const char *activity__syscall(const struct activity *a);

/*
 * activity__describe - append it in words: "running", "sleeping in pselect6", "waiting for a child
 * in wait4", "reading standard input in read".  The name of a file is as it came: escape it.
 * -ENOMEM.
 */
int activity__describe(const struct activity *a, struct buf *b);

#endif
