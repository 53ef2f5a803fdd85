/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the engines that read from outside a target hand on, on every operating system: records,
 * counts of what has become of samples, lines for the user.
 */
#ifndef XR_ENGINE_REMOTE_REPORT_H
#define XR_ENGINE_REMOTE_REPORT_H

#include "engine/engine.h"
#include "engine/remote/remote_walk.h"

struct remote_report {
	struct engine_config config; /* of the engine */
	engine_sink sink;	     /* during a poll */
	void *sink_arg;
	int delivered; /* records, in this poll */
	uint64_t counts[XR_COUNTERS];
	uint64_t texts; /* sent by walks that are gone */
};

/* remote_report__open - @config is copied. */
void remote_report__open(struct remote_report *r, const struct engine_config *config);

/* remote_report__begin - a poll begins: records go to @sink, and are counted from 0. */
void remote_report__begin(struct remote_report *r, engine_sink sink, void *arg);

/* remote_report__record - an engine_sink; @arg is a struct remote_report. */
void remote_report__record(void *arg, const void *record, size_t size);

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

/* remote_report__free_walk - free @rw, which may be NULL, and keep its count of texts. */
void remote_report__free_walk(struct remote_report *r, struct remote_walk *rw);

#endif
