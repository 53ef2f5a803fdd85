/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of the targets of a session: they are looked for R, given to the engine, sampled,
 * replaced by exec, and end.  Records of the engine go through here to the sink.
 */
#ifndef XR_SESSION_LIFECYCLE_H
#define XR_SESSION_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "profile/decode.h"
#include "os/kernel_names.h"
#include "profile/sink.h"
#include "profile/stats.h"
#include "session/config.h"
#include "session/crowd.h"
#include "session/native/native.h"
#include "session/pids.h"
#include "session/processes.h"
#include "session/sources.h"
#include "session/verify_hidden.h"
#include "target/ask.h"

#define UNLISTED_MAX 16u

/*
 * Times are ns, CLOCK_MONOTONIC.  Read by the session; written by lifecycle.c, admission.c and
 * records.c only.
 */
struct lifecycle {
	const struct session_config *config;
	struct sink sink;
	struct decoder *decoder;
	const struct engine_ops *ops;
	struct engine *engine; /* borrowed; NULL: not open yet */
	struct asker *asker;   /* who looks at processes */
	struct processes processes;
	struct verify_hidden verify;
	struct natives natives;
	struct sources_asked sources; /* with config->sources */
	struct kernel_names kernel;   /* with --kernel, once one was met */
	bool kernel_read;
	bool told;		    /* somebody tells when R appears in a process */
	uint32_t live;		    /* processes that have not ended, */
	uint32_t rows;		    /* and those of them that are sampled */
	uint64_t counted, programs; /* processes profiled so far, see struct stats */
	uint64_t opened;	    /* when the session was */
	uint64_t began;		    /* when the first process was added; 0: none yet */
	uint64_t added_at;	    /* when one that nobody named was looked at last */
	uint64_t gone_at;	    /* when it was last asked who has ended */
	double first_sample;	    /* seconds since `opened` */
	struct hidden_stats hidden; /* of those that have ended, and are forgotten */
	struct verdict verdict;
	uint32_t lineless_said;
	uint64_t unlisted[UNLISTED_MAX]; /* hashes: each R without a layout that was reported */
	size_t nunlisted;
	struct event_stats events[XR_OTHERS_MAX]; /* by number; names are the session's */
	uint64_t idle_ns;     /* waiting for work, which is not in the profile */
	uint64_t unsunk;      /* samples that came after an error, and went nowhere */
	size_t freed;	      /* bytes of those that have ended, since os__trim() */
	struct crowd crowd;   /* processes for which there was no room, */
	struct errmsg full;   /* and why there was none for the last one */
	struct pids sampled;  /* with config->all or follow: whose children should be looked at */
	int failed;	      /* what the last one that failed did with */
	struct errmsg reason; /* and why */
	int err; /* of memory or the sink: the session cannot go on; `reason` says why */
};

/*
 * lifecycle__open - fill @l; @config is borrowed.  To be called early (asker__open()).  Afterwards
 * lifecycle__close, always.
 */
int lifecycle__open(struct lifecycle *l, const struct session_config *config, struct sink sink);

/*
 * lifecycle__add - have R looked for in @pid, and have it sampled as soon as it was found,
 * lifecycle__attach was called, and its row is as complete as it will soon be.  When R may still
 * come it is looked for again by lifecycle__settle.  -ENOMEM.
 */
int lifecycle__add(struct lifecycle *l, pid_t pid, enum process_origin origin);

/*
 * lifecycle__left_out - had @pid no room before, and is there none yet?  It need not be added then.
 */
bool lifecycle__left_out(struct lifecycle *l, pid_t pid);

/* lifecycle__unanswered - is there a process named of which nothing is known yet? */
bool lifecycle__unanswered(const struct lifecycle *l);

/* lifecycle__hint - R was just seen in @p: if it is waited for, look now. */
void lifecycle__hint(struct process *p);

/*
 * lifecycle__attach - the engine is open now: give it what was found.  Returns an error when that
 * failed and nothing is left.
 */
int lifecycle__attach(struct lifecycle *l, const struct engine_ops *ops, struct engine *engine);

/* lifecycle__settle - act on what happened since the last time; look again at what needs it. */
void lifecycle__settle(struct lifecycle *l);

/* lifecycle__due - ms until lifecycle__settle has something to do, at most @max. */
int lifecycle__due(const struct lifecycle *l, int max);

/* lifecycle__hidden - what is known of the hidden variables of all processes profiled so far. */
void lifecycle__hidden(const struct lifecycle *l, struct hidden_stats *s);

/* lifecycle__record - an engine_sink; @arg: the lifecycle. */
void lifecycle__record(void *arg, const void *record, size_t size);

/*
 * lifecycle__stop - no more samples come: tell the sink what is known of the processes that go on,
 * and people of those that waited.  The sink was begun and is not finished yet.
 */
void lifecycle__stop(struct lifecycle *l);

/* lifecycle__close - give back what is left.  The sink must have been finished: it may hold names.
 */
void lifecycle__close(struct lifecycle *l);

/* --- for admission.c and records.c --- */

/* process__profile - @p as the sink sees it; borrowed from it. */
struct profile_process process__profile(const struct process *p);

/* lifecycle__report - say what of that which was asked for cannot be had of @p. */
void lifecycle__report(const struct lifecycle *l, struct process *p);

/* lifecycle__count - @p is one of those profiled: its first sample came, or it was added. */
void lifecycle__count(struct lifecycle *l, struct process *p);

/* lifecycle__end - @p is sampled no more; lifecycle__settle forgets it. */
void lifecycle__end(struct lifecycle *l, struct process *p);

/* lifecycle__no_memory - note that the session cannot go on for want of memory.  -ENOMEM. */
int lifecycle__no_memory(struct lifecycle *l);

/*
 * lifecycle__no_room - count a process that found no room at @place; of the first, `reason` is
 * said.
 */
void lifecycle__no_room(struct lifecycle *l, enum crowd_place place, pid_t pid,
			uint64_t start_time);

/* lifecycle__sizes - how many there are at each place where there may be no room. */
void lifecycle__sizes(const struct lifecycle *l, uint32_t sizes[CROWD_PLACES]);

/* lifecycle__sampled - the engine has a row of @p from now on. */
void lifecycle__sampled(struct lifecycle *l, struct process *p);

/* lifecycle__one_type - is there one sample type only, of which waiting is a part? */
static inline bool lifecycle__one_type(const struct lifecycle *l)
{
	return l->config->one_type || l->config->clock == ENGINE_CLOCK_WALL;
}

/* lifecycle__sunk - note what a call of the sink returned: if it failed, why. */
void lifecycle__sunk(struct lifecycle *l, int err);

#endif
