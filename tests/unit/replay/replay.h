/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A moment of a recorded image, being walked. */
#ifndef XR_TEST_REPLAY_H
#define XR_TEST_REPLAY_H

#include "replay/recorded_memory.h"
#include "replay/recorded_walk.h"
#include "tap.h"

/* What serves the reads of a walk, and spoils them. */
struct memory {
	const struct recorded_memory *recorded;
	uint64_t reads;
	uint64_t fail_at;   /* number of the read that fails, from 1; 0: none */
	char failed;	    /* its kind, */
	uint64_t failed_at; /* and address */
	uint64_t misses;    /* reads of what was not recorded */
};

static inline int memory__read(void *arg, char kind, uint64_t addr, void *to, uint32_t len)
{
	struct memory *m = arg;
	const uint8_t *from = recorded_memory__at(m->recorded, addr, len);

	m->reads++;
	if (!from)
		m->misses++;
	if (m->reads == m->fail_at) {
		m->failed = kind;
		m->failed_at = addr;
	}
	if (!from || m->reads == m->fail_at)
		return -1;
	memcpy(to, from, len);
	return 0;
}
/* What a walk found, to be compared with that of others. */
struct found {
	int result;
	uint64_t file;
	uint32_t line, gc, nslots;
	struct xr_slot *slots;
};

static inline void found__keep(struct found *f, const struct recorded_walk *rw, int result)
{
	*f = (struct found){.result = result,
			    .file = rw->file,
			    .line = rw->line,
			    .gc = rw->walk.gc,
			    .nslots = rw->nslots};
	f->slots = malloc((rw->nslots + 1) * sizeof(*f->slots));
	tap__bail_if(!f->slots, "out of memory");
	if (rw->nslots)
		memcpy(f->slots, rw->slots, rw->nslots * sizeof(*f->slots));
}

/* A moment being replayed. */
struct replay {
	const struct recorded *image;
	const struct recorded_moment *moment;
	struct recorded_memory memory;
	struct memory served;
	struct recorded_walk walk;
	struct found truth;
};

static inline int replay__run(struct replay *p, uint64_t fail_at)
{
	recorded_walk__forget(&p->walk);
	p->served = (struct memory){.recorded = &p->memory, .fail_at = fail_at};
	p->walk.read = memory__read;
	p->walk.arg = &p->served;
	return recorded_walk__run(&p->walk, &p->image->row);
}

#endif
