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
#include "profile/sink.h"
#include "profile/stats.h"
#include "session/advice.h"
#include "session/config.h"
#include "session/native.h"
#include "session/processes.h"
#include "session/records.h"
#include "session/sources.h"
#include "session/verify_hidden.h"
#include "session/waiting.h"
#include "target/ask.h"

/* Times are ns, CLOCK_MONOTONIC. */
struct lifecycle {
	/* set by session.c */
	const struct session_config *config;
	struct sink sink;
	const struct engine_ops *ops;
	struct engine *engine; /* NULL: not open yet */
	uint32_t freq;	       /* Hz: what was asked for last */
	bool told;	       /* the kernel reports when R appears in a process */
	uint64_t began;	       /* when the first process was added; 0: none yet */
	struct pids sampled;   /* with config->all or follow: whose children should be looked at */
	/* parts: each is written by the functions of its type */
	struct decoder *decoder;
	struct asker *asker; /* asks workers about processes */
	struct processes processes;
	struct verify_hidden verify;
	struct natives natives;
	struct sources_asked sources; /* with config->sources */
	struct records records;
	struct waiting waiting;
	struct advice advice;
	/* written by lifecycle.c */
	uint32_t live;	   /* processes that have not ended, */
	uint32_t rows;	   /* and those of them that are sampled */
	uint64_t opened;   /* when the session was */
	uint64_t added_at; /* when a process that the user did not name was looked at last */
	uint64_t gone_at;  /* when it was last checked which processes ended */
	size_t freed;	   /* bytes of those that have ended, since os__trim() */
	struct {
		uint64_t at;			 /* when the engine's counts were looked at last, */
		uint64_t events_lost, rows_full; /* and what they were */
	} sweep;
	/* why it fails: `err` is set by lifecycle__fail, lifecycle__sunk and lifecycle__no_memory
	 */
	int failed;	      /* what the last process that failed did with */
	bool refused;	      /* an R that the user did not name could not be sampled */
	struct errmsg reason; /* and why */
	int err; /* of memory, the engine or the sink: the session cannot go on; see `reason` */
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
int lifecycle__attach(struct lifecycle *l);

/* lifecycle__settle - act on what happened since the last time; look again at what needs it. */
void lifecycle__settle(struct lifecycle *l);

/* lifecycle__due - ms until lifecycle__settle has something to do, at most @max. */
int lifecycle__due(const struct lifecycle *l, int max);

/*
 * lifecycle__sweep - once a second, ask the engine whether it lost forks, execs or exits, or had no
 * room.  Processes whose rows it no longer has are taken for replaced.  Returns whether all
 * processes must be looked at again, because some may have been missed or there is room again.
 */
bool lifecycle__sweep(struct lifecycle *l, uint64_t now);

/*
 * lifecycle__hidden - what is known of the hidden variables of all processes profiled so far.
 * @settled: as of advice__count_hidden, of those that still run.
 */
void lifecycle__hidden(const struct lifecycle *l, bool settled, struct hidden_stats *s);

/* lifecycle__freq - samples a second now: as asked for, or what the system allows. */
uint32_t lifecycle__freq(const struct lifecycle *l);

/* lifecycle__clock - "cpu" or "wall": what was asked for, or the engine's clock. */
const char *lifecycle__clock(const struct lifecycle *l);

/* lifecycle__fail - the session cannot go on if @err is not 0.  The first error stays; it is
 * returned.  `reason` is the caller's. */
int lifecycle__fail(struct lifecycle *l, int err);

/*
 * lifecycle__stop - no more samples come: tell the sink what is known of the processes that go on,
 * and people of those that waited.  The sink was begun and is not finished yet.
 */
void lifecycle__stop(struct lifecycle *l);

/*
 * lifecycle__finish - have the sink finish.  Its failure replaces an earlier one: what was written
 * is not complete.
 */
void lifecycle__finish(struct lifecycle *l, struct stats *stats);

/* lifecycle__close - give back what is left.  The sink must have been finished: it may hold names.
 */
void lifecycle__close(struct lifecycle *l);

/* --- for admission.c and records.c --- */

/* lifecycle__new - a process that has not ended, as processes__add.  NULL: out of memory, noted. */
struct process *lifecycle__new(struct lifecycle *l, uint32_t serial, uint32_t pid,
			       enum process_origin origin);

/* lifecycle__report - print which variables that the user asked for are missing of @p. */
void lifecycle__report(const struct lifecycle *l, struct process *p);

/* lifecycle__end - @p is sampled no more; lifecycle__settle forgets it. */
void lifecycle__end(struct lifecycle *l, struct process *p);

/* lifecycle__no_memory - note that the session cannot go on for want of memory.  -ENOMEM. */
int lifecycle__no_memory(struct lifecycle *l);

/*
 * lifecycle__no_room - count a process that did not fit at @place; for the first, print `reason`.
 */
void lifecycle__no_room(struct lifecycle *l, enum waiting_place place, pid_t pid,
			uint64_t start_time);

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
