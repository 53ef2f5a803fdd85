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

static inline void run__place(const struct recorded_walk *r, uint64_t file, uint32_t line,
			      struct buf *out)
{
	if (file)
		buf__printf(out, "%s#%d ", recorded_walk__text(r, file), (int32_t)line);
}

/* The sample as Rprof() writes it, but with the names of files; until the next call. */
static inline const char *run__line(const struct recorded_walk *r)
{
	uint32_t step = r->walk.row.flags & XR_ROW_LINES ? 2 : 1;
	static struct buf out;

	out.len = 0;
	run__place(r, r->file, r->line, &out);
	for (uint32_t i = 0; i < r->nslots; i += step) {
		const struct xr_slot *s = &r->slots[i];

		recorded_walk__name(r, s, &out);
		buf__str(&out, " ");
		if (step == 2)
			run__place(r, s[1].word, (uint32_t)s[1].more, &out);
	}
	buf__add(&out, "", 1);
	return out.data;
}

/* One more walk: the sample as run__line() writes it. */
static inline const char *run__says(struct recorded_walk *r)
{
	return recorded_walk__again(r) == WALK_DONE ? run__line(r) : "(not done)";
}

#endif
