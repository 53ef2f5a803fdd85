/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many ticks a sample of a thread stands for: of wall time, or of the thread's CPU time
 * (--clock cpu).
 *
 * Reading a deep stack, or one that moves, can take longer than a period.  If the ticks in that
 * time were left out, such stacks would have fewer samples than their time.  So a sample stands
 * for them, too: TICKS_MAX in all, and what is more is missed.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_TICKS_H
#define XR_ENGINE_REMOTE_LINUX_TICKS_H

#include "engine/remote/linux/thread.h"

#define TICKS_MAX    16
#define TICKS_BEFORE UINT64_MAX /* `counted` of a new target: none before its first is due */

struct ticks {
	uint64_t cpu_time; /* ns, at the last tick; --clock cpu */
	int64_t cpu_owed;  /* ns of CPU time that no sample stands for yet */
	uint64_t counted;  /* ticks during the last read, which that sample stands for */
};

/* ticks__due_wall - this tick and the @missed before it, if no sample stands for them. */
uint64_t ticks__due_wall(struct ticks *t, uint64_t missed);

/* ticks__due_cpu - how many periods of @period ns of CPU time are over.  A negative errno: the CPU
 * time of @thread cannot be counted. */
int64_t ticks__due_cpu(struct ticks *t, struct remote_thread *thread, int64_t period);

/* ticks__later - the @due samples were not taken, and stay due. */
void ticks__later(struct ticks *t, uint64_t due, int64_t period);

/*
 * ticks__meanwhile_wall, ticks__meanwhile_cpu - how many more a sample stands for whose read took
 * @ns; the last of wall time is the next tick.
 */
uint64_t ticks__meanwhile_wall(struct ticks *t, uint64_t ns, uint32_t freq);
uint64_t ticks__meanwhile_cpu(struct ticks *t, struct remote_thread *thread, int64_t period);

#endif
