/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Are the addresses of R's hidden variables right, that were derived from machine code (hidden.h)?
 * The live process is looked at from outside, without stopping it: what the variables hold must
 * keep R's own rules (eval.c bcEval(), context.c; R 3.5 to 4.6):
 *  - R_BCbody is NULL or a BCODESXP, whose CAR is an INTSXP, the code, and whose CDR a VECSXP;
 *  - while byte code runs (R_Srcref is R_InBCInterpreter) *R_BCpc is NULL or points into that code;
 *  - the contexts that byte code made hold such an object in their bcbody;
 *  - the collector's flag is 0 or 1, and 0 at some time.  One that is 1 says nothing while a
 *    collection lasts, which may be minutes; only one that was 1 in very many collections, and
 * never 0 between them, is none;
 *  - the number of collections is above 0 and does not fall;
 *  - the counts of memory only grow while no collection runs (memory.c), and are none that R cannot
 *    have.  They are proven when they were seen to have grown a few times.
 * What changed while it was looked at says nothing, and because the variables are set one after
 * the other a few looks may fail.
 */
#ifndef XR_TARGET_HIDDEN_CHECK_H
#define XR_TARGET_HIDDEN_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem_reader.h"
#include "layout.h"

enum lines_verdict {
	HIDDEN_OPEN, /* not enough was seen yet */
	HIDDEN_PROVEN,
	HIDDEN_REFUTED,
};

/* Looks at byte code running, when nothing changed meanwhile. */
struct hidden_tally {
	uint32_t good, bad;
	uint32_t contexts; /* of byte code, that kept the rule */
};

/*
 * R_SmallVallocSize, R_LargeVallocSize and R_NodesInUse as they were at the last look, and the
 * number of collections then; nodes 0: there was none.  Looks between two of which no collection
 * began are told apart: in `good` one of the three had grown, in `bad` one had fallen, or was
 * nothing that R can have.
 */
struct hidden_memory_seen {
	uint64_t small, large, nodes;
	int32_t collection;
	uint32_t good, bad;
	bool no_dups; /* what should be duplicate_counter is none, or cannot be read */
};

/* What was seen so far of one process; zero it to begin.  It is data alone: looks may be taken
 * anywhere, and what became of this handed back later. */
struct hidden_check {
	uint32_t looks; /* all */
	struct hidden_tally tally;
	enum lines_verdict bc;	   /* R_BCbody and R_BCpc, by `tally` */
	enum lines_verdict gc;	   /* the flag */
	enum lines_verdict count;  /* the number of collections */
	enum lines_verdict memory; /* the counts of memory: all of them together */
	struct hidden_memory_seen seen;
	int32_t last_count;
	uint32_t flag;		/* what the flag was when last read */
	uint32_t unreadable;	/* times that it was */
	int32_t collection;	/* the number of collections when the flag was last seen to be 1 */
	uint32_t in_collection; /* different ones in which it was */
};

/*
 * hidden_check__look - one look, of a few microseconds, at what of @c is open and has an address in
 * @row.  Returns 0, or a negative errno when the variables cannot be read at all (the process is
 * gone).
 */
int hidden_check__look(struct hidden_check *c, const struct xr_row *row,
		       const struct mem_reader *m);

/*
 * hidden_check__run - up to @looks looks, while something is open, 0.2 ms apart where these are the
 * counts of memory.  As hidden_check__look.
 */
int hidden_check__run(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m,
		      unsigned int looks);

/* hidden_check__judge - what so many looks at byte code say of R_BCbody and R_BCpc. */
enum lines_verdict hidden_check__judge(const struct hidden_tally *tally);

/* hidden_check__open - is there more to find out of @row? */
bool hidden_check__open(const struct hidden_check *c, const struct xr_row *row);

#endif
