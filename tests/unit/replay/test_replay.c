/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk over recorded images of real R (tests/images-recorded,
 * docs/internals/recorded-images.md): it must find the stack that R itself gave for that moment.
 * Then with bytes that changed.  With reads that fail: test_replay_remote.c.
 */
#include "replay/images.h"
#include "target/layouts.h"

#define FLIPS 400u /* bytes changed in one moment */

/* Most reads there can be of one context and all that its frame and its location lead to. */
#define CONTEXT_READS 64u

/* The walk finds what R says of moment @i, and asks for nothing that was not recorded. */
static bool moment__agrees(const char *name, const struct recorded *r, uint32_t i,
			   struct recorded_walk *walk, const struct memory *m)
{
	int result = recorded_walk__run(walk, &r->row);
	struct buf line = {0};
	bool same;

	recorded_walk__line(walk, r->files, RECORDED_FILES_MAX, r->moments[i].inner, &line);
	same = line.data && result == WALK_DONE && !strcmp(line.data, r->moments[i].line) &&
	       !m->misses;
	if (!same) {
		tap__diag("%s, moment %u: result %d%s", name, i, result,
			  m->misses ? ", reads of what is not in the image" : "");
		tap__diag("walk %s", line.data ? line.data : "");
		tap__diag("R    %s", r->moments[i].line);
	}
	buf__free(&line);
	return same;
}

/*
 * A walk that remembers what others found, of this moment and of earlier ones of the process, as a
 * sampler's does, finds the same.
 */
static bool moment__warm(const struct recorded *r, struct recorded_walk *sampler,
			 const struct recorded_walk *truth)
{
	bool same = true;

	for (int i = 0; i < 2; i++)
		same = recorded_walk__run(sampler, &r->row) == WALK_DONE &&
		       walk__same(sampler, truth, false) && same;
	return same;
}

/* Bytes change: the walk ends all the same, with few reads, and says one of the things it can. */
static bool moment__flipped(const struct recorded *r, struct recorded_walk *walk, struct memory *m,
			    uint64_t *random)
{
	bool good = true;

	for (uint32_t i = 0; i < FLIPS && good; i++) {
		uint8_t *at, bit;
		int result;

		*random = *random * 6364136223846793005u + 1442695040888963407u;
		at = &m->recorded->bytes[(uint32_t)(*random >> 33) % m->recorded->nbytes];
		bit = (uint8_t)(1u << (*random >> 29 & 7));
		*at ^= bit;
		m->spans = 0;
		recorded_walk__forget(walk);
		result = recorded_walk__run(walk, &r->row);
		*at ^= bit;
		good = (result == WALK_DONE || result == WALK_CUT ||
			(result < 0 && result > -XR_ERRORS)) &&
		       m->spans <= (uint64_t)(walk->walk.contexts + 2) * CONTEXT_READS;
	}
	return good;
}

/* The row of the table of layouts for that R is still what it was recorded with. */
static bool image__layout_known(const struct recorded *r)
{
	uint32_t version = layouts__parse(r->version);
	struct xr_layout recorded = r->row.layout;
	const struct xr_layout *layout = NULL;

	if (!strcmp(r->machine, "x86_64"))
		layout = layouts__find(LAYOUTS_X86_64_LINUX, version);
	else if (!strcmp(r->machine, "aarch64"))
		layout = layouts__find(LAYOUTS_AARCH64_LINUX, version);
	if (!layout)
		return false;
	/* of native frames, which images do not have */
	recorded.cstacktop = layout->cstacktop;
	recorded.nodestack = layout->nodestack;
	return !memcmp(layout, &recorded, sizeof(*layout));
}

static void image__replay(const char *name, const struct recorded *r)
{
	bool agrees = true, warm = true, flipped = true;
	struct recorded_walk sampler = {.read = memory__read};
	uint64_t random = 1;

	for (uint32_t i = 0; i < r->nmoments; i++) {
		struct recorded_memory memory;
		struct memory m = {.recorded = &memory};
		struct recorded_walk walk = {.read = memory__read, .arg = &m};

		if (recorded_memory__new(&memory, r, i)) {
			tap__diag("%s, moment %u contradicts itself", name, i);
			agrees = false;
			continue;
		}
		agrees = moment__agrees(name, r, i, &walk, &m) && agrees;
		sampler.arg = &m;
		warm = moment__warm(r, &sampler, &walk) && warm;
		flipped = moment__flipped(r, &walk, &m, &random) && flipped;
		recorded_walk__free(&walk);
		recorded_memory__free(&memory);
	}
	recorded_walk__free(&sampler);
	tap__ok(agrees, "%s: R %s, %s: %u stacks are as R gave them", name, r->version, r->machine,
		r->nmoments);
	tap__ok(image__layout_known(r), "%s: the table has its layout", name);
	tap__ok(warm, "%s: what a walk remembers changes nothing", name);
	tap__ok(flipped, "%s: changed bytes do no harm", name);
}

TEST(replay)
{
	images__each(image__replay);
}
