/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a session is asked to do.
 */
#ifndef XR_SESSION_CONFIG_H
#define XR_SESSION_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "profile/calls.h"
#include "session/notes.h"
#include "target/describe.h"
#include "target/filters.h"

/* Borrowed for the life of the session, and so is what it points at. */
struct session_config {
	const pid_t *pids; /* the processes named; no pid twice */
	size_t npids;
	bool all;		       /* every R process, those to come, too */
	bool follow;		       /* and what those profiled start */
	bool stopped, whole, threads;  /* as in struct engine_config */
	const struct filters *filters; /* of processes that the user did not name; NULL: none */
	/* tried in this order until one works; ended by NULL */
	const struct engine_ops *const *engines;
	uint32_t freq; /* Hz */
	enum engine_clock clock;
	uint32_t capture;  /* XR_CAPTURE */
	bool raw;	   /* of native frames, all are shown (profile/decode.h) */
	uint32_t asked;	   /* of it, what the user asked for: a line is printed if it is missing */
	bool one_type;	   /* who takes the samples has one sample type: waiting is ticks */
	bool sources;	   /* who takes them shows sources (sink.h) */
	bool labels_first; /* the first sample of a named process waits for its labels */
	bool lines;	   /* and a sample is lines, one for each (records.c) */
	const struct event_list *events; /* and `period`: as in struct engine_config */
	uint32_t period;
	const struct calls_wanted *calls; /* with XR_ROW_CALLS; NULL: no calls are looked for */
	uint32_t max_sample_us;		  /* what reading one stack may take; 0: XR_SAMPLE_US */
	bool rate_changes;		  /* session__set_freq may be called */
	uint32_t max_processes;		  /* sampled at a time, up to a million; 0: LIMIT_SAMPLED */
	size_t memory;	 /* bytes for names and stacks (base/limits.h); 0: LIMIT_MEMORY */
	const char *btf; /* the kernel's types; NULL: its own */
	/* session__poll returns when it is readable, as when the engine is, where there is
	 * something else to wait for; 0: none */
	int wake_fd;
	/* labels of processes; NULL: none */
	const struct label_rules *labels;
	struct notes notes;
};

/* The number of events that are sampled in place of ticks. */
static inline uint32_t session_config__nevents(const struct session_config *c)
{
	return c->events ? c->events->n : 0;
}

#endif
