/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a service is: for the front, which tells those who ask, and for people.
 */
#ifndef XR_CMD_LINUX_SERVE_STATUS_H
#define XR_CMD_LINUX_SERVE_STATUS_H

#include <sys/types.h>

#include "cmd/linux/serve_options.h"
#include "serve/governor.h"
#include "serve/linux/intervals.h"
#include "serve/status.h"
#include "session/session.h"

/* Since the service was started. */
struct serve_counts {
	uint64_t began; /* ns, CLOCK_MONOTONIC */
	uint64_t reloads, reload_failures;
	uint64_t front_restarts;
};

/* What the status is made from; all borrowed. */
struct serve_parts {
	const struct serve_options *options;
	const struct serve_counts *counts;
	const struct session *session;
	const struct intervals *intervals;
	const struct governor *governor;
};

void serve_status__fill(struct sampler_status *s, const struct serve_parts *parts);

/* serve_status__use - what all of it took so far; @front: that process, or 0; @now: os__now(). */
struct governor_use serve_status__use(const struct session *s, pid_t front, uint64_t now);

/*
 * serve_status__came - what the front says, from the @size bytes of its message; its texts are
 * terminated, whatever they were.  -EBADMSG: that is not what a message of it has.
 */
int serve_status__came(struct front_status *front, const void *data, uint64_t size);

/*
 * serve_status__front - into @line: what the ways out have done, "; "-separated.  @size: bytes.
 */
void serve_status__front(const struct serve_options *options, const struct front_status *front,
			 char *line, size_t size);

#endif
