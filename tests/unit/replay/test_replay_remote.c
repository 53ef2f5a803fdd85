/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recorded images (test_replay.c) walked by what the engines use that read from outside, in two
 * looks: it must send the slots that the walk by itself finds.  Then with reads that fail.
 */
#include "engine/remote/remote_walk.h"
#include "replay/images.h"

#define FAULTS_MAX 150u /* of each kind in one moment */

/* What was read ahead is not trusted for long; here it is. */
static uint64_t memory__now(void)
{
	return 1;
}

static struct recorded_walk sent; /* of one sample */

static void sent__record(void *arg, const void *record, size_t size)
{
	const struct xr_sample *s = record;

	if (s->head.type == XR_REC_SAMPLE)
		tap__bail_if(size != sizeof(*s) + s->nslots * sizeof(*s->slots), "a bad sample");
	tap__bail_if(size != s->head.size, "a bad record");
	if (s->head.type != XR_REC_SAMPLE)
		return;
	if (!s->part) {
		sent.file = s->file;
		sent.line = s->line;
	}
	sent.walk.gc = s->flags & XR_F_GC;
	for (uint32_t i = 0; i < s->nslots; i++) {
		tap__bail_if(
			array__room(&sent.slots, sent.nslots, &sent.cap_slots, sizeof(*sent.slots)),
			"out of memory");
		sent.slots[sent.nslots++] = s->slots[i];
	}
}

/* One sample by the engines' walk: 0 or -enum xr_error. */
static int remote__take(struct memory *m, const struct xr_row *row, bool moving)
{
	struct mem_reader reader = {.read_spans = memory__spans, .arg = m};
	struct xr_sample like = {.weight = 1};
	struct remote_walk *rw;
	int err;

	sent.nslots = sent.line = 0;
	sent.file = 0;
	m->spans = 0;
	m->misses = false;
	tap__bail_if(remote_walk__new(&rw, row, &reader, memory__now), "out of memory");
	remote_walk__sink(rw, sent__record, NULL);
	err = remote_walk__ahead(rw);
	if (err >= 0)
		err = moving ? remote_walk__moving(rw) : remote_walk__still(rw);
	if (err >= 0)
		err = remote_walk__finish(rw);
	if (err >= 0)
		remote_walk__send(rw, &like);
	remote_walk__free(rw);
	return err;
}

/* Every span fails in turn, and the target goes away at it. */
static bool remote__failing(struct memory *m, const struct xr_row *row, bool moving,
			    const struct recorded_walk *truth)
{
	uint64_t total, step;
	bool good = true;
	int err;

	remote__take(m, row, moving);
	total = m->spans;
	step = total / FAULTS_MAX + 1;
	for (uint64_t i = 1; i <= total && good; i += step) {
		m->fail_at = i;
		err = remote__take(m, row, moving);
		good = (err < 0 && err > -XR_ERRORS && !sent.nslots) ||
		       (err == 0 && walk__same(&sent, truth, true));
		m->fail_at = 0;
		m->gone_at = i;
		err = remote__take(m, row, moving);
		good = good &&
		       (err == -XR_EXITING || (err < 0 && err > -XR_ERRORS && m->spans >= i)) &&
		       !sent.nslots;
		m->gone_at = 0;
	}
	return good;
}

static void image__replay(const char *name, const struct recorded *r)
{
	bool still = true, moving = true, failing = true;

	for (uint32_t i = 0; i < r->nmoments; i++) {
		struct recorded_memory memory;
		struct memory m = {.recorded = &memory};
		struct recorded_walk truth = {.read = memory__read, .arg = &m};

		if (recorded_memory__new(&memory, r, i)) {
			still = false;
			continue;
		}
		recorded_walk__run(&truth, &r->row);
		still = !remote__take(&m, &r->row, false) && walk__same(&sent, &truth, false) &&
			!m.misses && still;
		moving = !remote__take(&m, &r->row, true) && walk__same(&sent, &truth, false) &&
			 !m.misses && moving;
		failing = remote__failing(&m, &r->row, i % 2, &truth) && failing;
		recorded_walk__free(&truth);
		recorded_memory__free(&memory);
	}
	tap__ok(still, "%s: %u stacks of a target that stands still", name, r->nmoments);
	tap__ok(moving, "%s: and of one that runs, but did not move", name);
	tap__ok(failing, "%s: no failing read makes a wrong stack", name);
}

TEST(replay_remote)
{
	images__each(image__replay);
}
