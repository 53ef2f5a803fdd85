/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/allocated.h"

/*
 * R's own profiler sets the number to 0 with each of its samples (reset_duplicate_counter(),
 * duplicate.c): one that fell counts from there.
 */
static void allocated__dups(struct allocated *a, struct sample *s)
{
	const uint64_t dups = s->memory.dups;

	s->memory.dups = 0;
	if (a->begun)
		s->memory.dups = dups >= a->dups ? dups - a->dups : dups;
	a->dups = dups;
	a->begun = true;
}

uint64_t allocated__sample(struct allocated *a, struct sample *s)
{
	const struct xr_memory *m = &s->memory;
	uint64_t bytes, owed;

	if (!(s->flags & XR_F_MEMORY))
		return 0;
	allocated__dups(a, s);
	if (s->flags & XR_F_OTHER_THREAD)
		return 0;
	bytes = m->small + m->large + m->nodes;
	if (a->counted && bytes > a->bytes)
		a->owed += bytes - a->bytes;
	if (s->flags & XR_F_GC) {
		if (a->counted && bytes > a->bytes)
			a->bytes = bytes;
		return 0;
	}
	a->bytes = bytes;
	a->counted = true;
	owed = a->owed;
	a->owed = 0;
	return owed;
}
