/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of found processes; those that do not fit are counted once, and tried again. */
#include "session/waiting.h"

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

TEST(pids)
{
	static struct pids q;
	pid_t pid = 0;
	bool ok = true;

	tap__ok(!pids__take(&q, &pid), "an empty queue has nothing");
	for (pid_t i = 1; i <= 1000; i++) {
		ok &= !pids__put(&q, i);
		if (i % 3 == 0) /* taken while it is filled */
			ok &= pids__take(&q, &pid) && pid == i / 3;
	}
	for (pid_t i = 334; i <= 1000; i++)
		ok &= pids__take(&q, &pid) && pid == i;
	tap__ok(ok && !pids__take(&q, &pid), "first in, first out");
}

TEST(counted)
{
	static struct waiting w;
	bool bounded = true;

	for (int i = 0; i < 3; i++) {
		waiting__count(&w, 10, 1000);
		waiting__count(&w, 11, 1000);
	}
	tap__ok(w.counted == 2 && waiting__knows(&w, 10, 1000), "each is counted once");
	tap__ok(!waiting__knows(&w, 10, 1001), "another process with that pid is another one");
	for (unsigned int i = 0; i < 5 * LIMIT_WAITING; i++) {
		waiting__count(&w, (pid_t)(100 + i), i);
		waiting__knows(&w, 10, 1000);
		bounded = bounded && w.known.count + w.earlier.count <= 2 * LIMIT_WAITING;
	}
	tap__ok(bounded && w.counted == 5 * LIMIT_WAITING + 2,
		"the number that is remembered is bounded");
	tap__ok(waiting__knows(&w, 10, 1000) && !waiting__knows(&w, 11, 1000),
		"those that are found again are remembered");
}

TEST(room)
{
	const uint64_t at = 1000 * NS_PER_S;
	uint32_t sizes[WAITING_PLACES] = {8, 9};
	static struct waiting w;

	tap__ok(waiting__try(&w, sizes, at) && !waiting__over(&w, sizes, at),
		"at first there is room");
	waiting__full(&w, WAITING_ENGINE, 8, NULL, at);
	tap__ok(!waiting__try(&w, sizes, at) && !waiting__over(&w, sizes, at),
		"then there is none");
	sizes[WAITING_ENGINE] = 6;
	tap__ok(waiting__try(&w, sizes, at) && waiting__try(&w, sizes, at) &&
			!waiting__try(&w, sizes, at),
		"no more are tried than there is room for");
	tap__ok(waiting__try(&w, sizes, at + NS_PER_S), "in a second");
	tap__ok(waiting__over(&w, sizes, at) && !waiting__over(&w, sizes, at),
		"much room is reported once");
	sizes[WAITING_ENGINE] = 1;
	waiting__full(&w, WAITING_ENGINE, 1, NULL, at);
	tap__ok(!waiting__try(&w, sizes, at + 59 * NS_PER_S) &&
			waiting__try(&w, sizes, at + 60 * NS_PER_S) &&
			!waiting__try(&w, sizes, at + 60 * NS_PER_S),
		"one is tried after a minute, in any case");
	waiting__fits(&w, 2);
	tap__ok(waiting__try(&w, sizes, at) && waiting__try(&w, sizes, at),
		"and if it fits there is room");
	waiting__full(&w, WAITING_LIST, 9, NULL, at);
	tap__ok(!waiting__try(&w, sizes, at), "a list may be full, too");
	sizes[WAITING_LIST] = 0;
	tap__ok(waiting__over(&w, sizes, at), "and have room again");
}

/* None fits at all: it is the profiler that is short of something. */
TEST(starved)
{
	const uint32_t sizes[WAITING_PLACES] = {0, 0};
	uint64_t at = 1000 * NS_PER_S, rest = 1;
	static struct waiting w;

	tap__ok(!waiting__starved(&w, at), "at first nothing is wrong");
	for (int i = 0; i < 8; i++) {
		waiting__full(&w, WAITING_ENGINE, 0, NULL, at);
		waiting__full(&w, WAITING_ENGINE, 0, NULL, at);
		tap__ok(waiting__starved(&w, at + rest * NS_PER_S) &&
				!waiting__over(&w, sizes, at + rest * NS_PER_S - 1) &&
				!waiting__try(&w, sizes, at + rest * NS_PER_S - 1),
			"none fits: none is tried for %u s", (unsigned int)rest);
		at += rest * NS_PER_S;
		tap__ok(i % 2 ? waiting__over(&w, sizes, at) : waiting__try(&w, sizes, at),
			"then all are");
		rest = 2 * rest < WAITING_S ? 2 * rest : WAITING_S;
	}
	tap__ok(!waiting__starved(&w, at + 2 * WAITING_S * NS_PER_S),
		"a process that has ended is not missing");
	waiting__full(&w, WAITING_ENGINE, 0, NULL, at);
	waiting__fits(&w, 1);
	tap__ok(!waiting__starved(&w, at) && waiting__try(&w, sizes, at),
		"one fits: all are tried");
}

/* --- in a session --- */

static unsigned int scans;

static void on_scan(void *arg, enum notes_level level, const char *line)
{
	scans += strstr(line, "scanning all processes") != NULL;
}

static void poll_on(void)
{
	fake.lost++;
	tap__bail_if(session__poll(session, 20) != SESSION_RUNS, "it does not run: %s",
		     session__why(session)->text);
}

/* Poll until @count, which polling raises, is @want. */
static void poll_until(const unsigned int *count, unsigned int want)
{
	while (*count < want)
		poll_on();
}

/*
 * Poll until all processes were scanned @more times.  Without records of new processes the scans,
 * twice a second, are not reported: then time decides.
 */
static void poll_scans(unsigned int more)
{
	uint64_t limit = os__now() + 2 * more * NS_PER_S;
	unsigned int until = scans + more;

	while (scans < until && os__now() < limit)
		poll_on();
}

static uint64_t refused(void)
{
	session__stats(session, &stats);
	return stats.rows_full;
}

TEST(session)
{
	static struct filters filters;
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
	poll_until(&fake.tries, CHILDREN);
	poll_scans(4);
	tap__ok(fake.adds == 2 && refused() == 2, "two have no room: %llu",
		(unsigned long long)refused());
	tap__ok(fake.tries == 4, "each was tried once: %u", fake.tries);
	for (int i = 0; i < CHILDREN; i++)
		if (c[i].pid == (pid_t)fake.row.pid)
			child__end(&c[i]);
	tries = fake.tries;
	poll_until(&fake.adds, 3);
	tap__ok(fake.adds == 3, "when one has ended there is room for another one");
	poll_scans(3);
	tap__ok(fake.tries <= tries + 2 && refused() == 2, "no process is counted twice: %llu, %u",
		(unsigned long long)refused(), fake.tries - tries);
	session__finish_end();
}
