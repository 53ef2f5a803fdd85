/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs (bpf/sampler.bpf.c) compiled for this machine, over a kernel that sampler.c
 * makes up: helpers, maps, and the task that a program interrupts.
 */
#ifndef XR_TEST_SAMPLER_H
#define XR_TEST_SAMPLER_H

#ifndef __bpf__ /* sampler.c has the kernel's types instead */
#include <stdbool.h>
#include <stddef.h>
#endif

#include "layout.h"

/* A thread. */
struct kernel_task {
	__u32 pid, tid;
	__u64 start_ns; /* of its process, since boot */
	bool exiting;
	bool no_memory, in_exec;    /* it has none any more; it is between two */
	__u32 threads;		    /* of its process */
	__u64 sp, top;		    /* of its stack */
	__u32 state;		    /* as of `__state` */
	__s64 syscall;		    /* negative: none */
	bool off;		    /* it is on no CPU */
	struct kernel_task *leader; /* NULL: it is one */
	void *task;		    /* the kernel's, made when it is needed */
};

struct kernel {
	int (*read)(void *arg, void *to, __u32 len, __u64 addr); /* user memory; negative */
	void *arg;
	__u64 now, pace; /* ns; by how much it goes on at each look */
	__u32 random;
	__u64 room; /* bytes of records that the ring takes more */
};

extern struct kernel kernel;

/* What the loader sets. */
extern volatile bool cfg_collections;
extern volatile __u32 cfg_event, cfg_unit, cfg_cpu_bits;

/* Is the working memory of all levels in use? */
void kernel__busy(bool busy);

/* The thread that runs now. */
void kernel__runs(struct kernel_task *t);

/* The programs, of the thread that runs.  A tick; it leaves its CPU for @next; it is back. */
void kernel__tick(void);
void kernel__switch(struct kernel_task *next, bool preempted);
void kernel__back(void);
void kernel__fork(struct kernel_task *child);
void kernel__gone(bool exits); /* or it executes another program */

/* The map of rows. */
void kernel__put(const struct xr_row *row);
struct xr_row *kernel__row(__u32 pid);

/* An entry for @tid in the map `waits_told`, as user space makes it: the wait of @since counts to
 * @until. */
const struct xr_wait_told *kernel__tell(__u32 tid, __u64 since, __u64 until);

/* A counter of all levels. */
__u64 kernel__count(__u32 which);

/* The next record of the ring; NULL: there is none. */
const struct xr_head *kernel__record(void);

#endif
