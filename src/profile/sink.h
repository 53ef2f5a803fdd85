/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink takes a profile while it comes.  A session, the readers of files and tests feed one;
 * outputs and whatever shows a profile are sinks.  The order of calls: begin, then process, sample
 * and tick as they come, finish; nothing after a call that failed but finish and why.
 */
#ifndef XR_PROFILE_SINK_H
#define XR_PROFILE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "profile/profile.h"
#include "profile/sources.h"
#include "profile/stats.h"

enum profile_event {
	PROFILE_BEGAN,	 /* it was asked for: it is in the profile even if it does nothing */
	PROFILE_KNOWN,	 /* more is known of it than was with its first sample */
	PROFILE_ENDED,	 /* no sample of it will follow */
	PROFILE_STOPPED, /* nor of this: it goes on, but the profile is over, finish follows */
};

/* All return 0 or a negative errno, which ends the profile; `why` has the line for the user. */
struct sink_ops {
	/* Samples will come, as @about says (borrowed until finish): now is the time to open files.
	 */
	int (*begin)(void *arg, const struct profile_about *about);
	int (*process)(void *arg, const struct profile_process *p, enum profile_event event);
	int (*sample)(void *arg, const struct profile_process *p, const struct sample *s);
	/* A source of process row @serial, perhaps after its samples.  NULL: nobody wants to know.
	 */
	int (*source)(void *arg, uint32_t serial, const struct profile_source *source);
	/*
	 * All that came so far was given; @now: os__now().  Called as often as the session is
	 * polled: some ten times a second by `record`, at least once a second by `serve`.
	 */
	int (*tick)(void *arg, uint64_t now);
	/*
	 * No more comes.  @stats: what was counted, to which a sink adds what it dropped.  Called
	 * even if something failed before.
	 */
	int (*finish)(void *arg, struct stats *stats);
	const struct errmsg *(*why)(void *arg);
};

struct sink {
	const struct sink_ops *ops;
	void *arg;
};

#endif
