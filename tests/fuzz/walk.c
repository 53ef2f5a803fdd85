/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk as the sampler runs it, over memory that the input gives: two samples of one process, so
 * that what is remembered from the first meets other memory in the second.
 */
#include "base/map.h"
#include "walk_input.h"

#define WALK_FN static inline __attribute__((unused))
#define WALK_PLAIN

#include "walk.h"

/* Most reads there can be of one context and all that its frame and its location lead to. */
#define CONTEXT_READS 800u

#define PLACE 2u /* in `known` */

struct run {
	struct walk walk; /* the first member: the hooks get it */
	struct fuzz_memory memory;
	struct map known;
	uint32_t slots;
	uint32_t counts; /* of slots before them: R's counts of memory */
	bool called;	 /* and how often it began to collect */
	bool labelled;	 /* and the labels that R has */
};

static int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len, __u64 addr)
{
	return fuzz_memory__read(&((struct run *)w)->memory, addr, dst, len);
}

static int walk__known(struct walk *w, __u64 sym)
{
	return map__get(&((struct run *)w)->known, sym, 0) != NULL;
}

static int text__read(struct run *r, __u64 addr, __u32 len, __u32 max, uint64_t *hash)
{
	static char text[XR_NAME_MAX];

	if (len > max)
		fuzz__fail("a text of %u bytes", len);
	if (len && fuzz_memory__read(&r->memory, addr, text, len))
		return -XR_BAD_SYMBOL;
	*hash = map__hash_bytes(text, len) | 1;
	return 0;
}

static int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	struct run *r = (struct run *)w;
	uint64_t hash;
	int err = text__read(r, addr, len, XR_NAME_MAX, &hash);

	if (!err && map__put(&r->known, sym, 0, r))
		fuzz__fail("out of memory");
	return err;
}

static int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	uint64_t hash = 0;
	int err = text__read((struct run *)w, addr, len, XR_TEXT_MAX, &hash);

	w->hash = hash;
	return err;
}

static int walk__send_labels(struct walk *w)
{
	uint64_t hash = 0, all = 0;

	if (!w->labels.n || w->labels.n > 2 * XR_LABELS_MAX || w->labels.n % 2)
		fuzz__fail("%u texts of labels", w->labels.n);
	for (uint32_t i = 0; i < w->labels.n; i++) {
		if (text__read((struct run *)w, w->labels.at[i], w->labels.len[i],
			       i % 2 ? XR_LABEL_VALUE_MAX : XR_LABEL_KEY_MAX, &hash))
			return -XR_BAD_SYMBOL;
		all ^= hash;
	}
	w->hash = all | 1;
	return 0;
}

static int walk__send_place(struct walk *w, __u64 id, __u64 file, __u32 line)
{
	struct run *r = (struct run *)w;

	if (!id || !file)
		fuzz__fail("a place without id or file");
	if (map__put(&r->known, id, PLACE, r))
		fuzz__fail("out of memory");
	return 0;
}

static int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct run *r = (struct run *)w;
	uint64_t form = word >> XR_FORM_SHIFT;
	bool lines = w->row.flags & XR_ROW_LINES, packages = w->row.flags & XR_ROW_PACKAGES;
	bool calls = w->row.flags & XR_ROW_CALLS;
	uint32_t step = 1 + lines + packages + calls, part = r->slots % step;

	if (w->first & XR_F_MEMORY && r->counts < XR_MEMORY_SLOTS) { /* they come first */
		if (word != (r->counts ? w->counts.nodes : w->counts.small) ||
		    more != (r->counts ? w->counts.dups : w->counts.large) || r->slots)
			fuzz__fail("counts of memory that are others");
		r->counts++;
		return 0;
	}
	if (calls && !r->called) {
		if (r->slots || more > XR_COUNTED)
			fuzz__fail("an invalid count of collections");
		r->called = true;
		return 0;
	}
	if (w->first & XR_F_LABELS && !r->labelled) {
		if (r->slots || more || word != w->hash)
			fuzz__fail("labels that are others");
		r->labelled = true;
		return 0;
	}
	if (!part && (form <= XR_FORM_NONE || form > XR_FORM_ITEM_ODD))
		fuzz__fail("a frame of form %u", (unsigned int)form);
	if (calls && part == step - 1 && word >> XR_FORM_SHIFT)
		fuzz__fail("an invalid environment");
	if (packages && part == step - 1 - calls) {
		if (!(word & 1) && word && word != XR_PACKAGE_GLOBAL && word != XR_PACKAGE_BASE)
			fuzz__fail("a malformed package");
		if (more && !map__get(&r->known, more, PLACE))
			fuzz__fail("a definition that was not sent");
	}
	if (++r->slots > XR_FRAME_SLOTS_MAX * XR_CONTEXTS_MAX)
		fuzz__fail("%u slots", r->slots);
	return 0;
}

static __u64 walk__now(struct walk *w)
{
	return ((struct run *)w)->memory.reads;
}

/* Work that may be done after the last was used up: to the next look, and then what naming one call
 * takes. */
#define OVER_MAX (2 * WALK_LOOK + 2 * (XR_NAME_MAX >> WALK_TEXT_SHIFT))

static void budget__check(const struct walk_budget *b)
{
	if (b->work_max && b->work > b->work_max + OVER_MAX)
		fuzz__fail("%u of work, %u was allowed", b->work, b->work_max);
}

static void sample(struct run *r)
{
	uint64_t reads = r->memory.reads;
	int err;

	r->slots = 0;
	r->counts = 0;
	r->called = r->labelled = false;
	err = walk__begin(&r->walk);
	if (!err)
		err = labels__begin(&r->walk);
	if (!err && (r->walk.row.flags & XR_ROW_LINES))
		err = lines__innermost(&r->walk);
	budget__check(&r->walk.budget);
	while (!err)
		err = walk__step(&r->walk);
	budget__check(&r->walk.budget);
	if (err == WALK_CUT && r->walk.contexts < XR_CONTEXTS_MAX && !r->walk.budget.over)
		fuzz__fail("the walk was cut, and nothing was used up");
	if (err != WALK_DONE && err != WALK_CUT && (err > 0 || err <= -XR_ERRORS))
		fuzz__fail("the walk ended with %d", err);
	reads = r->memory.reads - reads;
	if (reads > (uint64_t)(r->walk.contexts + 2) * CONTEXT_READS)
		fuzz__fail("%llu reads for %u contexts", (unsigned long long)reads,
			   r->walk.contexts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct walk_input w;
	struct run r;

	memset(&r, 0, sizeof(r));
	walk_input__take(&in, &w, &r.memory);
	r.walk.row = w.row;
	r.walk.steady = w.looks & 1;
	r.walk.budget.work_max = 8 * (w.looks >> 2);
	if (w.looks & 2)
		r.walk.budget.deadline = 1000;
	sample(&r);
	sample(&r);
	map__free(&r.known);
	return 0;
}
