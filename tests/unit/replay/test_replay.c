/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk over recorded images of real R (tests/images-recorded,
 * docs/internals/recorded-images.md): it must find the stack that R itself gave for that moment.
 * Then with faults: reads that fail, bytes that changed, chains that never end.
 */
#include "replay/images.h"
#include "replay/recorded_memory.h"
#include "replay/recorded_walk.h"
#include "target/layouts.h"
#include "tap.h"

#define FAULTS_MAX 400u /* reads made to fail, and bytes changed, in one moment */

/* Most reads there can be of one context and all that its frame and its location lead to. */
#define CONTEXT_READS 64u

/* What serves the reads of a walk, and spoils them. */
struct memory {
	const struct recorded_memory *recorded;
	uint64_t reads;
	uint64_t fail_at;   /* number of the read that fails, from 1; 0: none */
	char failed;	    /* its kind, */
	uint64_t failed_at; /* and address */
	uint64_t misses;    /* reads of what was not recorded */
};

static int memory__read(void *arg, char kind, uint64_t addr, void *to, uint32_t len)
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

static void found__keep(struct found *f, const struct recorded_walk *rw, int result)
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

static int replay__run(struct replay *p, uint64_t fail_at)
{
	recorded_walk__forget(&p->walk);
	p->served = (struct memory){.recorded = &p->memory, .fail_at = fail_at};
	p->walk.read = memory__read;
	p->walk.arg = &p->served;
	return recorded_walk__run(&p->walk, &p->image->row);
}

static bool found__same(const struct found *f, const struct recorded_walk *rw, int result)
{
	return f->result == result && f->nslots == rw->nslots && f->gc == rw->walk.gc &&
	       f->file == rw->file && f->line == rw->line &&
	       (!f->nslots || !memcmp(f->slots, rw->slots, f->nslots * sizeof(*f->slots)));
}

/* What was emitted of frames is what the true stack begins with. */
static bool found__begins(const struct found *f, const struct recorded_walk *rw)
{
	return rw->nslots <= f->nslots &&
	       (!rw->nslots || !memcmp(f->slots, rw->slots, rw->nslots * sizeof(*f->slots)));
}

/* The walk finds what R says, and asks for nothing that was not recorded. */
static bool replay__agrees(struct replay *p, const char *name, uint32_t number)
{
	struct buf line = {0};
	int result = replay__run(p, 0);
	bool same;

	recorded_walk__line(&p->walk, p->image->files, RECORDED_FILES_MAX, p->moment->inner, &line);
	same = line.data && result == WALK_DONE && !strcmp(line.data, p->moment->line) &&
	       !p->served.misses;
	if (!same) {
		tap__diag("%s, moment %u: result %d, %llu reads of what is not in the image", name,
			  number, result, (unsigned long long)p->served.misses);
		tap__diag("walk %s", line.data ? line.data : "");
		tap__diag("R    %s", p->moment->line);
	}
	buf__free(&line);
	found__keep(&p->truth, &p->walk, result);
	return same;
}

/*
 * A walk that remembers what others found, of this moment and of earlier ones of the process, as a
 * sampler's does, finds the same.
 */
static bool replay__warm(struct replay *p, struct recorded_walk *sampler)
{
	bool same = true;

	sampler->read = memory__read;
	sampler->arg = &p->served;
	p->served = (struct memory){.recorded = &p->memory};
	for (int i = 0; i < 2; i++) {
		int result = recorded_walk__run(sampler, &p->image->row);

		same = same && found__same(&p->truth, sampler, result);
	}
	return same;
}

/*
 * Each read fails in turn: the walk returns the error, and all frames before are right.  The two
 * that may fail are those that R's own profiler does without: where byte code is being executed
 * (its C function may have returned), and the number of collections (then less is remembered).
 */
static bool replay__failing(struct replay *p)
{
	uint64_t total, step;

	replay__run(p, 0);
	total = p->served.reads;
	step = total / FAULTS_MAX + 1;
	for (uint64_t i = 1; i <= total; i += i < 20 ? 1 : step) {
		int result = replay__run(p, i);

		if (p->served.reads < i || !found__begins(&p->truth, &p->walk))
			return false;
		if (result < 0)
			continue;
		if (p->served.failed != 'p' && p->served.failed_at != p->image->row.gc_count_at)
			return false;
		if (result != p->truth.result || p->walk.nslots != p->truth.nslots)
			return false;
		if (p->walk.file &&
		    (p->walk.file != p->truth.file || p->walk.line != p->truth.line))
			return false;
	}
	return true;
}

static uint64_t replay__bound(const struct replay *p)
{
	return (uint64_t)(p->walk.walk.contexts + 2) * CONTEXT_READS;
}

/* Bytes change: the walk ends all the same, with few reads, and says one of the things it can. */
static bool replay__flipped(struct replay *p, uint64_t *random)
{
	bool good = true;

	for (uint32_t i = 0; i < FAULTS_MAX && good; i++) {
		uint32_t at;
		uint8_t old;
		int result;

		*random = *random * 6364136223846793005u + 1442695040888963407u;
		at = (uint32_t)(*random >> 33) % p->memory.nbytes;
		old = p->memory.bytes[at];
		p->memory.bytes[at] ^= (uint8_t)(1u << (*random >> 29 & 7));
		result = replay__run(p, 0);
		p->memory.bytes[at] = old;
		good = (result == WALK_DONE || result == WALK_CUT ||
			(result < 0 && result > -XR_ERRORS)) &&
		       p->served.reads <= replay__bound(p);
	}
	return good;
}

/* The outermost context points back at the innermost, and at itself. */
static bool replay__cycles(struct replay *p)
{
	const struct recorded_read *reads = p->image->reads + p->moment->first;
	const struct xr_layout *l = &p->image->row.layout;
	struct xr_row row = p->image->row;
	uint64_t last = 0, head, next = 1;
	uint8_t *at = NULL;
	bool good = true;

	for (uint32_t i = 0; i < p->moment->count && next; i++) {
		if (reads[i].kind != 'c')
			continue;
		last = reads[i].addr;
		at = recorded_memory__at(&p->memory, last + l->nextcontext, 8);
		memcpy(&next, at, 8);
	}
	memcpy(&head, recorded_memory__at(&p->memory, row.head_at, 8), 8);
	if (next || !head)
		return false;
	row.flags &= ~XR_ROW_FILTER; /* which leaves out frames, but reads all contexts */
	for (int i = 0; i < 2; i++) {
		int result;

		memcpy(at, i ? &last : &head, 8);
		recorded_walk__forget(&p->walk);
		p->served = (struct memory){.recorded = &p->memory};
		result = recorded_walk__run(&p->walk, &row);
		good = good && result == WALK_CUT && p->walk.walk.contexts == XR_CONTEXTS_MAX &&
		       p->served.reads <= replay__bound(p);
	}
	memcpy(at, &next, 8);
	return good;
}

/* The chain ends too early, or leads to nowhere, at each of its contexts: no stack. */
static bool replay__broken(struct replay *p)
{
	const struct recorded_read *reads = p->image->reads + p->moment->first;
	const struct xr_layout *l = &p->image->row.layout;
	struct xr_row row = p->image->row;
	uint32_t seen = 0, contexts;
	struct found whole;
	bool good = true;

	row.flags &= ~XR_ROW_FILTER; /* where it is wanted the walk may end before */
	p->served = (struct memory){.recorded = &p->memory};
	recorded_walk__forget(&p->walk);
	found__keep(&whole, &p->walk, recorded_walk__run(&p->walk, &row));
	contexts = p->walk.walk.contexts;
	for (uint32_t i = 0; i < p->moment->count && seen + 1 < contexts && good; i++) {
		uint64_t old, to = 0;
		uint8_t *next;

		if (reads[i].kind != 'c')
			continue;
		seen++;
		next = recorded_memory__at(&p->memory, reads[i].addr + l->nextcontext, 8);
		memcpy(&old, next, 8);
		for (int k = 0; k < 2; k++, to = 0x1000) {
			memcpy(next, &to, 8);
			p->served = (struct memory){.recorded = &p->memory};
			recorded_walk__forget(&p->walk);
			good = good && recorded_walk__run(&p->walk, &row) ==
					       (k ? -XR_BAD_CONTEXT : -XR_BAD_CHAIN);
			good = good && found__begins(&whole, &p->walk);
		}
		memcpy(next, &old, 8);
	}
	free(whole.slots);
	return good && contexts > 1;
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
	bool agrees = true, warm = true, failing = true, flipped = true;
	bool cycles = true, broken = true;
	struct recorded_walk sampler = {0};
	uint64_t random = 1;

	for (uint32_t i = 0; i < r->nmoments; i++) {
		struct replay p = {.image = r, .moment = &r->moments[i]};

		if (recorded_memory__new(&p.memory, r, i)) {
			tap__diag("%s, moment %u contradicts itself", name, i);
			agrees = false;
			continue;
		}
		agrees = replay__agrees(&p, name, i) && agrees;
		warm = replay__warm(&p, &sampler) && warm;
		failing = replay__failing(&p) && failing;
		flipped = replay__flipped(&p, &random) && flipped;
		broken = replay__broken(&p) && broken;
		if (i < 2)
			cycles = replay__cycles(&p) && cycles;
		recorded_walk__free(&p.walk);
		recorded_memory__free(&p.memory);
		free(p.truth.slots);
	}
	recorded_walk__free(&sampler);
	tap__ok(agrees, "%s: R %s, %s: %u stacks are as R gave them", name, r->version, r->machine,
		r->nmoments);
	tap__ok(image__layout_known(r), "%s: the table has its layout", name);
	tap__ok(warm, "%s: what a walk remembers changes nothing", name);
	tap__ok(failing, "%s: no failing read makes a wrong stack", name);
	tap__ok(flipped, "%s: changed bytes do no harm", name);
	tap__ok(broken, "%s: a chain that is broken makes no stack", name);
	tap__ok(cycles, "%s: a chain without an end is cut", name);
}

TEST(replay)
{
	images__each(image__replay);
}
