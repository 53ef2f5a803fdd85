/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that wait: those to be looked at, and those that did not fit.  A scan of /proc finds
 * the latter each time; each is counted once, and looked at again only when there may be room.
 * Times are ns, CLOCK_MONOTONIC.
 */
#ifndef XR_SESSION_WAITING_H
#define XR_SESSION_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "base/map.h"

/* A queue of processes to be looked at.  Starts as { 0 }, freed by pids__free. */
struct pids {
	pid_t *list;
	size_t first, n, room; /* list[first] to list[n - 1] */
};

/* pids__put - -ENOMEM. */
int pids__put(struct pids *q, pid_t pid);

/* pids__take - the one that was put first; false: there is none. */
bool pids__take(struct pids *q, pid_t *pid);

static inline bool pids__empty(const struct pids *q)
{
	return q->first == q->n;
}

void pids__free(struct pids *q);

/*
 * After so long a known process is tried even if nothing is known of the room.  If none fits at
 * all, all are tried after a second, and after twice as long each time, up to this.
 */
#define WAITING_S 60u

/* Where there may be no room: with the engine, or in the session's list. */
enum waiting_place { WAITING_ENGINE, WAITING_LIST, WAITING_PLACES };

/* The processes that did not fit.  Starts as { 0 }, freed by waiting__free. */
struct waiting {
	uint64_t counted;	  /* processes that did not fit, each once */
	enum waiting_place place; /* that was full last, */
	uint32_t size;		  /* how many were there then, */
	uint64_t at;		  /* and when that was */
	struct errmsg why;
	bool full;	/* there has been no room since */
	uint32_t rest;	/* s until all are tried again; 0: some fit */
	uint32_t tried; /* of those known, in the second that began at */
	uint64_t tried_at;
	/* (pid, start time), up to LIMIT_WAITING each; the second are dropped first */
	struct map known, earlier;
};

/* waiting__full - @place is full with @size processes; @why: NULL leaves the reason as it was. */
void waiting__full(struct waiting *w, enum waiting_place place, uint32_t size,
		   const struct errmsg *why, uint64_t now);

/* waiting__fits - the engine took one, and has @size of them now. */
void waiting__fits(struct waiting *w, uint32_t size);

/* waiting__count - a process did not fit; it is counted if it is not known. */
void waiting__count(struct waiting *w, pid_t pid, uint64_t start_time);

/*
 * waiting__try - may one that is known be tried again?  @sizes: how many are at each place.  In a
 * second, no more are tried than may fit.  True for all while there is room.
 */
bool waiting__try(struct waiting *w, const uint32_t sizes[WAITING_PLACES], uint64_t now);

/* waiting__knows - was this one counted?  Those that are looked up again are kept longest. */
bool waiting__knows(struct waiting *w, pid_t pid, uint64_t start_time);

/*
 * waiting__over - is there so much room now, or has it been so long, that all should be looked at
 * again?  True once.
 */
bool waiting__over(struct waiting *w, const uint32_t sizes[WAITING_PLACES], uint64_t now);

/* waiting__starved - did none fit lately, of those that were found? */
bool waiting__starved(const struct waiting *w, uint64_t now);

void waiting__free(struct waiting *w);

#endif
