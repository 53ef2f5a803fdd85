/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which thread of a process runs R, and whether it runs: from /proc, without stopping it.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_THREAD_H
#define XR_ENGINE_REMOTE_LINUX_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/remote/linux/alarm.h"

struct remote_thread {
	pid_t pid, tid;
	bool proven; /* tid is R's thread; otherwise it is taken to be the first one */
	/* its stack is [low, high); 0, 0: there is no other thread; 0, 1: it is not known */
	uint64_t low, high;
	int stat_fd;	    /* /proc/PID/task/TID/stat, -1: not open */
	int runs_fd;	    /* schedstat or status there, -1: not open */
	bool runs_sum;	    /* runs_fd is status: the switches must be added up */
	int cpu_fd;	    /* a counter of its CPU time, -1: none */
	int cpu_err;	    /* why not: a negative errno; 0: it was not asked for yet */
	struct alarm alarm; /* that stops it */
};

/* What a thread is doing. */
struct remote_state {
	uint32_t threads; /* of its process */
	char state;	  /* as in /proc/PID/stat: 'R', 'S', 'D', 'T', 't', 'Z', ... */
	uint64_t runs;	  /* how often it was put on a CPU; while it is not on one this stays */
};

/* remote_thread__open - for process @pid.  -ESRCH, -EACCES; afterwards remote_thread__close. */
int remote_thread__open(struct remote_thread *t, pid_t pid);

/* remote_thread__of - thread @tid of process @pid alone, whichever R runs on.  As that. */
int remote_thread__of(struct remote_thread *t, pid_t pid, pid_t tid);
void remote_thread__close(struct remote_thread *t);

/*
 * remote_thread__look - -ESRCH: the process ends.  If R's thread did, or it was the only one and is
 * no more, R's is not known from then on.
 */
int remote_thread__look(struct remote_thread *t, struct remote_state *look);

/* remote_thread__ending - it is on its way out or gone, and its memory with it. */
bool remote_thread__ending(const struct remote_thread *t);

/*
 * remote_thread__cpu_time - CPU time it has used since this was first called, ns, up to this very
 * moment.  Else why it is unknown: -EACCES, -ENOSYS, ... of perf_event_open().
 */
int remote_thread__cpu_time(struct remote_thread *t, uint64_t *ns);

/*
 * remote_thread__prove - R runs elsewhere: find the thread that has one of @keys on its stack
 * (remote_walk__keys()).  Sets t->proven: whether there is one.
 */
void remote_thread__prove(struct remote_thread *t, const uint64_t *keys, uint32_t n);

/*
 * remote_thread__waits - where a thread that is on no CPU waits in the kernel: the instruction it
 * returns to and its stack pointer.  -ESRCH: it runs, or that is hidden.
 */
int remote_thread__waits(const struct remote_thread *t, uint64_t *pc, uint64_t *sp);

/* remote_thread__top - about where the stack of thread @tid ends; 0: not known. */
uint64_t remote_thread__top(pid_t tid);

/* remote_thread__pc_mask - the bits of a return address that are the address. */
uint64_t remote_thread__pc_mask(void);

/* remote_thread__tracer - the process that traces thread @tid of @pid (a debugger); 0: none. */
pid_t remote_thread__tracer(pid_t pid, pid_t tid);

#endif
