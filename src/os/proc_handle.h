/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hold on one process: its end is seen by it, and a process that gets the pid afterwards is not
 * taken for it.
 */
#ifndef XR_OS_PROC_HANDLE_H
#define XR_OS_PROC_HANDLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A pidfd (Linux 5.3), or a HANDLE of Windows; PROC_HANDLE_NONE: there is none. */
struct proc_handle {
	intptr_t at;
};

#define PROC_HANDLE_NONE ((struct proc_handle){-1})

/*
 * proc_handle__open - of the process that has @pid now.  Where there is no such thing, it is not
 * allowed, or there are too many of them already, *@h is PROC_HANDLE_NONE.
 */
void proc_handle__open(struct proc_handle *h, pid_t pid);
void proc_handle__close(struct proc_handle *h);
bool proc_handle__is_open(const struct proc_handle *h);

/* proc_handle__ended - of an open one: has the process exited?  Costs one poll(2). */
bool proc_handle__ended(const struct proc_handle *h);

/* proc_handle__unused - does no process have @pid?  For where there is no handle. */
bool proc_handle__unused(pid_t pid);

#endif
