/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why the kernel refuses something to this process, and what to do about it: one reason, found by
 * asking the kernel for each in turn.  What is the kernel's to say otherwise is an errno alone.
 */
#ifndef XR_OS_LINUX_REFUSAL_H
#define XR_OS_LINUX_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/errmsg.h"

/* What may be refused: by a seccomp filter, a namespace, for want of a capability. */
enum refusal_call {
	REFUSAL_BPF,	/* bpf(2) */
	REFUSAL_EVENTS, /* perf_event_open(2) */
	REFUSAL_PROBE,	/* the same, for a place in a file */
	REFUSAL_PTRACE, /* ptrace(2) */
	REFUSAL_READ,	/* process_vm_readv(2), and what /proc has of a process */
	REFUSAL_FILE,	/* to open the program that a process runs */
	REFUSAL_MAPPED, /* to open a file by where it is mapped */
};

/*
 * refusal__filtered - does a seccomp filter refuse the system call of @call, whatever its
 * arguments?
 */
bool refusal__filtered(enum refusal_call call);

/* refusal__is - is @err of @call a refusal, and not that this kernel has no such call? */
bool refusal__is(enum refusal_call call, int err);

/*
 * refusal__call - why one of the first three is refused, for the end of a message: "REASON;
 * ADVICE".  Returns @text's text.
 */
const char *refusal__call(enum refusal_call call, struct errmsg *text);

/* refusal__target - the same for the others, which are of process @pid. */
const char *refusal__target(enum refusal_call call, pid_t pid, struct errmsg *text);

/*
 * refusal__hidden - does process @pid exist, though /proc does not show it?  Then @text gets the
 * reason.
 */
bool refusal__hidden(pid_t pid, struct errmsg *text);

/* refusal__in_namespace - is this process in a user namespace that is not the first one? */
bool refusal__in_namespace(void);

/* refusal__lockdown - does the kernel's lockdown keep BPF programs from reading memory? */
bool refusal__lockdown(void);

#endif
