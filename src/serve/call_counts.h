/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long single calls lasted: histograms for /metrics, as many as fit there.
 */
#ifndef XR_SERVE_CALL_COUNTS_H
#define XR_SERVE_CALL_COUNTS_H

#include "profile/profile.h"

#define CALL_COUNTS_MAX	    100u /* of a function and a service; the others are one together */
#define CALL_COUNTS_SERVICE 64u	 /* bytes, with the end; the rest is cut */
#define CALL_COUNTS_OTHER   "other"
#define CALL_BUCKETS	    11u

/* Seconds that a call of a bucket lasted at most, as metrics have it. */
extern const char *const call_buckets[CALL_BUCKETS];

struct call_count {
	char function[PROFILE_CALL_NAME], service[CALL_COUNTS_SERVICE];
	uint64_t calls[CALL_BUCKETS + 1]; /* by bucket; the last: longer ones */
	uint64_t sum;			  /* ns */
};

/* Starts as { 0 }. */
struct call_counts {
	struct call_count rows[CALL_COUNTS_MAX + 1]; /* the last: CALL_COUNTS_OTHER */
	uint32_t n;
};

/*
 * call_counts__add - @call of process @p, if it has ended, and began while the process was
 * profiled.
 */
void call_counts__add(struct call_counts *c, const struct profile_process *p,
		      const struct profile_call *call);

#endif
