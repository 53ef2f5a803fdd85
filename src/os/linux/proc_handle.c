/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/proc_handle.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Events, without which a process cannot be profiled at all, need descriptors as well: of those
 * there may be, handles take a part.  (Descriptors are given from the lowest number on.)
 */
#define LIMIT_PART 4

void proc_handle__open(struct proc_handle *h, pid_t pid)
{
	struct rlimit limit;

	h->at = syscall(SYS_pidfd_open, pid, 0);
	if (h->at >= 0 && !getrlimit(RLIMIT_NOFILE, &limit) &&
	    (rlim_t)h->at >= limit.rlim_cur / LIMIT_PART)
		proc_handle__close(h);
}

void proc_handle__close(struct proc_handle *h)
{
	if (h->at >= 0)
		close((int)h->at);
	*h = PROC_HANDLE_NONE;
}

bool proc_handle__is_open(const struct proc_handle *h)
{
	return h->at >= 0;
}

bool proc_handle__ended(const struct proc_handle *h)
{
	struct pollfd fd = {.fd = (int)h->at, .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

bool proc_handle__unused(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}
