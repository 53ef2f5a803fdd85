/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that the user names.  The programs of its kind are loaded again for each event, with
 * separate constants and shared maps.  So a global variable here belongs to one event.
 *
 * Programs on perf events and tracepoints run with preemption off, and not in the middle of each
 * other (bpf_prog_active, kernel/events/core.c and trace_call_bpf() of kernel/trace/bpf_trace.c).
 * From Linux 6.0 on those on a uprobe may be preempted in the middle, and another thread's come in
 * between, which goes on while the first does not (bpf_prog_run_array_sleepable() of commit
 * 8c7dcb84e3b7, later bpf_prog_run_array_uprobe(): only migration is off).  What holds then, on
 * a CPU:
 *
 *   - Each program that takes a sample claims a level (scratch__claim()), whatever runs in
 *     between.  Working memory, texts and counts are by level, so no program changes another's.
 *     The levels are no longer a stack: the lower one may be given back first.
 *   - Only level 0 marks texts as sent.  It is held by one at a time, and no other waits for the
 *     lock of that map on this CPU while it is held, for it is taken with interrupts off.
 *   - Parts of a sample come in order from its CPU and level: migration is off.
 *   - More at once than there are levels are lost, and counted.
 */
#ifndef XR_EVENT_H
#define XR_EVENT_H

#include "maps.h"

const volatile __u32 cfg_event = XR_EVENT_TICK; /* enum xr_event */
const volatile __u32 cfg_unit = XR_UNIT_TICKS;
const volatile __u64 cfg_every;	    /* of events without a period, one of this number; 0: each */
const volatile __u64 cfg_window_ns; /* not 0: at random, EVENT_WINDOW samples in this time */

__u64 event_hits; /* of the processes that are sampled */

/*
 * How many there were with this one.  The fetch came with Linux 5.12; before, two threads at a time
 * may see the same number, or none a certain one.  (In bytes, for the compiler has it for newer
 * kernels only, and then makes all else for these, too.)
 */
static __always_inline __u64 event__count(bool fetches)
{
	__u64 *counter = &event_hits;
	register __u64 *hits asm("r2") = counter;
	register __u64 n asm("r3") = 1;

	if (!fetches) {
		__sync_fetch_and_add(counter, 1);
		return *(volatile __u64 *)counter;
	}
	/* r3 = atomic_fetch_add((u64 *)(r2 + 0), r3) */
	asm volatile(".byte 0xdb, 0x32, 0, 0, 1, 0, 0, 0" : "+r"(n) : "r"(hits) : "memory");
	return n + 1;
}

/*
 * Of what the kernel has no good rate for: one of 2^event_shift, by chance, each of which stands
 * for as many.  So the weights add up to what came, on average, however the shift changes, which is
 * chosen before it is known which hit comes.  (The kernel's own rate of software events is one of
 * the time between the last two, and after a burst, as of page faults, no sample comes any more;
 * and the kernel gives the program the period to come, perf_swevent_set_period() of
 * kernel/events/core.c.)
 *
 * The shift depends on how many there were in the last window, and goes up in the middle of one
 * that brings many more.  Several CPUs change these at a time: what gets lost is exactness of the
 * rate.
 */
#define EVENT_WINDOW	8 /* samples that are wanted in a window */
#define EVENT_SHIFT_MAX 30

__u64 event_window; /* since when, ns */
__u32 event_seen;   /* in it */
__u32 event_shift;

static __always_inline __u64 event__chance(void)
{
	__u64 now = clock__now();
	__u32 shift = event_shift & 31, seen = ++event_seen, i;

	if (now - event_window >= cfg_window_ns) {
		shift = 0;
		if (now - event_window < 2 * cfg_window_ns)
			for (i = 0; i < EVENT_SHIFT_MAX && seen >> shift > EVENT_WINDOW; i++)
				shift = (shift + 1) & 31;
		event_shift = shift;
		event_seen = 0;
		event_window = now;
	} else if (seen >> shift > 2 * EVENT_WINDOW && shift < EVENT_SHIFT_MAX) {
		event_shift = ++shift;
	}
	return bpf_get_prandom_u32() & ((1U << shift) - 1) ? 0 : 1ULL << shift;
}

/* event__due - what this hit stands for, if it is one that is sampled; else 0. */
static __always_inline __u64 event__due(bool fetches)
{
	if (cfg_window_ns)
		return event__chance();
	if (cfg_every <= 1)
		return 1;
	return event__count(fetches) % cfg_every ? 0 : cfg_every;
}

/* event__weight - what a sample stands for that a perf event caused: how many there were. */
static __always_inline __u64 event__weight(const struct bpf_perf_event_data *ctx)
{
	if (cfg_event == XR_EVENT_TICK)
		return 1;
	return ctx->sample_period ? ctx->sample_period : 1;
}

#endif
