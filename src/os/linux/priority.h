/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_OS_LINUX_PRIORITY_H
#define XR_OS_LINUX_PRIORITY_H

#include <stdbool.h>

/*
 * priority__raise - have this thread be on time: a tick that comes late is a sample less, a new
 * program that is seen late is seen in part, and who holds up a thread should not be held up
 * itself.  The lowest real-time priority, else the highest of the others.  What this process
 * starts does not inherit it (SCHED_RESET_ON_FORK), and who asked for another priority keeps it.
 * Returns whether it was raised; where it is not allowed, so be it.
 */
bool priority__raise(void);

/*
 * priority__raise_for - the same until this process, not waiting, has used @ms of CPU time; then,
 * or when nothing allows it, it is as others.  Call again, which costs two system calls, when it
 * may be raised again.  SIGXCPU is this function's.  Returns whether it was raised now.
 */
bool priority__raise_for(unsigned int ms);

/* priority__lower - back to what it was before priority__raise(), if that returned true. */
void priority__lower(void);

#endif
