/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The priority of who must be on time.  In children: it counts for the process. */
#define _GNU_SOURCE
#include "os/linux/priority.h"

#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "child.h"
#include "tap.h"

static bool real_time(void)
{
	return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
}

static bool may(void)
{
	return priority__raise() && real_time();
}

static bool again(void)
{
	bool ok = true;

	for (int i = 0; i < 3 && ok; i++) {
		ok = priority__raise() && real_time() && !priority__raise();
		priority__lower();
		ok = ok && !real_time();
	}
	return ok;
}

/* Compute until this is as others, 5 s of CPU time at most. */
static bool lowered(void)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (real_time() && used.tv_sec < 5);
	return !real_time();
}

/*
 * Wait once while it is real-time.  Until then the kernel counts on from where it was: the next
 * tick would lower it again, before a look at it.
 */
static bool rested(void)
{
	const struct timespec ms = {.tv_nsec = NS_PER_MS};
	bool ok = priority__raise() && !nanosleep(&ms, NULL);

	priority__lower();
	return ok;
}

static bool for_a_while(void)
{
	return priority__raise_for(50) && real_time() && !priority__raise_for(50) && lowered() &&
	       rested() && priority__raise_for(50) && real_time() && lowered();
}

/* Who waits in between stays real-time. */
static bool with_waits(void)
{
	const struct timespec ms = {.tv_nsec = NS_PER_MS};
	struct timespec used;
	bool ok = priority__raise_for(400);

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
		if (used.tv_nsec / NS_PER_MS % 20 == 0)
			nanosleep(&ms, NULL);
	} while (real_time() && used.tv_sec < 1);
	return ok && real_time();
}

TEST(priority)
{
	if (!child__holds(may)) {
		tap__skip("no real-time priority", "the priority is raised");
		return;
	}
	tap__ok(child__holds(again), "it is raised again after it was lowered");
	tap__ok(child__holds(for_a_while), "it is lowered when its time is used, and raised again");
	tap__ok(child__holds(with_waits), "who waits in between keeps it");
}
