/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk (walk.h) over an image of R's memory, and its sample as Rprof() writes it. */
#ifndef XR_TEST_WALK_IMAGE_H
#define XR_TEST_WALK_IMAGE_H

#include "target/layouts.h"
#include "r_image.h"
#include "replay/recorded_walk.h"
#include "tap.h"

static inline int run__read(void *arg, char kind, uint64_t addr, void *to, uint32_t len)
{
	return image__read(arg, to, len, addr);
}

static inline void run__free(struct recorded_walk *r)
{
	recorded_walk__free(r);
	free(r);
}

/* The newest layout that is known. */
static inline const struct xr_layout *layout_now(void)
{
	return layouts__last(LAYOUTS_X86_64_LINUX);
}

/* The sample as Rprof() writes it, but with the names of files; until the next call. */
static inline const char *run__line(const struct recorded_walk *r)
{
	static struct buf line;

	recorded_walk__line(r, NULL, 0, -1, &line);
	return line.data;
}

/* One more walk: the sample as run__line() writes it. */
static inline const char *run__says(struct recorded_walk *r)
{
	return recorded_walk__again(r) == WALK_DONE ? run__line(r) : "(not done)";
}

#endif
