/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is Linux's alone of os/rights.h. */
#ifndef XR_OS_LINUX_RIGHTS_H
#define XR_OS_LINUX_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "os/rights.h"

/* Whose rights over a target count. */
enum rights_whose {
	RIGHTS_PROCESS, /* those of this process, which its caller gave it: root's, say */
	RIGHTS_CALLER,	/* the caller's: the program has more than he */
	RIGHTS_GROUP, /* the program has more, and is for a group that may look at every process */
};

/* rights__whose - RIGHTS_GROUP: *@gid is set, if it is not NULL, to the group's. */
enum rights_whose rights__whose(gid_t *gid);

/*
 * rights__events_restricted - does perf_event_open(2) ask for CAP_SYS_ADMIN?  The kernels of Debian
 * and others have a setting kernel.perf_event_paranoid above 2, where CAP_PERFMON is not enough
 * (their patch of kernel/events/core.c).
 */
bool rights__events_restricted(void);

/* rights__ptrace_scope - kernel.yama.ptrace_scope (Documentation/admin-guide/LSM/Yama.rst), or 0.
 */
unsigned int rights__ptrace_scope(void);

/*
 * rights__permitted, rights__effective - bit N for capability N (linux/capability.h), with those
 * that CAP_SYS_ADMIN stands in for.
 */
uint64_t rights__permitted(void);
uint64_t rights__effective(void);

/*
 * rights__borrow - raise what reading the memory of @pid needs where a rule of the system's, not
 * its owner, is against it (Yama): CAP_SYS_PTRACE, when the kernel lets the caller look at the
 * process. false: no, or there is nothing to raise.  rights__return() lowers it, and says whether
 * it is still the same program that was looked at: if not, what was read is to be forgotten.
 */
struct rights_loan {
	pid_t pid;
	uint64_t start_time, stack; /* which program it is: struct proc */
};

bool rights__borrow(pid_t pid, struct rights_loan *loan);
bool rights__return(const struct rights_loan *loan);

#endif
