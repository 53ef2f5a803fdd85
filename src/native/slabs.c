/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "native/slabs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "space.h"

void slabs__init(struct slabs *s, const struct engine_ops *ops, struct engine *engine, uint32_t max)
{
	*s = (struct slabs){.ops = ops, .engine = engine, .max = max};
}

uint64_t *slabs__words(struct slabs *s, struct extent extent)
{
	uint64_t *words;

	/* it was made when the extent was taken */
	return s->ops->slab(s->engine, extent.slab, &words) ? NULL : words + extent.first;
}

static int slabs__put_free(struct slabs *s, struct extent extent)
{
	struct extent_list *l = &s->free;
	int err = array__room(&l->extents, l->count, &l->cap, sizeof(*l->extents));

	if (!err)
		l->extents[l->count++] = extent;
	return err;
}

/* Put @extent to those that are free; with its neighbours it is one. */
static void slabs__merge(struct slabs *s, struct extent extent)
{
	struct extent_list *l = &s->free;

	for (size_t i = 0; i < l->count; i++) {
		struct extent *e = &l->extents[i];

		if (e->slab != extent.slab ||
		    (e->first + e->n != extent.first && extent.first + extent.n != e->first))
			continue;
		extent.first = e->first < extent.first ? e->first : extent.first;
		extent.n += e->n;
		*e = l->extents[--l->count];
		i = (size_t)-1; /* there may be one on the other side */
	}
	slabs__put_free(s, extent); /* without memory it stays unused */
}

/* One more slab. */
static int slabs__grow(struct slabs *s)
{
	uint64_t *words;
	int err;

	if (s->count >= s->max)
		return -E2BIG;
	err = s->ops->slab(s->engine, s->count, &words);
	if (!err)
		err = slabs__put_free(s, (struct extent){s->count, 0, XR_SLAB_WORDS});
	s->count += !err;
	return err;
}

/* The smallest that is large enough. */
static struct extent *slabs__best(struct slabs *s, uint32_t n)
{
	struct extent *best = NULL;

	for (size_t i = 0; i < s->free.count; i++) {
		struct extent *e = &s->free.extents[i];

		if (e->n >= n && (!best || e->n < best->n))
			best = e;
	}
	return best;
}

int slabs__take(struct slabs *s, uint32_t n, struct extent *out, uint64_t **words)
{
	struct extent *from;
	int err = 0;

	if (!n || n > XR_SLAB_WORDS)
		return -E2BIG;
	from = slabs__best(s, n);
	if (!from) {
		err = slabs__grow(s);
		from = err ? NULL : slabs__best(s, n);
	}
	if (!from)
		return err;
	*out = (struct extent){from->slab, from->first, n};
	from->first += n;
	from->n -= n;
	if (!from->n)
		*from = s->free.extents[--s->free.count];
	s->used += n;
	*words = slabs__words(s, *out);
	return *words ? 0 : -ENOMEM;
}

void slabs__give(struct slabs *s, struct extent extent, uint64_t now)
{
	if (!extent.n)
		return;
	s->used -= extent.n;
	if (!array__room(&s->freed, s->nfreed, &s->freed_cap, sizeof(*s->freed)))
		s->freed[s->nfreed++] = (struct extent_freed){extent, now};
}

void slabs__tend(struct slabs *s, uint64_t now)
{
	size_t n = 0;

	while (n < s->nfreed && now - s->freed[n].at >= SLABS_REST_NS)
		slabs__merge(s, s->freed[n++].extent);
	if (!n)
		return;
	s->nfreed -= n;
	memmove(s->freed, s->freed + n, s->nfreed * sizeof(*s->freed));
}

void slabs__free(struct slabs *s)
{
	free(s->free.extents);
	free(s->freed);
	*s = (struct slabs){0};
}
