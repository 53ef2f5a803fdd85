/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks of the addresses of R's hidden variables that come from machine code (hidden.h).  The live
 * process is read from outside, without stopping it.  What the variables contain must follow R's
 * rules (eval.c bcEval(), context.c; R 3.5 to 4.6):
 *  - R_BCbody is NULL or a BCODESXP, whose CAR is an INTSXP, the code, and whose CDR a VECSXP;
 *  - while byte code runs (R_Srcref is R_InBCInterpreter) *R_BCpc is NULL or points into that code;
 *  - the contexts that byte code made have such an object in their bcbody;
 *  - the collector's flag is 0 or 1, and 0 at some time.  A collection may last minutes, so a flag
 *    that is 1 proves nothing.  One that is 1 in very many collections, and never 0 between them,
 *    is refuted;
 *  - the number of collections is above 0 and does not fall.  While it is 0, R_GlobalEnv has no
 * mark of a collection: then the number may be used, and is not proven yet;
 *  - the counts of memory only grow while no collection runs (memory.c), and have values that are
 *    possible.  They are proven when they have grown a few times.
 * A look during which something changed is not counted.  R sets the variables one after the other,
 * so a few looks may fail.
 */
#ifndef XR_TARGET_HIDDEN_CHECK_H
#define XR_TARGET_HIDDEN_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem_reader.h"
#include "layout.h"

enum lines_verdict {
	HIDDEN_OPEN, /* not enough looks yet */
	HIDDEN_PROVEN,
	HIDDEN_REFUTED,
};

/* Looks at running byte code during which nothing changed. */
struct hidden_tally {
	uint32_t good, bad;
	uint32_t contexts; /* of byte code, that follow the rule */
};

/*
 * R_SmallVallocSize, R_LargeVallocSize, R_NodesInUse and the number of collections at the last
 * look; nodes 0: there was no look.  Of looks without a collection since the one before, `good`
 * counts those in which one of the three had grown.  `bad` counts those in which one had fallen, or
 * had an impossible value.
 */
struct hidden_memory_seen {
	uint64_t small, large, nodes;
	int32_t collection;
	uint32_t good, bad;
	bool no_dups; /* duplicate_counter has an impossible value, or cannot be read */
};

/* The looks at one process so far; all 0 to begin with.  It has no pointers, so that another
 * process can look and return it. */
struct hidden_check {
	uint32_t looks; /* all */
	struct hidden_tally tally;
	enum lines_verdict bc;	   /* R_BCbody and R_BCpc, by `tally` */
	enum lines_verdict gc;	   /* the flag */
	enum lines_verdict count;  /* the number of collections */
	enum lines_verdict memory; /* the counts of memory: all of them together */
	struct hidden_memory_seen seen;
	int32_t last_count;
	bool no_collection;	/* `last_count` was 0 at some look, and R_GlobalEnv had no mark */
	uint32_t flag;		/* what the flag was when last read */
	uint32_t unreadable;	/* looks that could not read the flag */
	int32_t collection;	/* the number of collections when the flag was last seen to be 1 */
	uint32_t in_collection; /* the number of collections in which it was 1 */
};

/*
 * hidden_check__look - look once, for a few microseconds, at what is open in @c and has an address
 * in @row.  Returns 0; -ESRCH if the process has ended.
 */
int hidden_check__look(struct hidden_check *c, const struct xr_row *row,
		       const struct mem_reader *m);

/*
 * hidden_check__run - look up to @looks times, while something is open, 0.2 ms apart for the counts
 * of memory.  Returns the same.
 */
int hidden_check__run(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m,
		      unsigned int looks);

/* hidden_check__judge - the verdict on R_BCbody and R_BCpc after the looks of @tally. */
enum lines_verdict hidden_check__judge(const struct hidden_tally *tally);

/* hidden_check__open - is something that @row wants still without a verdict? */
bool hidden_check__open(const struct hidden_check *c, const struct xr_row *row);

#endif
