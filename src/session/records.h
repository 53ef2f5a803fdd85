/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the engine delivers of a session's processes: their samples, which go on to the sink, and
 * their forks, execs and exits, which lifecycle__settle() acts on later.
 */
#ifndef XR_SESSION_RECORDS_H
#define XR_SESSION_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "os/kernel_names.h"
#include "profile/calls.h"
#include "profile/known.h"
#include "profile/profile.h"
#include "profile/stats.h"

struct lifecycle;
struct process;

/* Starts as { 0 }. */
struct records {
	uint64_t processes, programs;		  /* profiled so far, see struct stats */
	double first_sample;			  /* seconds since the session was opened */
	struct event_stats events[XR_OTHERS_MAX]; /* by number, without names */
	uint64_t idle_ns;	    /* waiting for work, which is not in the profile */
	uint64_t unsunk;	    /* samples after an error, as sample__stands() counts */
	struct call_finder calls;   /* finds single calls */
	struct kernel_names kernel; /* with --kernel, once one was met */
	bool kernel_read;
};

/* records__take - an engine_sink; @lifecycle: a struct lifecycle. */
void records__take(void *lifecycle, const void *record, size_t size);

/* As struct decoder_ops has them; @lifecycle: a struct lifecycle. */
void records__sample(void *lifecycle, const struct sample *sample);
void records__process(void *lifecycle, const struct xr_process *record);

/* What is known of a native frame, as native_teller. */
void records__native(void *lifecycle, const struct xr_slot *slot, struct native_told *told);

/* records__count - @p is one of those profiled: its first sample came, or it was added. */
void records__count(struct records *r, struct process *p);

#endif
