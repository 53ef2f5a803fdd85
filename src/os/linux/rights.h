/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this process may do, and how a user gives it the right to do more. */
#ifndef XR_OS_LINUX_RIGHTS_H
#define XR_OS_LINUX_RIGHTS_H

#include <stdint.h>

/* What a message says when a right is missing. */
#define RIGHTS_HINT "run as root or: setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep on the program"

/*
 * rights__effective - the effective capabilities, bit N for capability N (linux/capability.h), with
 * those that CAP_SYS_ADMIN stands in for.  0 also when /proc cannot be read.
 */
uint64_t rights__effective(void);

#endif
