/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of a session by the serial of their row, and what is known of each: how long it
 * used a CPU, who may read its sources, its labels, and what a failure to find R in it means.
 * Times are ns, CLOCK_MONOTONIC.
 */
#ifndef XR_SESSION_PROCESSES_H
#define XR_SESSION_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi.h"
#include "os/proc.h"
#include "os/proc_handle.h"
#include "profile/allocated.h"
#include "profile/calls.h"
#include "profile/profile.h"
#include "session/native.h"
#include "session/verify_hidden.h"
#include "target/describe.h"
#include "target/target.h"

/* --- CPU time --- */

/* The CPU time of one process since it began.  Starts as { 0 }. */
struct cpu_use {
	uint64_t since;	 /* when it was read first; 0: never */
	uint64_t before; /* what it was then, ns */
	uint64_t at;	 /* when it was read last, */
	uint64_t cpu;	 /* and what it was, ns */
	bool stopped;	 /* was the process stopped then, by a signal or a debugger? */
};

/* cpu_use__look - read it of @pid, @now: os__now().  After its end the last values stay. */
void cpu_use__look(struct cpu_use *u, pid_t pid, uint64_t now);

/*
 * cpu_use__due - is it time to read it again, among @processes?  Some dozens are read a second at
 * most, and a process that exists for long every ten seconds.
 */
bool cpu_use__due(const struct cpu_use *u, uint64_t now, size_t processes);

/* cpu_use__elapsed, cpu_use__used - ns between the first look and the last; CPU time in them. */
static inline uint64_t cpu_use__elapsed(const struct cpu_use *u)
{
	return u->at - u->since;
}

static inline uint64_t cpu_use__used(const struct cpu_use *u)
{
	return u->cpu > u->before ? u->cpu - u->before : 0;
}

/* --- who may read its sources --- */

/*
 * For which user the source files that a process names may be read, and in which directory
 * (os/texts.h).  No file is read for a process that changed its user or sees other files than this
 * program.  Starts as { 0 }; freed by source_rights__end.
 */
struct source_rights {
	char *directory; /* NULL: no file is read */
	uint32_t uid;
	bool looked;
};

/*
 * source_rights__look - at process @pid, again and again.  @forked: it was forked while it was
 * profiled.  Root's children drop root's privileges before they serve a client, so no file is read
 * for those that are root's.
 */
void source_rights__look(struct source_rights *r, pid_t pid, bool forked);
void source_rights__end(struct source_rights *r);

/* --- its description --- */

/* Command and labels (target/describe.h), shared by a process and the children that it forks. */
struct description {
	unsigned int holders;
	const char *command; /* "": not known */
	struct profile_label labels[DESCRIBE_LABELS + 1];
	size_t nlabels;
	char text[]; /* of all these */
};

/*
 * description__new - from what describe__make made, the first @size bytes of @text.  They come
 * from the worker that looked at a stranger, so any bytes are accepted.  Held once.  NULL: out of
 * memory.
 */
struct description *description__new(const char *text, size_t size);

/* description__hold, description__drop - one holder more or less; NULL is allowed. */
struct description *description__hold(struct description *d);
void description__drop(struct description *d);

/* --- the table --- */

enum process_state {
	PROCESS_WAITING, /* R is looked for, again and again */
	PROCESS_FOUND,	 /* it was; the engine is not open, or its row is about to be completed */
	PROCESS_SAMPLED, /* the engine has its row */
	PROCESS_ENDED,	 /* no more samples are taken; some may still be on their way */
};

/* How the session met a process: how much is known of it, and how long to be patient. */
enum process_origin {
	PROCESS_NAMED,	  /* the user named it */
	PROCESS_WORKLOAD, /* it runs, or is about to become, what is to be profiled */
	PROCESS_SEEN,	  /* R was seen in it, perhaps while it was just being mapped */
	PROCESS_REPLACED, /* an R that was profiled became this by exec */
	PROCESS_FORKED,	  /* the engine reported it: its row is a copy of its parent's */
};

struct process {
	struct process *next; /* in its bucket */
	uint32_t serial, parent_serial;
	uint32_t pid, parent_pid;
	enum process_state state;
	enum process_origin origin;
	bool counted;	     /* in the session's count of processes */
	uint64_t ended_at;   /* by its record of exit or exec; 0: there was none */
	bool execed, exited; /* as the engine reported; lifecycle__settle acts on it */
	bool refused;	     /* the caller may not look at it: what was sampled is thrown away */
	bool reduced;	     /* its samples get a smaller budget, and that was printed */
	uint8_t drained;     /* polls since it ended */
	bool asked;	     /* a question about it (ask.h) was not answered yet */
	bool hinted;	     /* R was seen in it since that was asked */
	bool looked;	     /* R was looked for in it at least once */
	bool undecided;	     /* `target` is filled, but its layout could not be checked yet */
	bool mine;	     /* `target` is filled: its row was given by us, not by the kernel */
	bool inherited;	     /* not mine, but `target` is filled, with what holds for its parent */
	struct proc_handle handle;
	uint64_t same_at;      /* without a handle: it was last seen to be the same process */
	uint64_t since;	       /* it was first looked at */
	uint64_t failing;      /* since when each look found it damaged, or was short of something;
				  0: the last did not */
	uint64_t asked_at;     /* when the last question about it was asked */
	uint64_t retry_at;     /* PROCESS_WAITING: when to look again */
	uint64_t not_begun_at; /* when R was last seen not to be initialised; 0: never */
	char comm[XR_COMM_LEN];
	char container[PROC_CONTAINER_LEN]; /* an id; "": none */
	uint64_t started;		    /* ns since 1970; 0: not known, or not wanted */
	struct description *described;	    /* NULL: not yet, or not wanted */
	uint64_t wait_owed;		    /* ns of waiting that were not a whole tick yet */
	struct allocated allocated;
	struct call_track *calls;
	struct cpu_use use;
	struct source_rights sources;
	/* samples that had R functions and no line, before the first sample with a line */
	uint32_t without_lines;
	bool lines_settled; /* a line was seen, or the user was advised */
	struct native_process native;
	struct target target;
	struct hidden_proof hidden; /* of `target` */
	/* its option for labels (target/labels.h): when it was looked for last, 0: never; how
	 * often, since it was last found; whether there was a sample since; and whether this R's
	 * options cannot be found */
	uint64_t labels_at;
	uint32_t labels_looks;
	bool labels_ran, labels_never;
	bool labels_asked;   /* an ASK_LABELS is not answered yet */
	uint64_t symbols_at; /* what it said: `at` of that; 0: not known */
};

#define PROCESS_BUCKETS 1024u

struct processes {
	struct process *bucket[PROCESS_BUCKETS];
	size_t count;
	uint32_t last_serial;
};

/*
 * processes__symbols - may @p be asked for its labels now?  To find R's table of symbols takes
 * 100 ms of CPU time, and it has the same place in all processes of one file: where one of them
 * told it, @p gets its `symbols_at`; while one is asked, @p waits.
 */
bool processes__symbols(const struct processes *all, struct process *p);

/*
 * processes__labels_rest - ns from a look for the option for labels of @p to the next: a second,
 * more if there are many processes, and up to ten if many looks did not find it.
 */
uint64_t processes__labels_rest(const struct processes *all, const struct process *p);

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

/* process__named - did the user ask for it?  Otherwise it was found. */
static inline bool process__named(const struct process *p)
{
	return p->origin == PROCESS_NAMED || p->origin == PROCESS_WORKLOAD;
}

/* process__look - update what changes of a process that is sampled. */
void process__look(struct process *p, uint64_t now);

/* process__profile - @p as the sink sees it; borrowed from it. */
struct profile_process process__profile(const struct process *p);

/* process__hold - from now on process__gone costs one poll(2), where the system has handles. */
void process__hold(struct process *p);
void process__release(struct process *p);
/* process__gone - has it exited?  Without a handle, a pid that was used again is noticed within a
 * second. */
bool process__gone(struct process *p, uint64_t now);

/* --- why R was not found in it --- */

enum outcome {
	OUTCOME_NOT_YET, /* look again */
	OUTCOME_NEVER,	 /* it cannot be profiled */
	OUTCOME_GONE,	 /* the process has ended */
};

/*
 * process__outcome - what the failure to find R in @p means, the one place that decides it.  @err:
 * of an ASK_FIND or ASK_LAYOUT (target/ask.h), not 0.  @told: the kernel reports when R appears in
 * a process.  @follow: processes that the user did not name are profiled, too.
 *
 * A process right after its exec, or while the dynamic linker maps R, looks like one that is
 * damaged or has no R in it: the first is final only after two seconds of it (R's script may have
 * run for long before), the second two seconds after the first look, and not if R was seen during
 * this look, which may have been of the program before.  The same holds, for a moment,
 * if access is denied, because an exec may be changing the user.  A failure for want of
 * descriptors or memory says nothing of the process.  No answer in time (-ETIMEDOUT) is final for
 * a process that the user named, because the user waits.  Others may answer later, as when a file
 * system responds again.  A worker that ended (-EIO) is final.
 */
enum outcome process__outcome(struct process *p, int err, bool told, bool follow, uint64_t now);

/* outcome__is_full - is @err, of the engine's add, for want of room, so that others fail too? */
bool outcome__is_full(int err);

/* outcome__matters - is @err, of a process that the user did not name, worth a line? */
bool outcome__matters(int err);

#endif
