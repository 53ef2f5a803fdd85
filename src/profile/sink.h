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

/*
 * What a sink does.  NULL: an operation is passed on to the next sink, or has no effect.  All
 * return 0 or a negative errno, which ends the profile; `why` has the line for the user.
 */
struct sink_ops {
	/* Samples described by @about (borrowed until finish) follow: open files here. */
	int (*begin)(void *arg, const struct profile_about *about);
	int (*process)(void *arg, const struct profile_process *p, enum profile_event event);
	int (*sample)(void *arg, const struct profile_process *p, const struct sample *s);
	/* What is known of a call by now, after its last sample: it has ended, or goes on. */
	int (*call)(void *arg, const struct profile_process *p, const struct profile_call *call);
	/* A source of process row @serial, perhaps after its samples. */
	int (*source)(void *arg, uint32_t serial, const struct profile_source *source);
	/*
	 * All samples until now were passed; @now: os__now().  Called as often as the session is
	 * polled: some ten times a second by `record`, at least once a second by `serve`.
	 */
	int (*tick)(void *arg, uint64_t now);
	/*
	 * The profile is over.  @stats: what was counted, to which a sink adds what it dropped.
	 * Called even if something failed before.
	 */
	int (*finish)(void *arg, struct stats *stats);
	const struct errmsg *(*why)(void *arg);
};

struct sink {
	const struct sink_ops *ops;
	void *arg;
	const struct sink *to; /* the next one; NULL: none */
};

/* The first of @from and those behind it that has the operation @op; NULL: none has it. */
#define sink__find(from, op)                                                                       \
	({                                                                                         \
		const struct sink *at_ = (from);                                                   \
		while (at_ && !at_->ops->op)                                                       \
			at_ = at_->to;                                                             \
		at_;                                                                               \
	})

#define SINK_CALL(from, op, ...)                                                                   \
	({                                                                                         \
		const struct sink *does_ = sink__find(from, op);                                   \
		does_ ? does_->ops->op(does_->arg, __VA_ARGS__) : 0;                               \
	})

static inline int sink__begin(const struct sink *sink, const struct profile_about *about)
{
	return SINK_CALL(sink, begin, about);
}

static inline int sink__process(const struct sink *sink, const struct profile_process *p,
				enum profile_event event)
{
	return SINK_CALL(sink, process, p, event);
}

static inline int sink__sample(const struct sink *sink, const struct profile_process *p,
			       const struct sample *s)
{
	return SINK_CALL(sink, sample, p, s);
}

static inline int sink__call(const struct sink *sink, const struct profile_process *p,
			     const struct profile_call *call)
{
	return SINK_CALL(sink, call, p, call);
}

static inline int sink__source(const struct sink *sink, uint32_t serial,
			       const struct profile_source *source)
{
	return SINK_CALL(sink, source, serial, source);
}

static inline int sink__tick(const struct sink *sink, uint64_t now)
{
	return SINK_CALL(sink, tick, now);
}

static inline int sink__finish(const struct sink *sink, struct stats *stats)
{
	return SINK_CALL(sink, finish, stats);
}

static inline const struct errmsg *sink__why(const struct sink *sink)
{
	static const struct errmsg none = {""};
	const struct sink *does = sink__find(sink, why);

	return does ? does->ops->why(does->arg) : &none;
}

#endif
