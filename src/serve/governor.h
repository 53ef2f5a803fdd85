/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --max-cpu: how often to sample so that the profiler costs no more CPU time than it may.
 *
 * `--max-cpu P` is a share of ONE CPU, whatever the machine has: with 1 %, all that the profiler
 * uses is at most 10 ms in each second on average, on two CPUs as on 128.  It is what samples take
 * in the kernel, on whichever CPU, and the CPU time of the profiler's own processes together, those
 * that look at processes (target/ask.h) among them.
 *
 * What the rate changes are samples: their own time, and as much of the profiler's besides at
 * most, which is more than it takes to add them up.  What it takes beyond that, to look at
 * processes that come, is the rest, and is there at any rate.  Samples have the room that the rest
 * leaves, and a fifth of the limit in any case: else a machine on which many programs start would
 * have none.
 *
 * The rate is lowered when samples took more than their room in a window of GOVERNOR_WINDOW_NS, to
 * what would have been nine tenths of it, but to no less than a quarter at a time.  While they take
 * less than seven tenths it is raised again, up to four times, and then not for a while.  It is
 * never above what was asked for, nor below 1 Hz.
 *
 * It has no clock: the caller gives it the time, and what was used.
 */
#ifndef XR_SERVE_GOVERNOR_H
#define XR_SERVE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#define GOVERNOR_WINDOW_NS   UINT64_C(5000000000)
#define GOVERNOR_HOLD_NS     UINT64_C(30000000000)
#define GOVERNOR_HOLD_MAX_NS UINT64_C(3600000000000)

/* What was used until now, since any time in the past. */
struct governor_use {
	uint64_t now_ns;     /* CLOCK_MONOTONIC */
	uint64_t samples_ns; /* by samples themselves: in the kernel, or, with the engines that read
			      * from outside, in the profiler */
	uint64_t own_ns; /* CPU time, user and system, of all processes of the profiler besides */
};

/* Filled by governor__init.  To be read. */
struct governor {
	double max_cpu;				 /* share of one CPU, 0.01 for 1 %; 0: no limit */
	uint32_t asked, freq;			 /* Hz: at most, and wanted now */
	struct governor_use last;		 /* at the beginning of the window */
	double samples, own;			 /* shares of one CPU that the last window took */
	uint64_t lowered;			 /* times */
	uint64_t raised_at, hold_ns, held_until; /* when it may be raised again */
	bool said_rest; /* that more than the limit is used whatever the rate is */
	char why[160];	/* what to report, in one line */
};

/* governor__init - @use: until now. */
void governor__init(struct governor *g, double max_cpu, uint32_t asked,
		    const struct governor_use *use);

/*
 * governor__look - @use: until now.  @now: the rate that is sampled at: less than `freq` where the
 * system allows no more.  To be called every second or so.  Return whether the caller reports
 * `why`, and samples at `freq` from now on.
 */
bool governor__look(struct governor *g, const struct governor_use *use, uint32_t now);

#endif
