/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session finds targets, has an engine sample them, and feeds a sink with what comes.  Its caller
 * starts it, polls it as long as it likes, and stops it: signals, time limits, exit statuses and
 * messages at the end are the caller's.
 *
 *	err = session__open(&s, &config, sink, &f);
 *	if (!err) err = session__start(s);
 *	while (!err && session__poll(s, 100) == SESSION_RUNS)
 *		;
 *	err = session__stop(s, &stats);
 *	session__free(s);
 */
#ifndef XR_SESSION_SESSION_H
#define XR_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "profile/sink.h"
#include "session/config.h"

struct session;

enum session_state {
	SESSION_RUNS,
	SESSION_OVER,	/* nothing is profiled, and nothing is to come */
	SESSION_FAILED, /* of memory, the engine or the sink; session__why */
};

/* session__open - nothing is looked at yet.  @config is borrowed, @sink copied.  -ENOMEM. */
int session__open(struct session **out, const struct session_config *config, struct sink sink,
		  struct errmsg *f);

/*
 * session__start - look for R in the processes named, open the engine, have the sink begin, and
 * begin to find others.  Fails when nothing of that can be profiled; session__why says why.
 */
int session__start(struct session *s);

/*
 * session__add_workload - the process @pid was started by the caller: R may take any time to come
 * in it or below it.  With `follow`, after session__start.
 */
int session__add_workload(struct session *s, pid_t pid);

/*
 * session__poll - wait up to @timeout_ms for something to do, and do it.  Returns earlier when a
 * process needs to be looked at soon.  After session__start.
 */
enum session_state session__poll(struct session *s, int timeout_ms);

/*
 * session__settled - are the processes that were named sampled, as far as R was found in them?
 * After session__start, which waits for them only so long.
 */
bool session__settled(const struct session *s);

/* session__began - ns, CLOCK_MONOTONIC, when sampling began; 0: it has not. */
uint64_t session__began(const struct session *s);

/*
 * session__why - why the session failed; of one that is over without having profiled anything,
 * why the last process could not be.  Its text is "" when there is nothing to say.
 */
const struct errmsg *session__why(const struct session *s);

/*
 * session__stats - what was counted so far, after session__start: @stats is filled as at the end,
 * except for what is known only then.  0, or a negative errno: the engine cannot tell.
 */
int session__stats(const struct session *s, struct stats *stats);

/*
 * session__set_freq - from now on @freq samples a second, 1 or more.  Negative errno: @f says why,
 * and some samples are taken at the old rate.  A sample stands for 1 / rate of time, the one at
 * which it was taken: a sink that adds up time ends an interval at the change.
 */
int session__set_freq(struct session *s, uint32_t freq, struct errmsg *f);

/* session__freq - samples a second now: as asked for, or what the system allows.  After start. */
uint32_t session__freq(const struct session *s);

/* What there is now, and of what there may be. */
struct session_gauges {
	uint32_t freq;			   /* session__freq */
	uint32_t processes, max_processes; /* that are sampled */
	size_t names, max_names;	   /* bytes: names, and frames and stacks made of them */
	uint64_t ticks;			   /* so far, as in struct stats */
	uint64_t kernel_ns;		   /* ns that they took so far outside of this process, */
	uint64_t sampled_ns;		   /* and in it, waiting included */
	uint64_t workers_ns; /* ns on a CPU of processes that look at others (ask.h) */
	const char
		*starved; /* why none of those found is sampled; NULL: some are, or none is there */
};

/* session__gauges - after session__start; cheap enough for once a second. */
void session__gauges(const struct session *s, struct session_gauges *g);

/*
 * session__flush - have the sink given what is known of waits that are not over: an interval ends,
 * or something is to be shown.  Takes @limit_ms at most, and is cheap if no thread waits.
 */
void session__flush(struct session *s, int limit_ms);

/*
 * session__stop - take no more samples, deliver those that were taken, have the sink finish, if it
 * was begun, and fill @stats.  Once, in any state.  Returns 0, or the error by which the session,
 * or its end, failed.
 */
int session__stop(struct session *s, struct stats *stats);

void session__free(struct session *s); /* NULL is allowed */

#endif
