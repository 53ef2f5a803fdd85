/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run counted: the line at its end, and the JSON object of --stats.
 */
#ifndef XR_SESSION_STATS_H
#define XR_SESSION_STATS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/errmsg.h"
#include "profile/stats.h"

struct lifecycle;
struct session_gauges;

/* stats__take - what @l counted until @now.  0, or a negative errno: the engine's counts are
 * missing. */
int stats__take(struct stats *s, const struct lifecycle *l, uint64_t now);

/* stats__gauges - as session__gauges. */
void stats__gauges(struct session_gauges *g, const struct lifecycle *l, uint64_t now);

/*
 * stats__check - fail if processes used the CPU and @s has not one tick of them.  0, or
 * -ENODATA with @f filled.
 */
int stats__check(const struct stats *s, const struct lifecycle *l, struct errmsg *f);

/* stats__fill - from the sampler's counts and the decoder's; the other fields are the caller's. */
void stats__fill(struct stats *s, const uint64_t counts[XR_COUNTERS],
		 const struct decoder_stats *decoder);

/* stats__conserved - is each tick accounted for, exactly once? */
bool stats__conserved(const struct stats *s);

/* stats__unwritten - once, when the sink has finished: what it did not write was lost. */
void stats__unwritten(struct stats *s);

/* stats__summary - the line for stderr, without the program's name. */
void stats__summary(const struct stats *s, char *buf, size_t size);

/* stats__json - append the JSON object, one line.  -ENOMEM. */
int stats__json(const struct stats *s, struct buf *out);

#endif
