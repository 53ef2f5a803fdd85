/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of a session, by the serial of their row.
 */
#ifndef XR_SESSION_PROCESSES_H
#define XR_SESSION_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "os/proc_handle.h"
#include "target/hidden_check.h"
#include "target/target.h"

enum process_state {
	PROCESS_WAITING, /* R is looked for, again and again */
	PROCESS_FOUND,	 /* it was, but the engine is not open yet */
	PROCESS_SAMPLED, /* the engine has its row */
	PROCESS_ENDED,	 /* no more samples are taken; some may still be on their way */
};

struct process {
	struct process *next; /* in its bucket */
	uint32_t serial, parent_serial;
	uint32_t pid, parent_pid;
	enum process_state state;
	bool asked;	     /* named by the user, or the command */
	bool counted;	     /* in stats.processes */
	bool execed, exited; /* the engine said so; session__settle acts on it */
	uint8_t drained;     /* polls since it ended */
	bool undecided;	     /* `target` is filled, but its layout could not be checked yet */
	bool mine;	     /* `target` is filled: its row was given by us, not by the kernel */
	struct proc_handle handle;
	/* PROCESS_WAITING; ns, CLOCK_MONOTONIC; give_up_at 0: never */
	uint64_t since, retry_at, give_up_at;
	uint64_t looked; /* when R was last seen not to be initialised; 0: never */
	char comm[XR_COMM_LEN];
	struct target target;
	/* --lines, --gc: whether R's hidden variables are what they were taken for */
	bool checking; /* not known yet: verify_hidden.c looks now and then */
	struct hidden_check check;
	uint64_t gc_at, gc_count_at; /* target.row has them once they are proven */
	uint64_t checked_at;	     /* ns, CLOCK_MONOTONIC */
};

#define PROCESS_BUCKETS 1024u

struct processes {
	struct process *bucket[PROCESS_BUCKETS];
	size_t count;
	uint32_t last_serial;
};

/*
 * processes__add - a new process; @serial 0 gives it the next serial of ours (bit 31 clear).
 * NULL: out of memory.
 */
struct process *processes__add(struct processes *ps, uint32_t serial, uint32_t pid);
struct process *processes__find(const struct processes *ps, uint32_t serial);
/* processes__find_pid - the one of that pid that has not ended, or NULL. */
struct process *processes__find_pid(const struct processes *ps, uint32_t pid);
/* processes__remove - and free. */
void processes__remove(struct processes *ps, struct process *p);

/*
 * processes__next - walk through all: start with NULL, ends with NULL.  The one returned last may
 * be removed only after the next was taken; others must not be removed meanwhile.
 */
struct process *processes__next(const struct processes *ps, const struct process *p);

/* process__watch - from now on process__gone costs one poll(2), where the system has handles. */
void process__watch(struct process *p);
void process__unwatch(struct process *p);
/* process__gone - has it exited? */
bool process__gone(const struct process *p);

#endif
