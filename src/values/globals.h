/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The largest objects of an R: what is reachable from the global environment, the frames of its
 * calls and the loaded namespaces.  Sizes are those of object.size(), but an object counts once,
 * at the first path that leads to it, and an ALTREP object has what it holds, not what it stands
 * for.  The process may run meanwhile: what changed while it was read may be counted twice or not.
 *
 * Facts: objectsize() (size.c of package utils), FRAME and HASHTAB (envir.c).
 */
#ifndef XR_VALUES_GLOBALS_H
#define XR_VALUES_GLOBALS_H

#include "values/heap.h"

#define GLOBALS_ROWS 20u

struct globals_limits {
	uint64_t objects; /* at most 43 bytes each, 5 where they lie side by side */
	uint64_t ns;	  /* on the clock @now */
	uint64_t (*now)(void);
};

struct global_row {
	char *path; /* "cfg$cache$big", "predict()/data", "stats::x"; a root's rest is "stats::*" */
	const char *type; /* a constant */
	char class[64];	  /* "": none */
	uint64_t length, bytes;
};

struct globals {
	struct global_row rows[GLOBALS_ROWS]; /* the largest first; disjoint */
	size_t n;
	uint64_t bytes, objects;
	uint64_t unreadable; /* objects, and parts of them */
	const char *stopped; /* by which limit; NULL: all was read */
};

/*
 * globals__find - of the R of @row, whose R_NamespaceRegistry is @namespaces (0: not known).
 * -ENOMEM.  @out is to be freed.
 */
int globals__find(const struct mem_reader *reader, const struct xr_row *row, uint64_t namespaces,
		  const struct globals_limits *limits, struct globals *out);
void globals__free(struct globals *g);

#endif
