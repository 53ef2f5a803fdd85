/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>

#include "base/arena.h"

/*
 * Blocks grow with what there is: many arenas stay small.  With the largest ones malloc() still
 * gives memory back to the system when it is freed.
 */
#define ARENA_BLOCK_MIN 1024u
#define ARENA_BLOCK_MAX 65536u

struct arena_block {
	struct arena_block *next;
	size_t size; /* of data */
	_Alignas(8) char data[];
};

static bool arena__grow(struct arena *a, size_t size)
{
	size_t room = a->total < ARENA_BLOCK_MIN ? ARENA_BLOCK_MIN : a->total;
	struct arena_block *b;

	if (room > ARENA_BLOCK_MAX)
		room = ARENA_BLOCK_MAX;
	if (room < size)
		room = size;
	if (!budget__take(a->budget, sizeof(*b) + room)) {
		room = size; /* what is left may do for this one */
		if (!budget__take(a->budget, sizeof(*b) + room))
			return false;
	}
	b = malloc(sizeof(*b) + room);
	if (!b) {
		budget__give(a->budget, sizeof(*b) + room);
		return false;
	}
	a->total += sizeof(*b) + room;
	b->size = room;
	b->next = a->blocks;
	a->blocks = b;
	a->used = 0;
	a->size = room;
	return true;
}

void *arena__alloc(struct arena *a, size_t size)
{
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (size > a->size - a->used && !arena__grow(a, size))
		return NULL;
	p = a->blocks->data + a->used;
	a->used += size;
	return p;
}

void arena__free(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	budget__give(a->budget, a->total);
	*a = (struct arena){.budget = a->budget};
}
