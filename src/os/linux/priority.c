/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/linux/priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

bool priority__raise(void)
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

void priority__lower(void)
{
	struct sched_param other = {.sched_priority = 0};

	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &other);
	setpriority(PRIO_PROCESS, 0, 0);
}
