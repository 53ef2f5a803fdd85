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
#include "base/map.h"
#include "cmd/linux/top_calls.h"
#include "profile/aggregate.h"
#include "profile/function_table.h"
#include "profile/sink.h"
#include "profile/stacks.h"
#include "session/processes.h"

#define TOP_WINDOW_MAX 60u /* seconds */

/* A process that is profiled, or was a window ago. */
struct top_process {
	uint32_t serial, pid;
	char comm[XR_COMM_LEN]; /* as it came */
	char *command;		/* as it came; NULL: not known (top_model__command) */
	bool asked;		/* for that */
	bool ended;
	uint64_t samples; /* since counting began; a tick is one */
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

/*
 * Samples are added up in an aggregate.  Once a second the rows that grew become the entries of
 * that second, and what a row means is kept beside it: the functions in its stack.
 */

/* What goes with a row of the aggregate. */
struct top_row {
	uint64_t counted; /* its value that is in seconds, */
	uint64_t samples; /* and how many samples that was */
	struct function_step *functions;
	uint32_t n;
};

struct top_entry {
	uint64_t value;
	uint32_t row;
};

struct top_second {
	struct top_entry *entries;
	size_t n, cap;
};

struct top_model {
	struct budget budget;
	struct aggregate *aggregate;
	struct function_table functions; /* counts of top_model__count */
	struct top_row *rows;		 /* of the first `nrows` of the aggregate's */
	size_t nrows, rows_cap;
	struct arena arena; /* of the rows' functions */
	struct top_second seconds[TOP_WINDOW_MAX];
	uint32_t window, at, filled; /* seconds: of the window; the newest; that are there */
	struct top_process *processes;
	size_t nprocesses, processes_cap;
	struct top_calls calls;
	struct map by_serial;	    /* (serial, 0) to the process' number, from 1 on */
	uint64_t began, second_at;  /* of counting; end of the last second; ns, 0: not yet */
	bool full;		    /* counting has to restart */
	uint32_t restarts;	    /* how often counting restarted because memory was full */
	struct profile_about about; /* engine is NULL until the profile began */
	struct errmsg why;
};

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

/*
 * top_model__next_type - the sample type after @type that there is, or the first, if any.
 * top_model__find_type - the one of that name; PROFILE_TYPES_MAX: there is none.
 */
uint32_t top_model__next_type(const struct top_model *m, uint32_t type);
uint32_t top_model__find_type(const struct top_model *m, const char *name);

/* top_model__seconds - that have been counted: of the window, or @since counting began. */
double top_model__seconds(const struct top_model *m, bool since);

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

/*
 * top_model__fold - what stays of @stack without wrappers; NULL: no memory.  @to is empty, and
 * freed afterwards.
 */
const struct stack *top_model__fold(struct stacks *to, uint64_t *last_id,
				    const struct stack *stack);

/* --- top_callers.c: who called a function, a tree as lines --- */

#define TOP_CALLERS_MAX 256u

/* A line: one function on the way from the one asked for outward. */
struct top_caller {
	uint32_t function; /* a row of the functions of the model */
	uint32_t depth;	   /* 1: it called the one asked for, 2: it called that one, ... */
	uint64_t samples;  /* that came this way */
};

/*
 * top_callers__of - those of function @function, in @scope: each caller before its own callers, the
 * heaviest first, those with less than a hundredth of the samples left out.  Of a function that
 * calls itself the outermost call counts; callers that call themselves are merged if @scope asks
 * for it.  Into @out, at most TOP_CALLERS_MAX: returns how many, or -ENOMEM.
 */
int top_callers__of(struct top_model *m, const struct top_scope *scope, uint32_t function,
		    struct top_caller *out);

#endif
