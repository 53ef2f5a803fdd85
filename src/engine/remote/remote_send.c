/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sample that was made, as records. */
#include <string.h>

#include "engine/remote/hooks.h"
#include "engine/remote/remote_walk.h"

/* How many slots from @from on are the next part of a sample: of whole frames. */
static uint32_t remote__part(const struct remote_walk *rw, uint32_t from)
{
	const uint32_t flags = rw->walk.row.flags;
	const uint32_t each = 1 + !!(flags & XR_ROW_LINES) + !!(flags & XR_ROW_PACKAGES) +
			      !!(flags & XR_ROW_CALLS);
	uint32_t n = from ? 0 : XR_FIRST_SLOTS(rw->first);

	while (n < XR_CHUNK_FULL && from + n < rw->nslots)
		n += XR_FORM_IS_NATIVE(rw->slots[from + n].word >> XR_FORM_SHIFT) ? 1 : each;
	return from + n < rw->nslots ? n : rw->nslots - from;
}

/* How long before its time the stack of @s may have been so, ns. */
static uint64_t remote__lag(const struct remote_walk *rw, const struct xr_sample *s)
{
	return s->time > rw->began ? s->time - rw->began : 0;
}

void remote_walk__send(struct remote_walk *rw, const struct xr_sample *like)
{
	struct xr_sample *s = &rw->record.sample;
	uint32_t sent = 0;

	*s = *like;
	s->head.type = XR_REC_SAMPLE;
	s->serial = rw->walk.row.serial;
	s->part = 0;
	s->file = rw->file;
	s->line = rw->line;
	s->level = 0;
	if (rw->walk.row.flags & XR_ROW_LINES)
		s->flags |= XR_F_LINES;
	if (rw->walk.row.flags & XR_ROW_PACKAGES)
		s->flags |= XR_F_PACKAGES;
	if (rw->walk.gc)
		s->flags |= XR_F_GC;
	s->flags |= rw->first;
	if (rw->walk.unproven)
		s->flags |= XR_F_UNPROVEN;
	if (rw->native)
		s->flags |= remote_native__flags(rw->native);
	else if (rw->no_native)
		s->flags |= XR_F_NATIVE | XR_F_NATIVE_CUT;
	if (rw->first & XR_F_CALLS && rw->nslots > XR_FIRST_SLOTS(rw->first & XR_F_MEMORY))
		rw->slots[XR_FIRST_SLOTS(rw->first & XR_F_MEMORY)].more |= remote__lag(rw, s)
									   << XR_LAG_SHIFT;
	do {
		uint32_t n = remote__part(rw, sent);

		if (n) /* a collection at top level has no frames, and perhaps there is no list yet
			*/
			memcpy(s->slots, rw->slots + sent, n * sizeof(*s->slots));
		sent += n;
		s->nslots = n;
		s->head.size = (__u32)(sizeof(*s) + n * sizeof(*s->slots));
		s->flags = (s->flags & ~XR_F_MORE) | (sent < rw->nslots ? XR_F_MORE : 0);
		rw->sink(rw->sink_arg, s, s->head.size);
		s->part++;
	} while (sent < rw->nslots);
}

void remote_walk__send_none(struct remote_walk *rw, const struct xr_sample *like)
{
	struct xr_sample s = *like;

	if (!(rw->walk.row.flags & XR_ROW_CALLS))
		return;
	s.head = (struct xr_head){.type = XR_REC_SAMPLE, .size = sizeof(s)};
	s.serial = rw->walk.row.serial;
	s.flags = XR_F_NONE;
	s.file = remote__lag(rw, &s);
	rw->sink(rw->sink_arg, &s, sizeof(s));
}
