/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/switching.h"

#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/perf_events.h"

/* A look takes some 5 us for each thread: at most 1/200 of the time. */
#define LOOK_NS	       (500 * NS_PER_MS)
#define LOOK_THREAD_NS NS_PER_MS
/* Fewer are not much: the ticks of threads are exact, those of CPUs come by chance. */
#define MUCH 5000u /* a second */

bool switching__much(struct switching *s, struct perf_events *events, uint64_t now_ns,
		     uint64_t *rate)
{
	const uint64_t passed = now_ns - s->looked_ns;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t ticks, switches;

	if (s->much || passed < LOOK_NS + perf_events__count(events) * LOOK_THREAD_NS)
		return false;
	switches = perf_events__switches(events); /* 0 when it is the first look */
	s->looked_ns = now_ns;
	*rate = switches * NS_PER_S / passed;
	ticks = (cpus > 0 ? (uint64_t)cpus : 1) * perf_events__freq(events);
	s->much = *rate > MUCH && *rate > ticks;
	return s->much;
}
