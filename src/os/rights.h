/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this process may do.  Capabilities are out of the effective set, except around the calls
 * that need them:
 *
 *	raised = rights__raise(RIGHTS_TARGET);
 *	fd = open(path, O_RDONLY);
 *	rights__lower(raised);
 *
 * Where the program has more rights than its caller (file capabilities, setuid), the rights over
 * processes and files are the caller's own: RIGHTS_TARGET and RIGHTS_FILES then raise nothing, and
 * the kernel answers as it would answer the caller (linux/rights.c).  On Windows there is nothing
 *to raise.  No state is kept here: all is asked of the kernel, so that it holds in a forked
 *process, too.
 */
#ifndef XR_OS_RIGHTS_H
#define XR_OS_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

/* What rights are for. */
enum rights_use {
	RIGHTS_TARGET = 1 << 0,	  /* look at processes: /proc/PID, their memory and files, ptrace */
	RIGHTS_EVENTS = 1 << 1,	  /* use BPF maps, open perf events */
	RIGHTS_LOAD = 1 << 2,	  /* load BPF programs */
	RIGHTS_FILES = 1 << 3,	  /* open what the caller names */
	RIGHTS_PRIORITY = 1 << 4, /* run before others */
	RIGHTS_SIGNAL = 1 << 5,	  /* signal the workload, */
	RIGHTS_KERNEL = 1 << 6,	  /* see where the kernel's functions are */
	RIGHTS_PROBES = 1 << 7,	  /* have the code of all who run a file stop at a place in it */
	RIGHTS_USER = 1 << 8,	  /* become another user before the workload is run */
};

/*
 * rights__begin - first of all in main(): descriptors 0, 1 and 2 that are closed are taken, so that
 * no file of ours gets them (reading or writing them stays EBADF); capabilities leave the effective
 * set; a setuid program becomes its caller and keeps capabilities alone.  0, or a negative errno
 * with @f filled.
 */
int rights__begin(struct errmsg *f);

/* rights__raise - for @uses (enum rights_use, or'ed).  Returns what rights__lower() is given. */
uint64_t rights__raise(unsigned int uses);
void rights__lower(uint64_t raised);

/*
 * rights__keep - give up for good what is not for @uses; from here on no program that is executed
 * gets more (no_new_privs), so a workload is forked before.
 */
void rights__keep(unsigned int uses);

/* rights__exceed - has the program more rights than its caller? */
bool rights__exceed(void);

/*
 * rights__may_look - may what runs in process @pid, which began at @start_time (struct proc), be
 * looked at?  Where the caller's own rights count the kernel is asked for them (a few
 * microseconds); elsewhere it is the kernel's to refuse each call.  0, -EACCES, or -ESRCH: it is
 * gone.
 */
int rights__may_look(pid_t pid, uint64_t start_time);

#endif
