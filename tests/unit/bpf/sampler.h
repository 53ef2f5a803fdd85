/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs (bpf/sampler.bpf.c) compiled for this machine, over a kernel that sampler.c
 * makes up: helpers, maps, and the task that a program interrupts.
 */
#ifndef XR_TEST_SAMPLER_H
#define XR_TEST_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

/* A thread. */
struct kernel_task {
	uint32_t pid, tid;
	uint64_t start_ns; /* of its process, since boot */
	bool exiting;
	bool no_memory, in_exec;    /* it has none any more; it is between two */
	uint32_t threads;	    /* of its process */
	uint64_t sp, top;	    /* of its stack */
	uint32_t state;		    /* as of `__state` */
	int64_t syscall;	    /* negative: none */
	bool off;		    /* it is on no CPU */
	struct kernel_task *leader; /* NULL: it is one */
	void *task;		    /* the kernel's, made when it is needed */
};

struct kernel {
	int (*read)(void *arg, void *to, uint32_t len, uint64_t addr); /* user memory; negative */
	void *arg;
	uint64_t now, pace; /* ns; by how much it goes on at each look */
	uint32_t random;
	size_t room; /* bytes of records that the ring takes more */
};

extern struct kernel kernel;

/* What the loader sets; @bits: that a CPU's number takes. */
void kernel__collections(void);
void kernel__cpu_bits(uint32_t bits);

/* Is the working memory of all levels in use? */
void kernel__busy(bool busy);

/* The thread that runs now. */
void kernel__runs(struct kernel_task *t);

/* The programs, of the thread that runs.  A tick; it leaves its CPU for @next; it is back. */
void kernel__tick(void);
void kernel__switch(struct kernel_task *next, bool preempted);
void kernel__back(void);
void kernel__fork(struct kernel_task *child);
void kernel__exec(void);
void kernel__exit(void);

/* The map of rows. */
void kernel__put(const struct xr_row *row);
struct xr_row *kernel__row(uint32_t pid);

/* An entry for @tid in the map `waits_told`, as user space makes it: the wait of @since counts to
 * @until. */
const struct xr_wait_told *kernel__tell(uint32_t tid, uint64_t since, uint64_t until);

/* A counter of all levels. */
uint64_t kernel__count(uint32_t which);

/* The next record of the ring; NULL: there is none. */
const struct xr_head *kernel__record(void);

#endif
