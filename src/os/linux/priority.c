/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/linux/priority.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "os/rights.h"

static bool priority__set(void)
{
	struct sched_param first = {.sched_priority = 1}, other = {.sched_priority = 0};

	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) || errno || sched_getscheduler(0) != SCHED_OTHER)
		return false;
	if (!sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		return true;
	return !sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &other) &&
	       !setpriority(PRIO_PROCESS, 0, -20);
}

bool priority__raise(void)
{
	uint64_t raised = rights__raise(RIGHTS_PRIORITY);
	bool yes = priority__set();

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
void priority__raise_for(unsigned int ms)
{
	struct sigaction act = {.sa_handler = on_time_used, .sa_flags = SA_RESTART};
	struct rlimit limit;

	/* the kernel raises the limit each time it was reached */
	if (sigaction(SIGXCPU, &act, NULL) || getrlimit(RLIMIT_RTTIME, &limit))
		return;
	limit.rlim_cur = ms * 1000u;
	if (!setrlimit(RLIMIT_RTTIME, &limit))
		priority__raise();
}

void priority__lower(void)
{
	struct sched_param other = {.sched_priority = 0};

	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &other);
	setpriority(PRIO_PROCESS, 0, 0);
}
