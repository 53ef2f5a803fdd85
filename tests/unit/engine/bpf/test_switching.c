/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When events of threads become those of CPUs, by counts and a clock that the test makes up. */

#include "base/clock.h"
#include "engine/bpf/perf_events.h"
#include "engine/bpf/switching.h"
#include "tap.h"

/* What the functions below return if the events are NULL. The linker puts them before the real
 * ones. */
static uint64_t switches;
static uint32_t freq;
static size_t threads;

#define BETWEEN(result, name, constant, fake)                                                      \
	result __real_perf_events__##name(constant struct perf_events *p);                         \
	result __wrap_perf_events__##name(constant struct perf_events *p);                         \
	result __wrap_perf_events__##name(constant struct perf_events *p)                          \
	{                                                                                          \
		return p ? __real_perf_events__##name(p) : fake;                                   \
	}
BETWEEN(uint64_t, switches, , switches)
BETWEEN(uint32_t, freq, const, freq)
BETWEEN(size_t, count, const, threads)

/* One look, @ms after the last: whether that is much. */
static bool look(struct switching *s, uint64_t ms, uint64_t *rate)
{
	*rate = 0;
	return switching__much(s, NULL, s->looked_ns + ms * NS_PER_MS, rate);
}

TEST(switching)
{
	static const struct {
		uint64_t switches, ms, rate; /* rate 0: it does not look */
		size_t threads;
		bool much;
		const char *name;
	} rows[] = {
		{100, 1000, 100, 1, false, "100 in a second: no"},
		{20000, 400, 0, 1, false, "no look before half a second"},
		{20000, 1000, 0, 600, false, "nor before a millisecond more for each thread"},
		{22000, 1100, 20000, 600, true, "then 20,000 a second: yes"},
		{20000, 10000, 2000, 1, false, "as many in ten seconds: no"},
		{5000, 1000, 5000, 1, false, "5,000 a second are not many"},
		{5001, 1000, 5001, 1, true, "5,001 are"},
	};
	const uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	struct switching s;
	uint64_t rate;

	freq = 9;
	for (size_t i = 0; i < COUNT(rows); i++) {
		s = (struct switching){.looked_ns = NS_PER_S};
		switches = rows[i].switches;
		threads = rows[i].threads;
		tap__ok(look(&s, rows[i].ms, &rate) == rows[i].much && rate == rows[i].rate &&
				(rate || s.looked_ns == NS_PER_S),
			"%s", rows[i].name);
	}
	tap__ok(!look(&s, 1000, &rate), "many are reported once");
	freq = 10000;
	for (uint32_t more = 0; more < 2; more++) {
		s = (struct switching){.looked_ns = NS_PER_S};
		switches = freq * cpus + more;
		tap__ok(look(&s, 1000, &rate) == more,
			more ? "more than all CPUs tick are many" : "as many as all CPUs tick: no");
	}
}
