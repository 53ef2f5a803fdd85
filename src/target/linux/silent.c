/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/silent.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/proc.h"

#define SILENCE_NS (60 * NS_PER_S) /* after the worker has ended */

static bool silent__is(const struct silent *s, pid_t pid, const struct proc *p)
{
	return s->pid == pid && s->start_time == p->start_time && s->stack == p->stack;
}

/* The kernel answers the reads of /proc here from memory. */
int silents__allow(struct silents *s, pid_t pid, bool *quiet, struct errmsg *f)
{
	struct silent *one = NULL;
	size_t of_user = 0;
	struct proc p;

	if (!s->n || proc__read(pid, &p))
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		struct silent *it = &s->list[i];

		if (silent__is(it, pid, &p)) {
			*quiet = true;
			return errmsg__set(f, -ETIMEDOUT, "process %d (%s) did not answer before",
					   (int)pid, p.comm);
		}
		if (it->uid == p.uid) {
			one = it;
			of_user++;
		}
	}
	if (of_user < ASK_USER_MAX && s->n < ASK_ALL_MAX)
		return 0;
	one = one ? one : &s->list[0];
	*quiet = one->told;
	for (size_t i = 0; i < s->n; i++)
		s->list[i].told |= s->list[i].uid == one->uid;
	return errmsg__set(f, -EBUSY,
			   "process %d (%s) and others%s are not inspected for now: %zu processes "
			   "did not answer",
			   (int)pid, p.comm, of_user < ASK_USER_MAX ? "" : " of its user",
			   of_user < ASK_USER_MAX ? s->n : of_user);
}

void silents__add(struct silents *s, pid_t pid, int fd, uint64_t now, struct errmsg *f)
{
	struct proc p;

	if (proc__read(pid, &p)) /* it has ended: of no user */
		p = (struct proc){.uid = UINT32_MAX};
	s->total++;
	errmsg__set(f, 0,
		    "process %d (%s) did not answer within %d s: its memory, or a file that it has "
		    "mapped, cannot be read; perhaps a file system does not respond",
		    (int)pid, p.comm, ASK_DEADLINE_MS / 1000);
	if (s->n == ASK_ALL_MAX) { /* asked before the limit was reached */
		close(fd);
		return;
	}
	s->list[s->n++] = (struct silent){
		.pid = pid,
		.start_time = p.start_time,
		.stack = p.stack,
		.uid = p.uid,
		.fd = fd,
		.ended_at = now,
	};
}

void silents__tend(struct silents *s, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct silent *it = &s->list[i];
		struct pollfd end = {.fd = it->fd};

		if (it->fd >= 0 && poll(&end, 1, 0) > 0) {
			close(it->fd);
			it->fd = -1;
			it->ended_at = now;
		}
		if (it->fd >= 0 || now - it->ended_at < SILENCE_NS)
			s->list[kept++] = *it;
	}
	s->n = kept;
}

void silents__free(struct silents *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].fd >= 0)
			close(s->list[i].fd);
	s->n = 0;
}
