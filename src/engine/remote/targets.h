/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The targets of an engine that reads from outside, and the loop that samples them: what is the
 * same on every system.  linux/loop.c and win32/suspend.c say how one target is sampled.
 */
#ifndef XR_ENGINE_REMOTE_TARGETS_H
#define XR_ENGINE_REMOTE_TARGETS_H

#include "base/errmsg.h"
#include "base/mem_reader.h"
#include "engine/engine.h"
#include "engine/remote/remote_walk.h"

/* What is handed on: records, and counts of what has become of samples. */
struct remote_report {
	struct engine_config config; /* of the engine */
	engine_sink sink;	     /* during a poll */
	void *sink_arg;
	int delivered; /* records, in this poll */
	uint64_t counts[XR_COUNTERS];
	uint64_t texts; /* sent by walks that are gone */
};

/* One process that is sampled; the first member of what the system keeps of it. */
struct remote_target {
	struct remote_target *next;
	struct xr_row row;
	struct remote_walk *walk;
	uint32_t prove_in; /* samples until R's thread is looked for again */
};

/* What each system does in its own way.  `follow` may be NULL. */
struct remote_targets_ops {
	/* Has a tick come?  *@missed: how many came before it that were not taken. */
	bool (*due)(struct engine *e, uint64_t *missed);
	/* Take the sample of a tick. */
	void (*sample)(struct engine *e, struct remote_target *t);
	/* What became of @t: XR_PROCESS_EXEC, XR_PROCESS_EXIT, or 0.  @comm: then its name. */
	enum xr_process_event (*check)(struct engine *e, struct remote_target *t, char comm[16]);
	/* Add the new children of @t to the list, after @t. */
	void (*follow)(struct engine *e, struct remote_target *t);
	/* Wait for a tick until @end, ns, at most.  0, or negative: no longer in this poll. */
	int (*wait)(struct engine *e, uint64_t now, uint64_t end);
	/* Give back all of @t but its walk. */
	void (*free)(struct remote_target *t);
};

/* The first member of the remote engines' struct engine. */
struct remote_targets {
	const struct remote_targets_ops *ops;
	struct remote_target *first;
	struct remote_report report;
	struct remote_native *native; /* NULL: no slab was wanted yet */
	struct remote_target *at;     /* who comes next in a tick that is not over; NULL: none is */
	uint32_t n, max;	      /* targets, and how many there may be */
	uint64_t sample_ns;	      /* as of remote_walk__limit() */
	uint64_t missed;	      /* ticks before that one */
	uint64_t scanned_ns;	      /* when it was last looked at what became of the targets */
	bool stopped;		      /* no more samples */
};

#define REMOTE_SCAN_NS	(20 * NS_PER_MS) /* between two looks at what became of the targets */
#define REMOTE_SLICE_NS (50 * NS_PER_MS) /* of one poll, in which no other sample is begun */

/* remote_targets__open - of the engine that starts with @ts, which is zeroed. */
void remote_targets__open(struct remote_targets *ts, const struct remote_targets_ops *ops,
			  const struct engine_config *config);

/* remote_targets__close - free all targets. */
void remote_targets__close(struct remote_targets *ts);

/* remote_targets__find - the link to the target with that pid; NULL: there is none. */
struct remote_target **remote_targets__find(struct remote_targets *ts, uint32_t pid);

/*
 * remote_targets__init - give @t a row and a walk over @reader.  It counts as one of those there
 * may be until it is freed.  -ENOMEM, -E2BIG, with @f filled.
 */
int remote_targets__init(struct remote_targets *ts, struct remote_target *t,
			 const struct xr_row *row, const struct mem_reader *reader,
			 struct errmsg *f);

/* remote_targets__put - add @t to the list at *@at: &ts->first, or another's `next`. */
void remote_targets__put(struct remote_target **at, struct remote_target *t);

/* remote_targets__drop - free the target at *@at, which becomes the next one. */
void remote_targets__drop(struct remote_targets *ts, struct remote_target **at);

/*
 * remote_report__sample - count the sample that @rw has of thread @tid of process @pid, and hand
 * it on, once for each of @ticks.  @result: of remote_walk__finish, or -enum xr_error.
 */
void remote_report__sample(struct remote_report *r, struct remote_walk *rw, uint32_t pid,
			   uint32_t tid, int result, uint32_t ticks);

/*
 * remote_report__other - the same of remote_walk__other.  @flags: XR_F_STOPPED or XR_F_DISK, no
 * other look gives more of it.
 */
void remote_report__other(struct remote_report *r, struct remote_walk *rw, uint32_t pid,
			  uint32_t tid, uint32_t flags);

/*
 * remote_report__process - hand on what became of the process of @row, which is called @comm ("":
 * as before).
 * @parent: of XR_PROCESS_FORK, else NULL.
 */
void remote_report__process(struct remote_report *r, const struct xr_row *row,
			    enum xr_process_event event, const struct xr_row *parent,
			    const char comm[16]);

/* Of struct engine_ops; remote_targets__stop is for its `stop`. */
int remote_targets__update(struct engine *e, const struct xr_row *row);
void remote_targets__remove(struct engine *e, uint32_t pid, uint32_t serial);
bool remote_targets__holds(struct engine *e, uint32_t pid, uint32_t serial);
int remote_targets__poll(struct engine *e, int timeout_ms, engine_sink sink, void *arg);
void remote_targets__stop(struct engine *e);
int remote_targets__slab(struct engine *e, uint32_t slab, uint64_t **words);
int remote_targets__counters(struct engine *e, uint64_t counts[XR_COUNTERS]);
const char *remote_targets__event(struct engine *e);

#define ENGINE_REMOTE_OPS                                                                          \
	.clock = "wall", .own_time = true, .update = remote_targets__update,                       \
	.remove = remote_targets__remove, .holds = remote_targets__holds,                          \
	.poll = remote_targets__poll, .counters = remote_targets__counters,                        \
	.event = remote_targets__event

#endif
