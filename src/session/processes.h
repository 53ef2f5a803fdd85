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
#include "os/proc.h"
#include "profile/allocated.h"
#include "session/description.h"
#include "session/lineless.h"
#include "session/native/native.h"
#include "session/outcome.h"
#include "session/reader.h"
#include "session/use.h"
#include "session/verify_hidden.h"
#include "target/target.h"

enum process_state {
	PROCESS_WAITING, /* R is looked for, again and again */
	PROCESS_FOUND,	 /* it was; the engine is not open, or its row is about to be completed */
	PROCESS_SAMPLED, /* the engine has its row */
	PROCESS_ENDED,	 /* no more samples are taken; some may still be on their way */
};

struct process {
	struct process *next; /* in its bucket */
	uint32_t serial, parent_serial;
	uint32_t pid, parent_pid;
	enum process_state state;
	enum process_origin origin;
	bool counted;	     /* in the session's count of processes */
	bool execed, exited; /* the engine said so; lifecycle__settle acts on it */
	bool refused;	     /* the caller may not look at it: what was sampled is thrown away */
	bool reduced;	     /* its samples get a smaller budget, and that was printed */
	uint8_t drained;     /* polls since it ended */
	bool asked;	     /* something of it was asked (ask.h), and not answered yet */
	bool looked;	     /* R was looked for in it at least once */
	bool undecided;	     /* `target` is filled, but its layout could not be checked yet */
	bool mine;	     /* `target` is filled: its row was given by us, not by the kernel */
	bool inherited;	     /* not mine, but `target` is filled, with what holds for its parent */
	struct proc_handle handle;
	/* times in ns, CLOCK_MONOTONIC */
	uint64_t same_at;      /* without a handle: it was last seen to be the same process */
	uint64_t since;	       /* it was first looked at */
	uint64_t asked_at;     /* something of it was asked last */
	uint64_t retry_at;     /* PROCESS_WAITING: when to look again */
	uint64_t not_begun_at; /* when R was last seen not to be initialised; 0: never */
	char comm[XR_COMM_LEN];
	char container[PROC_CONTAINER_LEN]; /* an id; "": none */
	uint64_t started;		    /* ns since 1970; 0: not known, or not wanted */
	struct description *described;	    /* NULL: not yet, or not wanted */
	uint64_t wait_owed;		    /* ns of waiting that were not a whole tick yet */
	struct allocated allocated;
	struct use use;
	struct reader reader;
	struct lineless lineless;
	struct native_process native;
	struct target target;
	struct hidden_proof hidden; /* of `target` */
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

/* process__named - is it there because the user asked for it, and not found? */
static inline bool process__named(const struct process *p)
{
	return p->origin == PROCESS_NAMED || p->origin == PROCESS_WORKLOAD;
}

/* process__hold - from now on process__gone costs one poll(2), where the system has handles. */
void process__hold(struct process *p);
void process__release(struct process *p);
/* process__gone - has it exited?  Where there is no handle, a pid that was used again is noticed
 * within a second. */
bool process__gone(struct process *p, uint64_t now);

#endif
