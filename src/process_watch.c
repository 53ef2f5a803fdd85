/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

void process__watch(struct process *p)
{
	if (p->pidfd < 0)
		p->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)p->pid, 0);
	/* between finding R and opening this, the pid may have gone to another process */
	if (p->pidfd >= 0 && p->mine && !target__same(&p->target))
		process__unwatch(p);
}

void process__unwatch(struct process *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

bool process__gone(const struct process *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	if (p->pidfd >= 0)
		return poll(&fd, 1, 0) > 0;
	if (p->mine)
		return !target__same(&p->target);
	return kill((pid_t)p->pid, 0) && errno == ESRCH;
}
