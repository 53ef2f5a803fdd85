/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk (walk.h) over an image of R's memory: what its includers have in common.  They define
 * walk__known, walk__send_symbol and walk__send_hashed, and begin their struct run with a
 * struct walk_image.
 */
#ifndef XR_TEST_WALK_IMAGE_H
#define XR_TEST_WALK_IMAGE_H

#include "target/layouts.h"
#include "r_image.h"
#include "tap.h"

#define WALK_FN static inline __attribute__((unused))
#define WALK_PLAIN

#include "walk.h"

struct walk_image {
	struct walk walk; /* first: the hooks get it */
	struct image *image;
	struct xr_slot *slots;
	uint32_t nslots, slots_max;
	uint64_t now;	/* what walk__now() says, */
	uint64_t pace;	/* and by how much more the next time */
	uint64_t asked; /* how often it was */
	struct xr_place places[32];
	uint32_t nplaces;
};

static int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len, __u64 addr)
{
	return image__read(((struct walk_image *)w)->image, dst, len, addr);
}

static __u64 walk__now(struct walk *w)
{
	struct walk_image *r = (struct walk_image *)w;

	r->asked++;
	return r->now += r->pace;
}

static int walk__send_place(struct walk *w, __u64 id, __u64 file, __u32 line)
{
	struct walk_image *r = (struct walk_image *)w;

	for (uint32_t i = 0; i < r->nplaces; i++)
		if (r->places[i].id == id)
			return 0;
	tap__bail_if(r->nplaces == sizeof(r->places) / sizeof(r->places[0]),
		     "more places than there can be");
	r->places[r->nplaces++] = (struct xr_place){.id = id, .file = file, .line = line};
	return 0;
}

static int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct walk_image *r = (struct walk_image *)w;

	tap__bail_if(r->nslots == r->slots_max, "more slots than there can be");
	r->slots[r->nslots++] = (struct xr_slot){word, more};
	return 0;
}

/* The newest layout that is known. */
static inline const struct xr_layout *layout_now(void)
{
	return layouts__last(LAYOUTS_X86_64_LINUX);
}

#endif
