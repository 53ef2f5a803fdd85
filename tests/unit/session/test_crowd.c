/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes for which there is no room are counted once, and tried again when there is. */
#include "session/crowd.h"

#include "base/limits.h"
#include "tap.h"

#include "clock.h"
#include "r_child.h"
#include "session_fakes.h"

#define CHILDREN 4

BEFORE()
{
	library__make();
}

TEST(counted)
{
	struct crowd c = {0};
	bool bounded = true;

	for (int i = 0; i < 3; i++) {
		crowd__count(&c, 10, 1000);
		crowd__count(&c, 11, 1000);
	}
	tap__ok(c.counted == 2 && crowd__knows(&c, 10, 1000), "each is counted once");
	tap__ok(!crowd__knows(&c, 10, 1001), "another one of that pid is another one");
	for (unsigned int i = 0; i < 5 * LIMIT_CROWD; i++) {
		crowd__count(&c, (pid_t)(100 + i), i);
		crowd__knows(&c, 10, 1000);
		bounded = bounded && c.known.count + c.earlier.count <= 2 * LIMIT_CROWD;
	}
	tap__ok(bounded && c.counted == 5 * LIMIT_CROWD + 2,
		"of many no more are kept than may be");
	tap__ok(crowd__knows(&c, 10, 1000) && !crowd__knows(&c, 11, 1000),
		"those that are found again and again are");
	crowd__free(&c);
}

TEST(room)
{
	const uint64_t at = 1000 * NS_PER_S;
	uint32_t sizes[CROWD_PLACES] = {8, 9};
	struct crowd c = {0};

	tap__ok(crowd__try(&c, sizes, at) && !crowd__over(&c, sizes, at), "at first there is room");
	crowd__full(&c, CROWD_ENGINE, 8, at);
	tap__ok(!crowd__try(&c, sizes, at) && !crowd__over(&c, sizes, at), "then there is none");
	sizes[CROWD_ENGINE] = 6;
	tap__ok(crowd__try(&c, sizes, at) && crowd__try(&c, sizes, at) &&
			!crowd__try(&c, sizes, at),
		"no more are tried than there is room for");
	tap__ok(crowd__try(&c, sizes, at + NS_PER_S), "in a second");
	tap__ok(crowd__over(&c, sizes, at) && !crowd__over(&c, sizes, at),
		"much room is said, once");
	sizes[CROWD_ENGINE] = 1;
	crowd__full(&c, CROWD_ENGINE, 1, at);
	tap__ok(!crowd__try(&c, sizes, at + 59 * NS_PER_S) &&
			crowd__try(&c, sizes, at + 60 * NS_PER_S) &&
			!crowd__try(&c, sizes, at + 60 * NS_PER_S),
		"one is tried after a minute, in any case");
	crowd__fits(&c, 2);
	tap__ok(crowd__try(&c, sizes, at) && crowd__try(&c, sizes, at),
		"and if it fits there is room");
	crowd__full(&c, CROWD_LIST, 9, at);
	tap__ok(!crowd__try(&c, sizes, at), "a list may be full, too");
	sizes[CROWD_LIST] = 0;
	tap__ok(crowd__over(&c, sizes, at), "and have room again");
	crowd__free(&c);
}

/* None fits at all: it is the profiler that is short of something. */
TEST(starved)
{
	const uint32_t sizes[CROWD_PLACES] = {0, 0};
	uint64_t at = 1000 * NS_PER_S, rest = 1;
	struct crowd c = {0};

	tap__ok(!crowd__starved(&c, at), "at first nothing is wrong");
	for (int i = 0; i < 8; i++) {
		crowd__full(&c, CROWD_ENGINE, 0, at);
		crowd__full(&c, CROWD_ENGINE, 0, at);
		tap__ok(crowd__starved(&c, at + rest * NS_PER_S) &&
				!crowd__over(&c, sizes, at + rest * NS_PER_S - 1) &&
				!crowd__try(&c, sizes, at + rest * NS_PER_S - 1),
			"none fits: none is tried for %u s", (unsigned int)rest);
		at += rest * NS_PER_S;
		tap__ok(i % 2 ? crowd__over(&c, sizes, at) : crowd__try(&c, sizes, at),
			"then all are");
		rest = 2 * rest < CROWD_S ? 2 * rest : CROWD_S;
	}
	tap__ok(!crowd__starved(&c, at + 2 * CROWD_S * NS_PER_S), "who has ended is not missing");
	crowd__full(&c, CROWD_ENGINE, 0, at);
	crowd__fits(&c, 1);
	tap__ok(!crowd__starved(&c, at) && crowd__try(&c, sizes, at), "one fits: all are tried");
	crowd__free(&c);
}

/* --- in a session --- */

static unsigned int scans;

static void on_scan(void *arg, enum notes_level level, const char *line)
{
	(void)arg;
	(void)level;
	scans += strstr(line, "scanning all processes") != NULL;
}

/*
 * Poll until all processes were looked at @more times, or so many were sampled.  Where nobody tells
 * of new processes nobody says either when they are looked at: twice a second.
 */
static void poll_scans(unsigned int more, unsigned int adds)
{
	uint64_t limit = os__now() + (more ? 2 * more : 60) * NS_PER_S;
	unsigned int until = scans + more;

	while ((!more || scans < until) && (!adds || fake.adds < adds) && os__now() < limit) {
		fake.lost++;
		tap__bail_if(session__poll(session, 20) != SESSION_RUNS, "it does not run: %s",
			     session__why(session)->text);
	}
}

static uint64_t refused(void)
{
	session__stats(session, &stats);
	return stats.rows_full;
}

TEST(session)
{
	struct filters filters = {0};
	struct child c[CHILDREN];
	struct errmsg f;
	unsigned int tries;
	char name[16];

	snprintf(name, sizeof(name), "crowd-%d", (int)getpid());
	prctl(PR_SET_NAME, name);
	clock__run(5);
	for (int i = 0; i < CHILDREN; i++)
		c[i] = child__start("mvb");
	session__begin(NULL, 0);
	config.all = true;
	config.filters = &filters;
	config.notes.line = on_scan;
	fake.room = 2;
	tap__bail_if(filters__add(&filters, FILTER_COMM, name, &f) || session__open_start(),
		     "the session does not start");
	poll_scans(0, 2);
	poll_scans(4, 0);
	tap__ok(fake.adds == 2 && refused() == 2, "two have no room: %llu",
		(unsigned long long)refused());
	tap__ok(fake.tries == 4, "each was tried once: %u", fake.tries);
	for (int i = 0; i < CHILDREN; i++)
		if (c[i].pid == (pid_t)fake.row.pid)
			child__end(&c[i]);
	tries = fake.tries;
	poll_scans(0, 3);
	tap__ok(fake.adds == 3, "when one has ended there is room for another one");
	poll_scans(3, 0);
	tap__ok(fake.tries <= tries + 2 && refused() == 2, "nobody is counted twice: %llu, %u",
		(unsigned long long)refused(), fake.tries - tries);
	session__finish_end();
	filters__free(&filters);
	for (int i = 0; i < CHILDREN; i++)
		child__end(&c[i]);
}
