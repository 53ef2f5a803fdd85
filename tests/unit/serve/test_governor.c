/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The governor against machines that are made up: each costs so much a sample and so much in any
 * case, and the rate must settle where the limit is kept, without going up and down.
 */
#include <math.h>

#include "serve/governor.h"
#include "tap.h"

#define SECOND UINT64_C(1000000000)

/* Of one sample, and of one second. */
struct machine {
	double kernel_ns, own_ns, fixed_ns;
	uint32_t cpus;	/* that are busy */
	uint32_t limit; /* Hz that the system allows; 0: any */
	uint32_t freq;	/* Hz now */
	struct governor_use use;
};

static void machine__run(struct machine *m, struct governor *g, unsigned int seconds,
			 unsigned int *said)
{
	for (unsigned int i = 0; i < seconds; i++) {
		double samples = (double)m->freq * m->cpus;

		m->use.now_ns += SECOND;
		m->use.samples_ns += (uint64_t)(samples * m->kernel_ns);
		m->use.own_ns += (uint64_t)(samples * m->own_ns + m->fixed_ns);
		if (!governor__look(g, &m->use, m->freq))
			continue;
		(*said)++;
		m->freq = m->limit && g->freq > m->limit ? m->limit : g->freq;
	}
}

static double machine__share(const struct machine *m)
{
	return ((double)m->freq * m->cpus * (m->kernel_ns + m->own_ns) + m->fixed_ns) / 1e9;
}

static void settles(const char *what, struct machine m, uint32_t asked, double max_cpu)
{
	struct governor g;
	unsigned int said = 0, then = 0;
	double share;

	m.freq = asked;
	m.use.now_ns = 77 * SECOND;
	governor__init(&g, max_cpu, asked, &m.use);
	machine__run(&m, &g, 120, &said);
	share = machine__share(&m);
	tap__ok(share <= max_cpu && (m.freq == asked || share > 0.6 * max_cpu),
		"%s: settles at %u of %u Hz, %.2f%% of a CPU", what, m.freq, asked, share * 100);
	machine__run(&m, &g, 600, &then);
	tap__ok(!then, "%s: and stays there", what);
	if (m.freq == asked)
		return;
	tap__ok(g.lowered && strstr(g.why, "Hz"), "%s: %s", what, g.why);
	/* the load goes away */
	m.cpus = 1;
	m.kernel_ns = m.own_ns = 10;
	machine__run(&m, &g, 300, &said);
	tap__ok(m.freq == asked && g.raised_at, "%s: raised again when it costs less", what);
}

/* Programs come and go, which costs what it costs. */
TEST(rest)
{
	struct machine m = {.cpus = 2, .kernel_ns = 3000, .own_ns = 1000, .fixed_ns = 2e7};
	unsigned int said = 0;
	struct governor g;

	m.freq = 19;
	governor__init(&g, 0.01, 19, &m.use);
	machine__run(&m, &g, 600, &said);
	tap__ok(m.freq == 19, "what a lower rate would not change does not lower it");
	tap__ok(said == 1 && strstr(g.why, "would not change"), "and is reported once: %s", g.why);
	m.kernel_ns = 1e6;
	machine__run(&m, &g, 600, &said);
	tap__ok(m.freq < 19 && m.freq * m.kernel_ns * m.cpus / 1e9 <= 0.002,
		"samples have a fifth of the limit beside it: %u Hz", m.freq);
	m.kernel_ns = 1e8;
	machine__run(&m, &g, 600, &said);
	tap__ok(m.freq == 1, "and one sample a second in any case");
}

TEST(window)
{
	struct governor_use use = {.now_ns = SECOND, .samples_ns = 5 * SECOND, .own_ns = SECOND};
	struct governor g;

	governor__init(&g, 0.01, 99, &use);
	use.now_ns += GOVERNOR_WINDOW_NS - 1;
	use.samples_ns += SECOND;
	tap__ok(!governor__look(&g, &use, 99), "nothing before a window is over");
	use.now_ns += 1;
	governor__look(&g, &use, 99);
	tap__ok(g.freq == 24, "then at most to a quarter: %u", g.freq);
	tap__ok(fabs(g.samples - 0.2) < 1e-9 && g.own == 0, "the shares are those of the window");
	use.now_ns += GOVERNOR_WINDOW_NS;
	use.samples_ns = use.own_ns = 0;
	governor__look(&g, &use, 24);
	tap__ok(g.samples == 0 && g.own == 0, "a count that restarted has a share of 0");
	use.now_ns -= 2 * GOVERNOR_WINDOW_NS;
	tap__ok(!governor__look(&g, &use, 24), "a clock that goes back is not a window");
}

TEST(limit)
{
	struct machine m = {.cpus = 1, .kernel_ns = 1000, .limit = 50, .freq = 50};
	unsigned int said = 0;
	struct governor g;

	governor__init(&g, 0.01, 99, &m.use);
	machine__run(&m, &g, 120, &said);
	tap__ok(!said && m.freq == 50, "what the system does not allow is not tried again");
	m.kernel_ns = 1e6;
	machine__run(&m, &g, 30, &said);
	tap__ok(said && m.freq == 9, "and lowered from what it does: %u", m.freq);
}

/* A load that comes and goes. */
TEST(flaps)
{
	struct machine m = {.cpus = 2, .kernel_ns = 1000, .own_ns = 1000, .freq = 99};
	unsigned int said = 0;
	struct governor g;

	governor__init(&g, 0.01, 99, &m.use);
	for (int i = 0; i < 360; i++) {
		m.kernel_ns = i % 2 ? 1000 : 1e6;
		machine__run(&m, &g, 10, &said);
	}
	tap__ok(said < 30, "a load that comes every 20 seconds changes the rate %u times an hour",
		said);
	m.kernel_ns = 1000;
	machine__run(&m, &g, 4000, &said);
	tap__ok(m.freq == 99, "when it stays away the rate is what was asked for again");
}

TEST(settles)
{
	settles("little load", (struct machine){.kernel_ns = 2800, .own_ns = 2000, .cpus = 2}, 19,
		0.01);
	settles("128 CPUs", (struct machine){.kernel_ns = 2800, .own_ns = 2000, .cpus = 128}, 99,
		0.01);
	settles("a fixed part",
		(struct machine){.kernel_ns = 2800, .own_ns = 2000, .cpus = 64, .fixed_ns = 2e6},
		99, 0.01);
}
