/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/governor.h"

#include <stdio.h>

#define AIM  0.9  /* of the room for samples, when the rate changes */
#define CALM 0.7  /* of it: below, the rate is raised */
#define ROOM 0.2  /* of the limit: so much there is in any case */
#define UP   4.0  /* times, at most */
#define DOWN 0.25 /* times, at least: one window may be unlike the others */

void governor__init(struct governor *g, double max_cpu, uint32_t asked,
		    const struct governor_use *use)
{
	*g = (struct governor){.max_cpu = max_cpu, .asked = asked, .freq = asked, .last = *use};
}

/* Of one CPU in @ns.  A count may have restarted. */
static double governor__share(uint64_t now, uint64_t before, uint64_t ns)
{
	return now > before ? (double)(now - before) / (double)ns : 0;
}

/* The rate that is wanted after a window at @now, in which samples used @used and had @room. */
static uint32_t governor__want(const struct governor *g, uint32_t now, double used, double room)
{
	double times = used > 0 ? AIM * room / used : UP;
	uint32_t want = g->freq;

	if (g->max_cpu <= 0)
		return g->asked;
	if (times > UP)
		times = UP;
	if (times < DOWN)
		times = DOWN;
	if (used > room) {
		want = (uint32_t)(now * times);
	} else if (g->freq < g->asked && used < CALM * room) {
		want = (uint32_t)(now * times);
		if (want <= g->freq)
			want = g->freq + 1;
	}
	if (want > g->asked)
		want = g->asked;
	return want ? want : 1;
}

/*
 * A load that comes and goes must not make the rate go up and down with it: after each change it is
 * not raised for a while, and for longer each time that it had to be lowered soon after it was
 * raised.
 */
static void governor__hold(struct governor *g, bool lowered, uint64_t now)
{
	if (lowered && g->raised_at && now - g->raised_at < 2 * g->hold_ns)
		g->hold_ns = 2 * g->hold_ns < GOVERNOR_HOLD_MAX_NS ? 2 * g->hold_ns
								   : GOVERNOR_HOLD_MAX_NS;
	else if (lowered || !g->hold_ns)
		g->hold_ns = GOVERNOR_HOLD_NS;
	if (!lowered)
		g->raised_at = now;
	g->held_until = now + (lowered ? g->hold_ns : GOVERNOR_HOLD_NS);
}

/* The rate cannot reduce what is used: report that? */
static bool governor__rest(struct governor *g)
{
	if (g->max_cpu <= 0 || g->samples + g->own <= g->max_cpu || g->said_rest)
		return false;
	g->said_rest = true;
	snprintf(g->why, sizeof(g->why),
		 "%.2f%% of a CPU was used, %.2f%% of it by samples; a rate below %u Hz would not "
		 "change much (--max-cpu %g%%)",
		 (g->samples + g->own) * 100, g->samples * 100, g->freq, g->max_cpu * 100);
	return true;
}

bool governor__look(struct governor *g, const struct governor_use *use, uint32_t now)
{
	const uint64_t ns = use->now_ns > g->last.now_ns ? use->now_ns - g->last.now_ns : 0;
	uint32_t want, before = g->freq;
	double rest, room;

	if (ns < GOVERNOR_WINDOW_NS)
		return false;
	g->samples = governor__share(use->samples_ns, g->last.samples_ns, ns);
	g->own = governor__share(use->own_ns, g->last.own_ns, ns);
	g->last = *use;
	rest = g->own > g->samples ? g->own - g->samples : 0;
	room = g->max_cpu - rest;
	if (room < ROOM * g->max_cpu)
		room = ROOM * g->max_cpu;
	want = governor__want(g, now, g->samples + g->own - rest, room);
	if (want > before && g->max_cpu > 0 && use->now_ns < g->held_until)
		want = before;
	g->freq = want;
	if (want == before)
		return governor__rest(g);
	governor__hold(g, want < before, use->now_ns);
	g->lowered += want < before;
	snprintf(g->why, sizeof(g->why),
		 "the rate is %s from %u to %u Hz: samples used %.2f%% of a CPU, the rest %.2f%% "
		 "(--max-cpu %g%%)",
		 want < before ? "lowered" : "raised", before, want, g->samples * 100, g->own * 100,
		 g->max_cpu * 100);
	return true;
}
