/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `top` knows: processes, functions and stacks, and how much of each was seen in the last
 * seconds and since it began to count.  It is a sink; nothing here draws.
 *
 * What it takes has a limit.  When stacks do not fit any more, counting restarts.
 */
#ifndef XR_CMD_LINUX_TOP_MODEL_H
#define XR_CMD_LINUX_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "profile/function_table.h"
#include "profile/sink.h"
#include "session/processes.h"

#define TOP_WINDOW_MAX 60u /* seconds */

/* A process that is profiled, or was a window ago. */
struct top_process {
	uint32_t serial, pid;
	char comm[XR_COMM_LEN]; /* as it came */
	char *command;		/* as it came; NULL: not known (top_model__command) */
	bool ended;
	uint64_t samples; /* since counting began; a tick is one */
	uint64_t recent;  /* ticks in the window */
	struct cpu_use use;
	double cpu;    /* of one CPU, in the last second; 0 to 1, more with threads */
	uint64_t seen; /* ns, when its last sample came, or it ended */
};

/* What is counted. */
struct top_scope {
	bool since;	 /* all since counting began, not the window alone */
	bool fold;	 /* wrappers (profile/fold.h) have no total beside self */
	bool merge;	 /* callers that call themselves are one (profile/fold.h) */
	uint32_t serial; /* of this process alone; 0: of all */
	uint32_t type;	 /* which sample type */
};

struct top_model;

/* top_model__new - @memory: bytes for names and stacks; @window: seconds.  -ENOMEM. */
int top_model__new(struct top_model **out, size_t memory, uint32_t window);
void top_model__free(struct top_model *m); /* NULL is allowed */

/* top_model__sink - samples go there; what ends a session fails it with a line. */
struct sink top_model__sink(struct top_model *m);

/*
 * top_model__advance - time has come to @now (os__now()): close the second that is over, if one is,
 * and look at what the processes use.  Returns whether one was.
 */
bool top_model__advance(struct top_model *m, uint64_t now);

/* top_model__close - close the second that is not over: no other follows. */
void top_model__close(struct top_model *m, uint64_t now);

/* top_model__due - ms until there is something to advance, at most @max. */
uint32_t top_model__due(const struct top_model *m, uint64_t now, uint32_t max);

/* top_model__command - the command line of process @pid, of which it was not known.  -ENOMEM. */
int top_model__command(struct top_model *m, uint32_t pid, const char *text);

/* top_model__reset - counting restarts. */
void top_model__reset(struct top_model *m);

/*
 * top_model__count - have functions counted in @scope: up to the last second that was closed.
 * Returns all of it, in the unit of its sample type, as all counts are.
 */
uint64_t top_model__count(struct top_model *m, const struct top_scope *scope);

/* Borrowed until the next call that is not a question.  Counts are those of top_model__count. */
const struct function_row *top_model__functions(const struct top_model *m, size_t *n);
const struct top_process *top_model__processes(const struct top_model *m, size_t *n);

/* What is known of the profile: valid once it began, engine is NULL before. */
const struct profile_about *top_model__about(const struct top_model *m);

/*
 * top_model__next_type - the sample type after @type that there is, or the first, if any.
 * top_model__find_type - the one of that name; PROFILE_TYPES_MAX: there is none.
 */
uint32_t top_model__next_type(const struct top_model *m, uint32_t type);
uint32_t top_model__find_type(const struct top_model *m, const char *name);

/* top_model__seconds - that have been counted: of the window, or @since counting began. */
double top_model__seconds(const struct top_model *m, bool since);

/* top_model__restarts - how often counting restarted because memory was full. */
uint32_t top_model__restarts(const struct top_model *m);

/* top_model__verdict - append the advice about processes that mostly wait, if any.  -ENOMEM.
 */
int top_model__verdict(const struct top_model *m, struct buf *b);

/*
 * top_model__each - call @seen for each stack that has samples in @scope, perhaps more than once,
 * without wrappers if @scope folds them.  It is borrowed for the call.  Stops when @seen returns
 * other than 0, and returns that; -ENOMEM.
 */
typedef int (*top_model__seen)(void *arg, const struct stack *stack, uint64_t samples);
int top_model__each(struct top_model *m, const struct top_scope *scope, top_model__seen seen,
		    void *arg);

/* top_model__function - the index of the function of a frame of these stacks.  -ENOSPC, -ENOMEM. */
long top_model__function(struct top_model *m, const struct frame *frame);

#endif
