/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metrics of the service, in the text format of Prometheus (0.0.4), by Prometheus' rules:
 * xrprof_..._total for what grows, base units, # HELP and # TYPE before each.
 */
#ifndef XR_SERVE_METRICS_H
#define XR_SERVE_METRICS_H

#include "base/buf.h"
#include "serve/status.h"

/*
 * What there is to say it of: a way out that was not asked for has none.  @calls: @ncalls of struct
 * call_count, at any address.
 */
struct metrics_ways {
	bool has[WAYS];
	const void *calls;
	size_t ncalls;
};

/* metrics__text - append.  -ENOMEM. */
int metrics__text(struct buf *out, const struct sampler_status *s, const struct front_status *front,
		  struct metrics_ways ways);

#endif
