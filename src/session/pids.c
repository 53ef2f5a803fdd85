/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/pids.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 64u

int pids__put(struct pids *q, pid_t pid)
{
	size_t room = q->room ? q->room * 2 : ROOM_MIN;
	pid_t *more;

	if (q->n == q->room) {
		more = realloc(q->list, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		q->list = more;
		q->room = room;
	}
	q->list[q->n++] = pid;
	return 0;
}

bool pids__take(struct pids *q, pid_t *pid)
{
	if (q->first == q->n)
		return false;
	*pid = q->list[q->first++];
	if (q->first == q->n)
		q->first = q->n = 0;
	return true;
}

void pids__free(struct pids *q)
{
	free(q->list);
	*q = (struct pids){0};
}
