/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Room in the engine's slabs (space.h) for tables and spaces.  What is given back is used again
 * only after no sample can be at it any more.
 */
#ifndef XR_NATIVE_SLABS_H
#define XR_NATIVE_SLABS_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "engine/engine.h"

#define SLABS_REST_NS NS_PER_S /* no sample takes so long */

/* Words [first, first + n) of a slab. */
struct extent {
	uint32_t slab, first, n;
};

struct extent_list {
	struct extent *extents;
	size_t count, cap;
};

struct extent_freed {
	struct extent extent;
	uint64_t at; /* ns */
};

struct slabs {
	const struct engine_ops *ops;
	struct engine *engine; /* borrowed */
	uint32_t max, count;   /* slabs */
	struct extent_list free;
	struct extent_freed *freed; /* not yet to be used again, the oldest first */
	size_t nfreed, freed_cap;
	uint64_t used; /* words */
};

/* slabs__init - @max: slabs, at most. */
void slabs__init(struct slabs *s, const struct engine_ops *ops, struct engine *engine,
		 uint32_t max);

/*
 * slabs__take - @n words together; *@words is where they are.  -E2BIG: there is no room; -ENOMEM;
 * or as engine_ops.slab.
 */
int slabs__take(struct slabs *s, uint32_t n, struct extent *out, uint64_t **words);

/* slabs__give - give back what was taken, at @now. */
void slabs__give(struct slabs *s, struct extent extent, uint64_t now);

/* slabs__words - where the words of @extent are. */
uint64_t *slabs__words(struct slabs *s, struct extent extent);

/* slabs__tend - what was given back long ago can be taken again. */
void slabs__tend(struct slabs *s, uint64_t now);

void slabs__free(struct slabs *s);

#endif
