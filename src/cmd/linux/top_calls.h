/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The single calls that `top` shows: those in progress, and the slowest that ended lately.
 */
#ifndef XR_CMD_LINUX_TOP_CALLS_H
#define XR_CMD_LINUX_TOP_CALLS_H

#include "base/clock.h"
#include "profile/profile.h"

#define TOP_CALLS_RUNNING 1024u /* kept; further ones are left out */
#define TOP_CALLS_SHOWN	  10u	/* of each kind, at most */
#define TOP_CALLS_NS	  (60 * NS_PER_S)
#define TOP_CALLS_REQUEST 128u /* bytes, with the end; the rest is cut */

struct top_call {
	uint64_t id, began, ended, error; /* as of struct profile_call */
	uint32_t pid;
	bool cut;
	char name[PROFILE_CALL_NAME], request[TOP_CALLS_REQUEST];
};

/* Starts as { 0 }. */
struct top_calls {
	struct top_call *running; /* in the order of their ids */
	size_t nrunning, cap;
	struct top_call slow[TOP_CALLS_SHOWN]; /* the slowest first */
	size_t nslow;
	uint64_t ended, now; /* how many have; ns, when the last second was closed */
};

/* top_calls__sample - @call and those outside of it run, in process @pid.  -ENOMEM. */
int top_calls__sample(struct top_calls *c, const struct profile_call *call, uint32_t pid);

/* top_calls__call - what is known of @call by now: if it has ended, it no longer runs. */
void top_calls__call(struct top_calls *c, const struct profile_call *call, uint32_t pid);

/* top_calls__second - it is @now: what ended a minute ago is forgotten. */
void top_calls__second(struct top_calls *c, uint64_t now);

/*
 * top_calls__shown - those that run, the oldest first, or, if @ended, the slowest of those that
 * did.  Returns how many.
 */
size_t top_calls__shown(const struct top_calls *c, bool ended,
			const struct top_call *to[TOP_CALLS_SHOWN]);

/* top_call__ns - how long it lasted, or has run by the last second. */
uint64_t top_call__ns(const struct top_calls *c, const struct top_call *call);

void top_calls__free(struct top_calls *c);

#endif
