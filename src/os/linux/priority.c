/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/linux/priority.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "os/rights.h"

/* Is it as it was?  The flag stays with who was raised once, and is returned with the policy. */
static bool priority__is_ordinary(void)
{
	errno = 0;
	return !getpriority(PRIO_PROCESS, 0) && !errno &&
	       (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER;
}

static bool priority__set(void)
{
	struct sched_param first = {.sched_priority = 1}, other = {.sched_priority = 0};

	if (!sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		return true;
	return !sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &other) &&
	       !setpriority(PRIO_PROCESS, 0, -20);
}

bool priority__raise(void)
{
	uint64_t raised;
	bool yes;

	if (!priority__is_ordinary())
		return false;
	raised = rights__raise(RIGHTS_PRIORITY);
	yes = priority__set();
	rights__lower(raised);
	return yes;
}

static void on_time_used(int signal)
{
	int err = errno;

	(void)signal;
	priority__lower();
	errno = err;
}

/* RLIMIT_RTTIME counts what a real-time process uses between two calls in which it waits. */
bool priority__raise_for(unsigned int ms)
{
	struct sigaction act = {.sa_handler = on_time_used, .sa_flags = SA_RESTART};
	struct rlimit limit;

	if (!priority__is_ordinary())
		return false;
	/* the kernel raises the limit each time it was reached */
	if (sigaction(SIGXCPU, &act, NULL) || getrlimit(RLIMIT_RTTIME, &limit))
		return false;
	limit.rlim_cur = ms * 1000u;
	return !setrlimit(RLIMIT_RTTIME, &limit) && priority__raise();
}

void priority__lower(void)
{
	struct sched_param other = {.sched_priority = 0};

	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &other);
	setpriority(PRIO_PROCESS, 0, 0);
}
