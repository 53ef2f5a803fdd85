/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/remote_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/remote/hooks.h"

/*
 * What was read ahead is not trusted any longer than this and three times what reading it took:
 * an environment's address comes up again only after a collection, and many of these do not fit
 * in.
 */
#define AHEAD_NS_MAX 5000000u

/* Elapsed time counts as one IDLE_PARTS-th: the reader may have no CPU, or wait for a page. */
#define IDLE_PARTS 100u

/* No thread waits longer for a look, whatever the limit is. */
#define WAITED_NS_MAX 5000000u

#define WINDOW_FIRST 16u
#define TOP_FIRST    5u	  /* R_GlobalContext, two contexts and their calls */
#define TRIES_MAX    120u /* second looks at a moving target */
#define TRIES_AHEAD  6u	  /* then the first is repeated, if it is of no use */
#define TRIES_BROKEN 3u	  /* times that it stood still, and could not be read */
/* looks at calls while R began or ended a collection: the number of these is unknown then */
#define TRIES_COLLECTED 8u

int remote_walk__new(struct remote_walk **out, const struct xr_row *row,
		     const struct mem_reader *reader, uint64_t (*now)(void))
{
	struct remote_walk *rw = calloc(1, sizeof(*rw));

	*out = rw;
	if (!rw)
		return -ENOMEM;
	remote_memory__init(&rw->memory, reader);
	rw->now = now;
	rw->walk.row = *row;
	return 0;
}

void remote_walk__free(struct remote_walk *rw)
{
	if (!rw)
		return;
	remote_memory__free(&rw->memory);
	map__free(&rw->known);
	free(rw->plan.ids);
	free(rw->last.ids);
	free(rw->top.ids);
	free(rw->slots);
	free(rw);
}

void remote_walk__sink(struct remote_walk *rw, engine_sink sink, void *arg)
{
	rw->sink = sink;
	rw->sink_arg = arg;
}

void remote_walk__row(struct remote_walk *rw, const struct xr_row *row)
{
	rw->walk.row = *row;
}

void remote_walk__limit(struct remote_walk *rw, uint64_t ns)
{
	rw->limit = ns;
}

bool remote_walk__over(const struct remote_walk *rw)
{
	return rw->over;
}

void remote_walk__cpu(struct remote_walk *rw, uint64_t (*cpu)(void))
{
	rw->cpu = cpu;
}

uint64_t remote__clock(const struct remote_walk *rw)
{
	return rw->cpu && !rw->waited ? rw->cpu() + rw->now() / IDLE_PARTS : rw->now();
}

/* What begins now may take this many times the limit. */
static void remote__allow(struct remote_walk *rw, uint32_t times)
{
	uint64_t limit = times * rw->limit;

	rw->waited = times == 1;
	if (rw->waited && limit > WAITED_NS_MAX)
		limit = WAITED_NS_MAX;
	rw->walk.budget.deadline = limit ? remote__clock(rw) + limit : 0;
}

static bool remote__late(const struct remote_walk *rw)
{
	const uint64_t deadline = rw->walk.budget.deadline;

	return deadline && remote__clock(rw) >= deadline;
}

/* Read ahead of a look what it will likely ask for: as much of it as there is time for. */
static void remote__fetch(struct remote_walk *rw, const uint32_t *ids, uint32_t n, bool fresh)
{
	while (n && !rw->memory.gone && !remote__late(rw)) {
		uint32_t some = n < MEM_SPANS_MAX ? n : MEM_SPANS_MAX;

		remote_memory__fetch(&rw->memory, ids, some, fresh);
		ids += some;
		n -= some;
	}
}

int remote_walk__gone(const struct remote_walk *rw)
{
	return rw->memory.gone;
}

uint64_t remote_walk__texts(const struct remote_walk *rw)
{
	return rw->texts;
}

/*
 * From R_GlobalContext outward to the end, or to what is known already.  What filter.callframes
 * leaves out is read all the same, but by the last pass: which frames it tells depends on the
 * innermost ones, and these may have changed after the first look.
 */
static int remote__chase(struct remote_walk *rw)
{
	const uint32_t flags = rw->walk.row.flags;
	int err;

	rw->context_seq = 0;
	rw->contexts = 0;
	rw->window = WINDOW_FIRST;
	rw->matched = false;
	rw->missed = false;
	rw->call_seen = false;
	rw->nverify = 0;
	rw->file = rw->line = 0;
	if (rw->phase != REMOTE_FINAL)
		rw->walk.row.flags &= ~XR_ROW_FILTER;
	err = walk__begin(&rw->walk);
	if (!err)
		err = labels__begin(&rw->walk);
	if (!err && (rw->walk.row.flags & XR_ROW_LINES)) {
		err = lines__innermost(&rw->walk);
		rw->file = rw->walk.file;
		rw->line = rw->walk.line;
	}
	if (!err && rw->regs)
		err = remote_native__walk(rw->native, rw, rw->regs, rw->walk.budget.deadline);
	while (!err && !rw->matched)
		err = walk__step(&rw->walk);
	rw->walk.row.flags = flags;
	rw->over = rw->over || rw->walk.budget.over;
	return err;
}

/* A separate pass, with a separate plan. */
static int remote__pass(struct remote_walk *rw, enum remote_phase phase)
{
	struct plan plan = rw->last;

	rw->last = rw->plan;
	rw->plan = plan;
	rw->plan.count = 0;
	rw->pass++;
	rw->phase = phase;
	return remote__chase(rw);
}

/* The first look, perhaps not for the first time in this sample. */
static int remote__ahead(struct remote_walk *rw)
{
	struct remote_memory *m = &rw->memory;
	int err;

	m->gone = 0;
	rw->collecting = false;
	remote_walk__again(rw);
	rw->began = rw->now();
	remote_memory__trim(m, rw->pass, rw->plan.ids, rw->plan.count);
	rw->floor = m->seq;
	rw->top_floor = UINT64_MAX;
	remote__fetch(rw, rw->plan.ids, rw->plan.count, false);
	rw->whole = false;
	err = remote__pass(rw, REMOTE_AHEAD);
	rw->ahead_pass = rw->pass;
	rw->whole = err > 0;
	rw->elsewhere = rw->walk.whose == WALK_ELSEWHERE;
	rw->trusted = AHEAD_NS_MAX + 3 * (rw->now() - rw->began);
	return m->gone ? -XR_EXITING : err;
}

int remote_walk__ahead(struct remote_walk *rw)
{
	rw->over = false;
	remote__allow(rw, REMOTE_LOOKS);
	return remote__ahead(rw);
}

/*
 * What the second look will likely ask for: as many pieces as last time, as the first look found
 * them.
 */
static uint32_t remote__guess(const struct remote_walk *rw)
{
	uint32_t n = rw->top.count > TOP_FIRST ? rw->top.count : TOP_FIRST;

	return n < rw->plan.count ? n : rw->plan.count;
}

static bool remote__too_old(const struct remote_walk *rw)
{
	return rw->now() - rw->began > rw->trusted;
}

int remote_walk__top(struct remote_walk *rw)
{
	rw->phase = REMOTE_TOP;
	rw->look++;
	rw->loose = false;
	rw->dead = false;
	rw->top.count = 0;
	return remote__chase(rw);
}

/* Is what the second look read of piece @id the same as the first did? */
static bool piece__same(const struct remote_memory *m, uint32_t id)
{
	return !memcmp(remote_memory__fresh(m, id), remote_memory__base(m, id), m->pieces[id].len);
}

/*
 * What is known to be live is so since the first look read the call that the second met.  Objects
 * that were read before it, for calls that have returned since, may have been freed and made again
 * in the same place, for outer calls.  Are they as they were?  Where they are not, the first look
 * went another way than the sample would.
 */
static bool remote__unchanged(struct remote_walk *rw)
{
	struct remote_memory *m = &rw->memory;
	uint32_t ids[MEM_SPANS_MAX], n = 0;
	bool same = true;

	for (uint32_t i = 0; i < rw->plan.count && same; i++) {
		const struct piece *p = &m->pieces[rw->plan.ids[i]];
		bool last = i + 1 == rw->plan.count;

		if (p->kind != READ_CONTEXT && p->outermost >= rw->call_at &&
		    p->base_seq <= rw->call_seq) {
			if (p->fresh_seq <= rw->top_floor)
				ids[n++] = rw->plan.ids[i];
			else
				same = piece__same(m, rw->plan.ids[i]);
		}
		if (!last && n < MEM_SPANS_MAX)
			continue;
		remote_memory__fetch(m, ids, n, true);
		same = same && !remote__late(rw);
		for (uint32_t k = 0; k < n && same; k++)
			same = m->pieces[ids[k]].fresh_seq > rw->top_floor &&
			       piece__same(m, ids[k]);
		n = 0;
	}
	return same;
}

/* Does the second look have other bytes at @at than the first? */
static bool remote__changed(const struct remote_walk *rw, uint64_t at, uint32_t len)
{
	const struct remote_memory *m = &rw->memory;
	const uint32_t id = at ? remote_memory__find(m, at, len) : PIECE_NONE;

	return id != PIECE_NONE && m->pieces[id].base_seq > rw->floor &&
	       m->pieces[id].fresh_seq > rw->floor &&
	       memcmp(remote_memory__base(m, id), remote_memory__fresh(m, id), len) != 0;
}

/*
 * With XR_ROW_CALLS: did R begin or end a collection between the looks?  Marks of environments that
 * the first look read then do not belong to the number of collections that the second read.
 */
static bool remote__collected(const struct remote_walk *rw)
{
	const struct xr_row *row = &rw->walk.row;

	return row->flags & XR_ROW_CALLS &&
	       (remote__changed(rw, row->gc_count_at, 4) ||
		remote__changed(rw, row->gc_at, row->gc_size == 1 ? 1 : 4));
}

int remote_walk__still(struct remote_walk *rw)
{
	int err;

	if (remote__too_old(rw))
		rw->whole = false;
	remote__allow(rw, 1);
	rw->memory.gone = 0;
	rw->top_floor = rw->memory.seq;
	remote__fetch(rw, rw->plan.ids, rw->whole ? remote__guess(rw) : rw->plan.count, true);
	err = remote_walk__top(rw);
	if (err >= 0 && rw->matched && (remote__collected(rw) || !remote__unchanged(rw))) {
		rw->whole = false; /* nothing of the first look, then */
		err = remote_walk__top(rw);
	}
	return rw->memory.gone ? -XR_EXITING : err;
}

int remote_walk__moving(struct remote_walk *rw)
{
	uint32_t unreadable = 0, collected = 0;
	bool stale = false;
	int err;

	remote__allow(rw, REMOTE_LOOKS);
	for (uint32_t i = 0; i < TRIES_MAX && !remote__late(rw); i++) {
		bool fresh = stale || (i % TRIES_AHEAD == 0 && (!i || !rw->matched)), still;

		if (i && (fresh || remote__too_old(rw))) {
			remote__ahead(rw);
			fresh = true;
		}
		still = fresh ? remote_walk__try(rw, &rw->plan, remote__guess(rw), &err)
			      : remote_walk__try(rw, &rw->top, rw->top.count, &err);
		if (rw->memory.gone)
			return -XR_EXITING;
		still = still && !remote__too_old(rw);
		/* it stood still: perhaps an object of the first look is older than the stack */
		stale = still && (err < 0 || (rw->matched && !remote__unchanged(rw)));
		if (still && !stale && rw->matched && remote__collected(rw))
			stale = ++collected < TRIES_COLLECTED;
		if (still && (!stale || (err < 0 && ++unreadable == TRIES_BROKEN)))
			return err;
	}
	return -XR_TORN;
}

void remote_walk__collecting(struct remote_walk *rw)
{
	rw->collecting = true;
}

/* The number of collections counts as unknown if it does not belong to marks of the sample. */
static void remote__count(struct remote_walk *rw)
{
	const uint32_t at = rw->first & XR_F_MEMORY ? 2 : 0; /* behind the counts of memory */

	if (rw->first & XR_F_CALLS && rw->nslots > at && rw->early && remote__collected(rw))
		rw->slots[at].more &= ~(uint64_t)XR_COUNTED;
}

/* The sample, which may take this many times the limit. */
static int remote__finish(struct remote_walk *rw, uint32_t times)
{
	int err;

	rw->nslots = 0;
	rw->early = false;
	remote__allow(rw, times);
	err = remote__pass(rw, REMOTE_FINAL);
	rw->first = rw->walk.first;
	remote__count(rw);
	if (rw->missed)
		return rw->over ? 1 : -XR_TORN;
	/* what was cut was not asked for */
	rw->over = err == WALK_CUT && rw->walk.budget.over;
	if (err < 0)
		return err;
	if (rw->collecting)
		rw->walk.gc = 1;
	if (!rw->walk.frames && !rw->walk.gc && !rw->file && err != WALK_CUT)
		return -XR_NO_R_FRAMES;
	return err == WALK_CUT;
}

int remote_walk__finish(struct remote_walk *rw)
{
	return rw->finished ? rw->result : remote__finish(rw, REMOTE_LOOKS);
}

int remote_walk__finish_native(struct remote_walk *rw, struct remote_native *n,
			       const struct remote_regs *regs)
{
	const bool over = rw->over;

	rw->native = n;
	rw->regs = regs;
	rw->result = remote__finish(rw, 1);
	rw->regs = NULL;
	rw->finished = !rw->over;
	if (rw->finished)
		return rw->result;
	/* R's part is not to be cut for the sake of the native one */
	rw->over = over;
	rw->native = NULL;
	return 0;
}

void remote_walk__other(struct remote_walk *rw, struct remote_native *n,
			const struct remote_regs *regs)
{
	struct walk *w = &rw->walk;

	remote_walk__again(rw);
	rw->nslots = rw->first = rw->line = 0;
	rw->file = 0;
	w->frames = w->gc = w->unproven = w->lenient = 0;
	w->budget.work = w->budget.over = 0;
	w->budget.look_at = WALK_LOOK_FIRST;
	remote__allow(rw, 1);
	rw->phase = REMOTE_FINAL;
	rw->no_native = !regs;
	rw->native = regs ? n : NULL;
	if (regs)
		remote_native__alone(n, rw, regs, w->budget.deadline);
}

void remote_walk__again(struct remote_walk *rw)
{
	rw->finished = false;
	rw->native = NULL;
	rw->no_native = false;
}

void remote_walk__no_native(struct remote_walk *rw)
{
	rw->no_native = true;
}

bool remote_walk__lacks_native(const struct remote_walk *rw)
{
	return rw->no_native;
}

struct remote_native *remote_walk__native(struct remote_walk *rw)
{
	return rw->native;
}

void remote_walk__stack(struct remote_walk *rw, uint64_t low, uint64_t high)
{
	rw->walk.sp = low;
	rw->walk.sp_top = high;
}

bool remote_walk__elsewhere(const struct remote_walk *rw)
{
	return rw->elsewhere;
}

/* A word of a context as the look ahead read it; 0: it did not. */
static uint64_t piece__word(const struct remote_walk *rw, uint32_t id, uint32_t off)
{
	uint64_t word = 0;

	if (off + sizeof(word) <= rw->memory.pieces[id].len)
		memcpy(&word, remote_memory__base(&rw->memory, id) + off, sizeof(word));
	return word;
}

uint32_t remote_walk__keys(const struct remote_walk *rw, uint64_t *keys, uint32_t max)
{
	const struct xr_layout *layout = &rw->walk.row.layout;
	uint32_t n = 0;

	for (uint32_t i = 0; i < rw->plan.count && n < max; i++) {
		const uint32_t id = rw->plan.ids[i];
		const struct piece *p = &rw->memory.pieces[id];
		uint64_t key;

		/* one that has none outside of it is R_Toplevel */
		if (p->visited != rw->ahead_pass || !piece__word(rw, id, layout->nextcontext))
			continue;
		key = layout->bcpc ? piece__word(rw, id, layout->bcpc) : 0;
		keys[n++] = key ? key : p->addr;
	}
	return n;
}
