/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An aggregate from inside; for aggregate.c and aggregate_of.c alone. */
#ifndef XR_PROFILE_AGGREGATE_PARTS_H
#define XR_PROFILE_AGGREGATE_PARTS_H

#include "base/map.h"
#include "profile/aggregate.h"
#include "profile/stacks.h"

/*
 * Rows and processes are found by numbers (index + 1, as a pointer): the arrays move.  `seen` is a
 * short cut by the ids that the samples' stacks have.
 */
struct aggregate {
	struct budget budget;
	struct aggregate_config config;
	uint64_t last_id;
	struct stacks stacks;
	struct arena arena; /* of labels and short texts */
	struct map seen;    /* (id of the sample's stack, process << 32 | kind) to the row */
	struct map index;   /* (id of our stack, process << 32 | kind) to the row */
	/* (labels and type, thread and detail), and (call, that), to a number from 1 on */
	struct map kinds;
	struct map given; /* (hash of labels, another) to struct profile_given */
	struct timeline timeline;
	struct aggregate_row *rows;
	size_t nrows, cap;
	/* (serial, 0) to its newest process; (serial, a process) to the one by the name before */
	struct map serials;
	struct profile_process *processes;
	size_t nprocesses, processes_cap;
	struct map call_ids;	     /* (id of a call, 0) to its number */
	struct profile_call **calls; /* by their number, less 1; in the arena */
	size_t ncalls, calls_cap;
	size_t cost;			/* taken from the budget for rows and processes */
	size_t none[PROFILE_TYPES_MAX]; /* number of the row of those dropped, 0: none */
	uint64_t dropped, unlabelled, uncalled;
	uint64_t first, last; /* ns */
	struct errmsg why;    /* of aggregate__sink */
};

/* aggregate__pay - take @cost bytes of the budget.  False: there are fewer. */
bool aggregate__pay(struct aggregate *a, size_t cost);

/*
 * aggregate__crowded - is more memory taken than calls may have, three quarters?  Each call has its
 * own rows; if calls could take all of it, samples of later ones would lose their stack.
 */
bool aggregate__crowded(const struct aggregate *a);

/*
 * aggregate__process_index, aggregate__call_index - the index of process @p, and the number of a
 * call, after those outside of it: added if it is new.  Negative: an error.
 */
long aggregate__process_index(struct aggregate *a, const struct profile_process *p);
long aggregate__call_index(struct aggregate *a, const struct profile_call *call);

/* aggregate__given - the labels that the program gave @s; NULL: none, or there are too many. */
const struct profile_given *aggregate__given(struct aggregate *a, const struct sample *s);

#endif
