/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter in the kernel (seccomp) limits the system calls of a process of `serve`, and of all that
 * it forks, for good.
 *
 * Calls that a process of its role makes are allowed, and those by which the C library or another
 * machine does the same (sandbox_calls.h).  Calls that only an attacker has a use for end the
 * process by SIGSYS, which the kernel's audit log shows: to execute a program, to trace another
 * process or write to it, to load modules, to mount, and in the front to use BPF.  All others fail
 * as if the kernel did not know them (ENOSYS), so that a newer C library does what it does on an
 * older kernel.
 */
#ifndef XR_OS_LINUX_SANDBOX_H
#define XR_OS_LINUX_SANDBOX_H

#include "base/errmsg.h"

enum sandbox_role {
	/* All of the service: what samples, and what it forks.  Nothing of the following is lost.
	 */
	SANDBOX_SERVICE,
	/* Writes its directory, sends and listens. */
	SANDBOX_FRONT,
};

/*
 * sandbox__enter - 0; negative errno, @f filled: the kernel has no filters, or does not allow any
 * here.  Then all is as it was, and the caller may go on without.  It sets no_new_privs.
 */
int sandbox__enter(enum sandbox_role role, struct errmsg *f);

#endif
