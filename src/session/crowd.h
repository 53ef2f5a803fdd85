/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes for which there was no room.  Where /proc is gone through again and again they are
 * found each time: each is counted once, and looked at again only when there may be room.
 */
#ifndef XR_SESSION_CROWD_H
#define XR_SESSION_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

/*
 * After so long one that is known is tried, whatever else is known of the room.  If none fits at
 * all, all are tried after a second, and after twice as long each time, up to this.
 */
#define CROWD_S 60u

/* Where there may be no room: with the engine, or in the session's own list. */
enum crowd_place { CROWD_ENGINE, CROWD_LIST, CROWD_PLACES };

/* Starts as { 0 }, freed by crowd__free.  Times are ns, CLOCK_MONOTONIC. */
struct crowd {
	uint64_t counted;	/* those for which there was no room */
	enum crowd_place place; /* where there was none last, */
	uint32_t size;		/* how many were there then, */
	uint64_t at;		/* and when that was */
	bool full;		/* there has been no room since */
	uint32_t rest;		/* s until all are tried again; 0: some fit */
	uint32_t tried;		/* of those known, in the second that began at */
	uint64_t tried_at;
	/* (pid, start time), up to LIMIT_CROWD each; the second are given up first */
	struct map known, earlier;
};

/* crowd__full - there is no room for more than @size at @place. */
void crowd__full(struct crowd *c, enum crowd_place place, uint32_t size, uint64_t now);

/* crowd__fits - one was taken by the engine, which has @size of them now. */
void crowd__fits(struct crowd *c, uint32_t size);

/* crowd__count - there was no room for a process; it is counted if it is not known. */
void crowd__count(struct crowd *c, pid_t pid, uint64_t start_time);

/*
 * crowd__try - may one that is known be tried again?  @sizes: how many are at each place.  No more
 * are let through in a second than there may be room for.  True for all while there is room.
 */
bool crowd__try(struct crowd *c, const uint32_t sizes[CROWD_PLACES], uint64_t now);

/* crowd__knows - was this one counted?  Those asked for again and again are not forgotten. */
bool crowd__knows(struct crowd *c, pid_t pid, uint64_t start_time);

/*
 * crowd__over - has so much room come since, or has it been so long, that all should be looked at
 * again?  True once.
 */
bool crowd__over(struct crowd *c, const uint32_t sizes[CROWD_PLACES], uint64_t now);

/* crowd__starved - did none fit lately, of those that were found? */
bool crowd__starved(const struct crowd *c, uint64_t now);

void crowd__free(struct crowd *c);

#endif
