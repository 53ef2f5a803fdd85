/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Are the addresses of R's hidden variables right, that were derived from machine code (hidden.h)?
 * The live process is looked at from outside, without stopping it: what the variables hold must
 * keep R's own rules (eval.c bcEval(), context.c; R 3.5 to 4.6):
 *  - R_BCbody is NULL or a BCODESXP, whose CAR is an INTSXP, the code, and whose CDR a VECSXP;
 *  - while byte code runs (R_Srcref is R_InBCInterpreter) *R_BCpc is NULL or points into that code;
 *  - the contexts that byte code made hold such an object in their bcbody;
 *  - the collector's flag is 0 or 1, and 0 at some time;
 *  - the number of collections is above 0 and does not fall.
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

/* What was seen so far of one process; zero it to begin. */
struct hidden_check {
	uint32_t looks;		  /* all */
	uint32_t good, bad;	  /* of byte code running, and nothing changed meanwhile */
	uint32_t contexts;	  /* contexts of byte code that kept the rule */
	enum lines_verdict bc;	  /* R_BCbody and R_BCpc */
	enum lines_verdict gc;	  /* the flag */
	enum lines_verdict count; /* the number of collections */
	int32_t last_count;
};

/*
 * hidden_check__look - one look, of a few microseconds, at what of @c is open and has an address in
 * @row.  Returns 0, or a negative errno when the variables cannot be read at all (the process is
 * gone).
 */
int hidden_check__look(struct hidden_check *c, const struct xr_row *row,
		       const struct mem_reader *m);

/* hidden_check__open - is there more to find out of @row? */
bool hidden_check__open(const struct hidden_check *c, const struct xr_row *row);

#endif
