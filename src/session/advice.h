/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a user should know about the profile: processes that mostly waited, code without source
 * references, variables of R that are not available (verify_hidden.h), and releases of R that are
 * not in the table of layouts.  The first few processes have a line each, the others are counted.
 */
#ifndef XR_SESSION_ADVICE_H
#define XR_SESSION_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/stats.h"
#include "session/notes.h"
#include "session/processes.h"
#include "target/layout_check.h"

#define LINELESS_SAMPLES 100u /* without any line, before the advice: a second of CPU at 99 Hz */
#define ADVICE_UNLISTED	 16u

/* Starts as { 0 }. */
struct verdict {
	uint32_t processes, waited, said;
	uint64_t cpu_ns; /* used by all of them while they were profiled */
};

/* Starts as { .notes = ... }. */
struct advice {
	const struct notes *notes; /* borrowed */
	struct verdict verdict;
	uint32_t lineless;		    /* processes that were advised of source references */
	uint64_t unlisted[ADVICE_UNLISTED]; /* hashes: each R without a layout that was printed */
	size_t nunlisted;
	struct hidden_stats hidden; /* of those that have ended */
};

/*
 * verdict__add - a process whose profile is complete.  @named: the user asked for it, so it may
 * have a line.
 */
void verdict__add(struct verdict *v, const struct notes *notes, const struct cpu_use *u,
		  uint32_t pid, const char *comm, bool named);

/* verdict__end - one line for those that had none. */
void verdict__end(const struct verdict *v, const struct notes *notes);

/* advice__lines - after a sample of @p, for which lines are wanted. */
void advice__lines(struct advice *a, struct process *p, const struct stack *stack);

/* advice__lines_end - the profile of @p is complete. */
void advice__lines_end(struct advice *a, struct process *p);

/* advice__unlisted - @p has an R that is not in the table; @found fits.  @lines: are wanted. */
void advice__unlisted(struct advice *a, const struct process *p, const struct layout_found *found,
		      bool lines);

/*
 * advice__hidden - print which variables are missing of @p, which is sampled; each thing once.
 * @by_code: the engine knows where a sample's thread executes.
 */
void advice__hidden(const struct advice *a, struct process *p, bool by_code);

/* advice__unproven - a sample of @p came without its innermost line. */
void advice__unproven(const struct advice *a, struct process *p);

/*
 * advice__count_hidden - add @p, which was profiled, to @s.  @settled: not where a variable may
 * still be proven.
 */
void advice__count_hidden(const struct process *p, bool by_code, bool settled,
			  struct hidden_stats *s);

#endif
