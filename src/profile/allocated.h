/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process allocated between two samples, by R's counts of its memory (struct xr_memory).
 */
#ifndef XR_PROFILE_ALLOCATED_H
#define XR_PROFILE_ALLOCATED_H

#include "profile/profile.h"

/* The counts of one process at its last sample that had them.  Zeroed: there was none. */
struct allocated {
	bool begun, counted; /* there was one; one that `bytes` is of */
	uint64_t bytes;	     /* in use, then */
	uint64_t owed;	     /* allocated since the last sample that was not in a collection */
	uint64_t dups;
};

/*
 * allocated__sample - @s is the next sample of the process: its duplications are from now on those
 * since the last one.  Returns the bytes allocated since then, 0 where that is not known.  What a
 * collection freed meanwhile is missing: there are as many at least.
 *
 * A collection takes the counts down at its end (RunGenCollect(), memory.c); while it runs they are
 * what they were before, which the next sample outside of it shows, or on their way, from which
 * nothing is concluded.  Nothing is from samples of another thread than R's: what R allocates is
 * not its doing.
 */
uint64_t allocated__sample(struct allocated *a, struct sample *s);

#endif
