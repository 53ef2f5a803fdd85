/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of one process now: a session of wall time, which ends with the first sample.  So
 * `dump` knows of an R what `record` knows, and reports the same when it cannot be read.  Native
 * frames and those of other threads are what engine ptrace has of them.
 */
#ifndef XR_CMD_LINUX_DUMP_TAKE_H
#define XR_CMD_LINUX_DUMP_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "cmd/config.h"
#include "cmd/linux/dump_show.h"
#include "profile/stacks.h"

/* The native frames of a thread. */
struct dump_native {
	pid_t tid;
	bool late; /* frames may be missing because it did not stop in time */
	const struct stack *stack;
};

/* Starts zeroed.  Has the stacks of the process that was looked at last. */
struct dump_take {
	struct dump_process *now; /* what the session's sink fills */
	struct stacks stacks;
	struct sample_call *calls; /* which call each frame is */
	size_t calls_cap;
	uint64_t last_id;
	uint32_t samples;
	bool late;		     /* the newest lacks native frames, as above */
	uint64_t sampled;	     /* when the first came, ns */
	struct activity before;	     /* native frames: what the thread did before its sample */
	struct dump_native *natives; /* of threads where R executes no call */
	size_t nnatives, natives_cap;
	struct dump_thread *threads;
	size_t nthreads, threads_cap;
	struct errmsg why; /* of the sink */
};

/*
 * dump_take__process - fill @now, whose pid is given: thread, activity, stack and flags, and if
 * @threads the other threads.  0, or a negative errno with @f filled.
 */
int dump_take__process(struct dump_take *t, const struct config *c, bool threads,
		       struct dump_process *now, struct errmsg *f);
void dump_take__free(struct dump_take *t);

#endif
