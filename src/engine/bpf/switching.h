/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of threads, or of CPUs?  The kernel starts and stops a thread's event each time that it is
 * switched (__perf_event_task_sched_in(), kernel/events/core.c): it sets a timer, or the CPU's
 * counters, which takes a microsecond or so, and several in a virtual machine.  An event on a CPU
 * costs that for each of its ticks, whichever thread runs.  So threads have the events, unless they
 * are switched more often than all CPUs would tick.
 */
#ifndef XR_ENGINE_BPF_SWITCHING_H
#define XR_ENGINE_BPF_SWITCHING_H

#include <stdbool.h>
#include <stdint.h>

struct perf_events;

/* What is known of the threads' switches so far; all 0 at first. */
struct switching {
	uint64_t looked_ns; /* when, by os__now() */
	bool much;	    /* it was reported */
};

/*
 * switching__much - look at the threads of @events if it is time to, @now_ns being os__now(). True,
 * once: they are switched so often, *@rate times a second, that events on CPUs are cheaper.
 */
bool switching__much(struct switching *s, struct perf_events *events, uint64_t now_ns,
		     uint64_t *rate);

#endif
