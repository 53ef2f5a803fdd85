/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A queue of processes to be looked at: who comes upon one puts it there, and the session takes it
 * out.  Starts as { 0 }, freed by pids__free.
 */
#ifndef XR_SESSION_PIDS_H
#define XR_SESSION_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pids {
	pid_t *list;
	size_t first, n, room; /* list[first] to list[n - 1] */
};

/* pids__put - -ENOMEM. */
int pids__put(struct pids *q, pid_t pid);

/* pids__take - the one that was put first; false: there is none. */
bool pids__take(struct pids *q, pid_t *pid);

/* pids__empty - is there none? */
static inline bool pids__empty(const struct pids *q)
{
	return q->first == q->n;
}

void pids__free(struct pids *q);

#endif
