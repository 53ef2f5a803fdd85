/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The merge of native frames and R's contexts (merge.h), over stacks that are made up, of which it
 * is known which frame made each context.
 */

#include "some.h"
#include "tap.h"

#define WALK_FN static inline __attribute__((unused))
#include "merge.h"

#define FRAMES_MAX   40
#define CONTEXTS_MAX 60
#define STACKS	     (tap__all() ? 200000u : 40000u)
#define BASE	     0x7ffd00000000ULL

struct scene {
	uint32_t nframes, ncontexts;
	uint64_t lo[FRAMES_MAX], hi[FRAMES_MAX];
	uint64_t key[CONTEXTS_MAX];
	int owner[CONTEXTS_MAX]; /* the frame; -1: none, it is dead; -2: further out than all */
	uint32_t ndead;
};

/* What came out: frames are numbers from 0 on, contexts those from 1000 on. */
struct told {
	int item[FRAMES_MAX + CONTEXTS_MAX];
	uint8_t how[FRAMES_MAX + CONTEXTS_MAX];
	uint32_t n;
};

/* Frames one after the other; contexts in them, and heap contexts that share a bcpc. */
static void scene__make(struct scene *s)
{
	uint64_t at = BASE;

	memset(s, 0, sizeof(*s));
	while (some(3) && s->ncontexts < 5) {
		s->key[s->ncontexts] = at + 8ULL * s->ncontexts;
		s->owner[s->ncontexts++] = -1;
		s->ndead++;
	}
	at += 64;
	s->nframes = 1 + some(FRAMES_MAX);
	for (uint32_t i = 0; i < s->nframes; i++) {
		uint64_t size = 16 + 8ULL * some(100), in = at;

		s->lo[i] = at;
		s->hi[i] = at += size;
		while (!some(3) && s->ncontexts < CONTEXTS_MAX - 8) {
			uint64_t step = 8ULL * some(4); /* 0: the same bcpc again */

			if (in + step >= at)
				break;
			s->key[s->ncontexts] = in += step;
			s->owner[s->ncontexts++] = (int)i;
		}
	}
	while (some(2) && s->ncontexts < CONTEXTS_MAX) { /* what was not unwound */
		s->key[s->ncontexts] = at += 8;
		s->owner[s->ncontexts++] = -2;
	}
}

static void scene__merge(const struct scene *s, struct told *t, struct merge *m)
{
	uint32_t frame = 0, context = 0;
	int next;

	t->n = 0;
	merge__begin(m);
	merge__frame(m, s->lo[0], s->hi[0]);
	if (s->ncontexts)
		merge__context(m, s->key[0]);
	while ((next = merge__next(m)) != MERGE_DONE) {
		if (next == MERGE_UNWIND) {
			if (++frame < s->nframes)
				merge__frame(m, s->lo[frame], s->hi[frame]);
			else
				merge__no_frame(m);
			continue;
		}
		tap__bail_if(t->n == FRAMES_MAX + CONTEXTS_MAX, "more came out than went in");
		t->how[t->n] = (uint8_t)next;
		t->item[t->n++] = next == MERGE_FRAME ? (int)frame : 1000 + (int)context;
		if (next == MERGE_FRAME)
			continue;
		if (++context < s->ncontexts)
			merge__context(m, s->key[context]);
		else
			merge__no_context(m);
	}
}

/* Both stacks whole and in order, and each context right after its frame, or after one that is. */
static bool told__right(const struct told *t, const struct scene *s)
{
	int frame = 0, context = 0, last = -1;

	for (uint32_t i = 0; i < t->n; i++) {
		int owner;

		if (t->item[i] < 1000) {
			if (t->item[i] != frame || t->how[i] != MERGE_FRAME)
				return false;
			last = frame++;
			continue;
		}
		owner = s->owner[context];
		if (t->item[i] != 1000 + context++ ||
		    t->how[i] != (owner == -1	? MERGE_DEAD
				  : owner == -2 ? MERGE_REST
						: MERGE_CONTEXT) ||
		    (owner >= 0 && owner != last) || (owner == -2 && frame != (int)s->nframes))
			return false;
	}
	return frame == (int)s->nframes && context == (int)s->ncontexts;
}

TEST(owners)
{
	uint32_t wrong = 0, miscounted = 0;
	uint64_t contexts = 0, ndead = 0;

	for (uint32_t i = 0; i < STACKS; i++) {
		struct scene s;
		struct merge m;
		struct told t;

		scene__make(&s);
		scene__merge(&s, &t, &m);
		wrong += !told__right(&t, &s);
		miscounted += m.dead != s.ndead || m.descended;
		contexts += s.ncontexts;
		ndead += s.ndead;
	}
	tap__ok(!wrong && contexts > STACKS,
		"%u stacks, %llu contexts: each stands by the frame that owns it (%u wrong)",
		STACKS, (unsigned long long)contexts, wrong);
	tap__ok(!miscounted && ndead, "%llu of them dead, and counted as such",
		(unsigned long long)ndead);
}

TEST(any)
{
	uint32_t wrong = 0;
	uint64_t descended = 0;

	for (uint32_t i = 0; i < STACKS; i++) {
		int frame = 0, context = 1000;
		struct scene s;
		struct merge m;
		struct told t;

		scene__make(&s);
		for (uint32_t k = 0; k < s.ncontexts; k++)
			if (!some(3))
				s.key[k] = some(2) ? 0 : BASE + some(4000);
		scene__merge(&s, &t, &m);
		for (uint32_t k = 0; k < t.n; k++)
			wrong += t.item[k] != (t.item[k] < 1000 ? frame++ : context++);
		wrong += frame != (int)s.nframes || context != 1000 + (int)s.ncontexts;
		descended += m.descended;
	}
	tap__ok(!wrong && descended,
		"keys that are anything: both stacks come out whole and in order; %llu did not "
		"ascend",
		(unsigned long long)descended);
}

TEST(keys)
{
	struct merge m;

	merge__begin(&m);
	merge__frame(&m, BASE, BASE + 64);
	merge__context(&m, BASE + 8);
	tap__ok(merge__owns(&m) && merge__next(&m) == MERGE_FRAME &&
			merge__next(&m) == MERGE_CONTEXT,
		"a frame, and what it owns");
	merge__context(&m, 0);
	tap__ok(merge__next(&m) == MERGE_CONTEXT && !m.descended,
		"a context whose key is not known goes with the one before");
	merge__context(&m, BASE);
	tap__ok(merge__next(&m) == MERGE_CONTEXT && !m.descended && !m.dead,
		"those of one frame come in any order");
	merge__context(&m, BASE + 64);
	tap__ok(!merge__owns(&m) && merge__next(&m) == MERGE_UNWIND,
		"what begins where the frame ends is another's");
	merge__frame(&m, BASE + 64, BASE + 96);
	tap__ok(merge__next(&m) == MERGE_FRAME && merge__next(&m) == MERGE_CONTEXT,
		"the merge returns the frame of that context first");
	merge__context(&m, BASE + 8);
	tap__ok(merge__next(&m) == MERGE_DEAD && m.descended == 1 && m.dead == 1,
		"one of a frame further in is dead, and out of order");
}

TEST(one_alone)
{
	struct merge m;

	merge__begin(&m);
	tap__ok(merge__next(&m) == MERGE_DONE, "nothing: done");
	merge__context(&m, BASE);
	tap__ok(merge__next(&m) == MERGE_REST, "contexts alone follow one another");
	merge__no_context(&m);
	merge__frame(&m, BASE, BASE + 16);
	tap__ok(merge__next(&m) == MERGE_FRAME && merge__next(&m) == MERGE_UNWIND,
		"and so do frames");
}
