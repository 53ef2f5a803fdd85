/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk over images of R's memory: every layout, every form of name, every read made to fail. */

#include "profile/decode.h"
#include "target/layouts.h"
#include "base/map.h"
#include "some.h"
#include "walk_image.h"

#define SLOTS_MAX (2 * XR_CONTEXTS_MAX)

/* An image and walks of it. Their output goes through the decoder, as that of an engine does. */
struct run {
	struct walk_image base; /* first: the hooks get it */
	struct image m;
	struct decoder *decoder;
	struct map known;
	/* what the decoder made of it */
	char (*names)[80];
	uint32_t nnames;
	size_t innermost_len; /* bytes of the innermost frame's name, which `names` may cut */
};

static struct run *run__of(struct walk *w)
{
	return (struct run *)w;
}

static int walk__known(struct walk *w, __u64 sym)
{
	return map__get(&run__of(w)->known, sym, 0) != NULL;
}

static int run__text(struct run *r, __u64 id, __u32 kind, __u64 addr, __u32 len)
{
	union {
		struct xr_text text;
		uint8_t bytes[sizeof(struct xr_text) + XR_NAME_MAX];
	} record = {.text = {.head = {XR_REC_TEXT, (__u32)sizeof(struct xr_text) + len},
			     .serial = 1,
			     .kind = kind,
			     .len = len}};

	tap__bail_if(len > (kind == XR_TEXT_SYMBOL ? XR_NAME_MAX : XR_TEXT_MAX),
		     "a text of %u bytes asked for", len);
	if (len && image__read(r->base.image, record.text.text, len, addr))
		return -XR_BAD_SYMBOL;
	if (kind == XR_TEXT_HASHED)
		r->base.walk.hash = id = map__hash_bytes(record.text.text, len) | 1;
	record.text.id = id;
	decoder__record(r->decoder, &record, record.text.head.size);
	return 0;
}

static int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	int err = run__text(run__of(w), sym, XR_TEXT_SYMBOL, addr, len);

	return err || map__put(&run__of(w)->known, sym, 0, w) ? -XR_BAD_SYMBOL : 0;
}

static int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	return run__text(run__of(w), 0, XR_TEXT_HASHED, addr, len);
}

/* There are no labels in these. */
static int walk__send_labels(struct walk *w)
{
	return -XR_BAD_SYMBOL;
}

static void on_sample(void *arg, const struct sample *s)
{
	struct run *r = arg;

	r->nnames = s->stack->nframes;
	r->innermost_len = s->stack->nframes ? strlen(s->stack->frames[0]->function->text) : 0;
	for (uint32_t i = 0; i < s->stack->nframes; i++)
		snprintf(r->names[i], sizeof(r->names[i]), "%s",
			 s->stack->frames[i]->function->text);
}

/* As before the first walk: no symbol is known. */
static void run__forget(struct run *r)
{
	map__free(&r->known);
	memset(&r->base.walk, 0, sizeof(r->base.walk));
	r->base.walk.row = image__row(&r->m);
	r->m.reads = 0;
}

static void run__init(struct run *r, const struct xr_layout *layout, size_t heap, size_t stack)
{
	static const struct decoder_ops ops = {.sample = on_sample};

	memset(r, 0, sizeof(*r));
	image__init(&r->m, layout, heap, stack);
	r->base.image = &r->m;
	r->base.slots_max = SLOTS_MAX;
	r->base.slots = calloc(SLOTS_MAX, sizeof(*r->base.slots));
	r->names = calloc(SLOTS_MAX, sizeof(*r->names));
	tap__bail_if(!r->base.slots || !r->names || decoder__new(&r->decoder, &ops, r, 0),
		     "out of memory");
	run__forget(r);
}

/* One with nothing but the toplevel context. */
static void run__plain(struct run *r)
{
	run__init(r, layout_now(), 1 << 17, 1 << 17);
	image__push(&r->m, 0, r->m.nil, 0);
}

static void run__free(struct run *r)
{
	decoder__free(r->decoder);
	map__free(&r->known);
	free(r->base.slots);
	free(r->names);
	image__free(&r->m);
}

static void run__decode(struct run *r)
{
	size_t size = sizeof(struct xr_sample) + XR_CHUNK_SLOTS * sizeof(struct xr_slot);
	struct xr_sample *s = calloc(1, size);
	uint32_t sent = 0, left;

	tap__bail_if(!s, "out of memory");
	r->nnames = 0;
	do {
		left = r->base.nslots - sent;
		s->nslots = left < XR_CHUNK_SLOTS ? left : XR_CHUNK_SLOTS;
		size = sizeof(*s) + s->nslots * sizeof(struct xr_slot);
		s->head = (struct xr_head){XR_REC_SAMPLE, (__u32)size};
		s->weight = s->serial = 1;
		memcpy(s->slots, r->base.slots + sent, s->nslots * sizeof(struct xr_slot));
		sent += s->nslots;
		s->flags = sent < r->base.nslots ? XR_F_MORE : 0;
		decoder__record(r->decoder, s, s->head.size);
		s->part++;
	} while (sent < r->base.nslots);
	free(s);
}

/* Walk the image: what the last step returned. */
static int run__walk(struct run *r)
{
	uint32_t steps = 0;
	int result;

	r->base.nslots = 0;
	result = walk__begin(&r->base.walk);
	while (!result) {
		result = walk__step(&r->base.walk);
		tap__bail_if(++steps > XR_CONTEXTS_MAX + 1, "a walk without end");
	}
	return result;
}

/* Are the names those of image__forms()? */
static bool run__forms_right(const struct run *r)
{
	uint32_t at = 0;

	for (size_t i = IMAGE_FORMS; i-- > 0;) {
		if (!image_forms[i].name)
			continue;
		if (at >= r->nnames || strcmp(r->names[at], image_forms[i].name)) {
			tap__diag("frame %u is %s, not %s", at,
				  at < r->nnames ? r->names[at] : "(none)", image_forms[i].name);
			return false;
		}
		at++;
	}
	return at == r->nnames;
}

TEST(layouts)
{
	static const char *const arches[] = {"x86_64 Linux", "aarch64 Linux", "x86_64 Windows"};
	size_t rows;
	const struct layouts_row *table = layouts__table(&rows);

	for (size_t i = 0; i < 2 * rows; i++) {
		const struct layouts_row *row = &table[i / 2];
		const int heap = i % 2;
		struct run r;
		int result;

		run__init(&r, &row->layout, 1 << 17, 1 << 17);
		image__forms(&r.m, heap);
		result = run__walk(&r);
		run__decode(&r);
		tap__ok(result == WALK_DONE && run__forms_right(&r),
			"all forms of names, R %u.%u on %s%s", row->first >> 16,
			row->first >> 8 & 255, arches[row->arch],
			heap ? ", contexts on the heap too" : "");
		run__free(&r);
	}
}

/* Fail each read in turn: the walk returns the error, and what it emitted before is right. */
TEST(faults)
{
	struct xr_slot *right;
	uint64_t reads, errors[XR_ERRORS] = {0};
	uint32_t nright;
	struct run r;
	bool ok = true;

	run__init(&r, layout_now(), 1 << 17, 1 << 17);
	image__forms(&r.m, 1);
	run__walk(&r);
	reads = r.m.reads;
	nright = r.base.nslots;
	right = calloc(nright, sizeof(*right));
	tap__bail_if(!right, "out of memory");
	memcpy(right, r.base.slots, nright * sizeof(*right));
	for (uint64_t n = 1; n <= reads && ok; n++) {
		int result;

		run__forget(&r);
		r.m.fail_at = n;
		result = run__walk(&r);
		r.m.fail_at = 0;
		ok = r.m.reads == n && result < 0 && r.base.nslots <= nright &&
		     !memcmp(r.base.slots, right, r.base.nslots * sizeof(*right));
		errors[ok ? -result : 0]++;
		ok = ok && run__walk(&r) == WALK_DONE && r.base.nslots == nright &&
		     !memcmp(r.base.slots, right, nright * sizeof(*right));
		if (!ok)
			tap__diag("read %d of %d: %d", (int)n, (int)reads, result);
	}
	tap__ok(ok,
		"each of %d reads fails in turn: an error, right frames before it, and the "
		"next walk is whole",
		(int)reads);
	tap__ok(errors[XR_BAD_HEAD] && errors[XR_BAD_CONTEXT] && errors[XR_BAD_CALL] &&
			errors[XR_BAD_FUN] && errors[XR_BAD_SYMBOL],
		"every kind of unreadable was met");
	free(right);
	run__free(&r);
}

TEST(damage)
{
	const struct xr_layout *l = layout_now();
	uint64_t f, g, call_g, outer, inner, top, name;
	struct run r;

	run__init(&r, l, 1 << 17, 1 << 17);
	f = image__symbol(&r.m, "f");
	g = image__symbol(&r.m, "g");
	call_g = image__call(&r.m, g, 0, 0);
	top = image__push(&r.m, 0, r.m.nil, 0);
	outer = image__push(&r.m, 4, image__call(&r.m, f, 0, 0), 0);
	inner = image__push(&r.m, 4, call_g, 0);
	name = image__get64(&r.m, g + 8 * R_CAR);
	{
		const struct {
			uint64_t at, value; /* written over 8 bytes there */
			int wanted;
			uint32_t frames;
			const char *what;
		} rows[] = {
			{r.m.head_at, 0, WALK_DONE, 0, "R is not initialised"},
			{r.m.head_at, 0x1234, -XR_BAD_CONTEXT, 0, "R_GlobalContext is wild"},
			{r.m.head_at, top, WALK_DONE, 0, "nothing is being called"},
			{inner + l->nextcontext, 0x10, -XR_BAD_CONTEXT, 1, "a link is wild"},
			{inner + l->nextcontext, ~0ull - 4, -XR_BAD_CONTEXT, 1,
			 "a link goes over the end of memory"},
			{outer + l->nextcontext, 0, -XR_BAD_CHAIN, 2,
			 "the chain ends before the toplevel"},
			{inner + l->nextcontext, inner, WALK_CUT, XR_CONTEXTS_MAX,
			 "a cycle of one"},
			{outer + l->nextcontext, inner, WALK_CUT, XR_CONTEXTS_MAX,
			 "a cycle of two"},
			{inner + l->call, 0x10, -XR_BAD_CALL, 0, "a call is wild"},
			{inner + l->call, f, WALK_DONE, 1, "a call is a symbol: no frame"},
			{call_g + 8 * R_CAR, 8, -XR_BAD_FUN, 0, "a function is wild"},
			{g + 8 * R_CAR, 24, -XR_BAD_SYMBOL, 0, "a name is wild"},
			{g + 8 * R_CAR, f, -XR_BAD_SYMBOL, 0, "a name is not a CHARSXP"},
			{name + 8 * R_CAR, 0xffffffff, WALK_DONE, 2,
			 "a name of a length that cannot be is cut"},
			{name + 8 * R_CAR, 0, WALK_DONE, 2, "a name of no length"},
		};

		for (size_t i = 0; i < COUNT(rows); i++) {
			uint64_t old = image__get64(&r.m, rows[i].at);
			int result;

			run__forget(&r);
			image__put64(&r.m, rows[i].at, rows[i].value);
			result = run__walk(&r);
			tap__ok(result == rows[i].wanted && r.base.walk.frames == rows[i].frames,
				"%s (%d, %u frames)", rows[i].what, result, r.base.walk.frames);
			image__put64(&r.m, rows[i].at, old);
		}
	}
	run__free(&r);
}

TEST(long_name)
{
	static char name[XR_NAME_MAX];
	struct run r;

	memset(name, 'n', 10000); /* the longest that R takes */
	run__plain(&r);
	image__push(&r.m, 4, image__call(&r.m, image__symbol(&r.m, name), 0, 0), 0);
	tap__ok(run__walk(&r) == WALK_DONE && r.base.nslots == 1, "a very long name");
	run__decode(&r);
	tap__ok(r.innermost_len == 10000, "is whole: %zu bytes", r.innermost_len);
	run__free(&r);
}

TEST(gc)
{
	struct run r;

	run__plain(&r);
	image__put32(&r.m, r.m.gc_at, 1);
	run__walk(&r);
	tap__ok(!r.base.walk.gc, "without XR_ROW_GC the walk does not read the collector's state");
	r.base.walk.row.flags |= XR_ROW_GC;
	run__walk(&r);
	tap__ok(r.base.walk.gc, "the collector runs");
	image__put32(&r.m, r.m.gc_at, 0);
	run__walk(&r);
	tap__ok(!r.base.walk.gc, "and does not");
	run__free(&r);
}

TEST(memory)
{
	struct run r;
	struct xr_row *row = &r.base.walk.row;
	const struct walk *w = &r.base.walk;
	__u64 *const at[] = {&row->small_at, &row->large_at, &row->nodes_at, &row->dups_at};

	run__plain(&r);
	image__push(&r.m, 4, image__call(&r.m, image__symbol(&r.m, "f"), 0, 0), 0);
	for (uint64_t i = 0; i < 4; i++) {
		*at[i] = image__alloc(&r.m, 8);
		image__put64(&r.m, *at[i], 100 * (i + 1));
	}
	row->node_size = 56;
	tap__ok(run__walk(&r) == WALK_DONE && !w->first && r.base.nslots == 1,
		"without XR_ROW_MEMORY the walk does not read memory counts");
	row->flags |= XR_ROW_MEMORY;
	tap__ok(run__walk(&r) == WALK_DONE && w->first && r.base.nslots == 3 &&
			r.base.slots[0].word == 800 && r.base.slots[0].more == 1600 &&
			r.base.slots[1].word == 16800 && r.base.slots[1].more == 400,
		"counts of memory come first, in bytes");
	for (int i = 0; i < 4; i++) {
		__u64 right = *at[i];

		*at[i] = 8; /* what is not mapped */
		tap__ok(run__walk(&r) == WALK_DONE && !w->first && r.base.nslots == 1,
			"what cannot be read costs the counts, not the sample");
		*at[i] = right;
	}
	row->dups_at = 0;
	tap__ok(run__walk(&r) == WALK_DONE && w->first && r.base.slots[1].more == 0,
		"duplications may not be known");
	row->small_at = 0;
	tap__ok(run__walk(&r) == WALK_DONE && !w->first && r.base.nslots == 1,
		"what is not proven is not read");
	run__free(&r);
}

/* Which call each frame is: its environment, the mark of that, and its context. */
TEST(calls)
{
	struct run r;
	struct xr_row *row = &r.base.walk.row;
	const struct xr_slot *slots;
	uint64_t f, env[2], at[2];

	run__plain(&r);
	slots = r.base.slots;
	f = image__call(&r.m, image__symbol(&r.m, "f"), 0, 0);
	for (int i = 0; i < 2; i++) {
		env[i] = image__cell(&r.m, R_ENVSXP | (i ? 0 : R_MARK_BIT), 0, 0, 0);
		at[i] = image__push(&r.m, R_CTXT_FUNCTION, f, 0);
		image__put64(&r.m, at[i] + r.m.layout.cloenv, env[i]);
	}
	image__push(&r.m, R_CTXT_BUILTIN, f, 0);
	row->flags = XR_ROW_CALLS;
	row->gc_count_at = image__alloc(&r.m, 4);
	image__put32(&r.m, row->gc_count_at, 12);
	tap__ok(run__walk(&r) == WALK_DONE && r.base.walk.first == XR_F_CALLS &&
			r.base.nslots == 7 && slots[0].word == 12 && slots[0].more == XR_COUNTED,
		"the number of collections comes first");
	tap__ok(!slots[2].word && !slots[2].more, "a builtin has no environment");
	tap__ok(slots[4].word == env[1] && slots[4].more == at[1] && slots[6].word == env[0] &&
			slots[6].more == (at[0] | XR_CALL_OLD),
		"the environment that a collection left is old");
	row->gc_at = 0;
	tap__ok(run__walk(&r) == WALK_DONE && slots[4].more == (at[1] | XR_CALL_OLD),
		"each counts as old if it is not known whether the collector runs");
	row->gc_count_at = 8; /* what is not mapped */
	tap__ok(run__walk(&r) == WALK_DONE && !slots[0].word && !slots[0].more,
		"what cannot be read is not a number of collections");
	run__free(&r);
}

/* Whose stack is it, of a thread whose stack is [@sp, @top)? */
static void whose(struct run *r, uint64_t sp, uint64_t top, enum walk_whose wanted,
		  const char *what)
{
	int result;

	run__forget(r);
	r->base.walk.sp = sp;
	r->base.walk.sp_top = top;
	result = run__walk(r);
	tap__ok(result == WALK_DONE && r->base.walk.whose == (uint32_t)wanted, "%s (%d, whose %u)",
		what, result, r->base.walk.whose);
}

/*
 * R's calls as they lie in memory: of code that eval() interprets on the C stack; of byte code from
 * R 4.4 on in the heap, with bcpc in the frame of bcEval_loop(); of a top-level loop that R
 * compiled nowhere else.  One thread's stack is the upper half of the image's, another's the lower.
 */
static void test_whose(const struct xr_layout *layout, const char *release)
{
	const uint64_t size = 1 << 17, high = IMAGE_STACK_AT + size, middle = high - size / 2;
	uint64_t call, at;
	char what[96];
	struct run r;

	run__init(&r, layout, 1 << 17, size);
	call = image__call(&r.m, image__symbol(&r.m, "f"), 0, 0);
	/* R_Toplevel is a variable */
	image__push(&r.m, 0, r.m.nil, 1);
	whose(&r, middle, high, WALK_NOBODY, "R executes no call: nothing tells");
	at = image__push(&r.m, R_CTXT_FUNCTION, call, 0);
	snprintf(what, sizeof(what), "R %s: a call on the C stack", release);
	whose(&r, middle, high, WALK_HERE, what);
	whose(&r, IMAGE_STACK_AT, middle, WALK_ELSEWHERE, "it is no other thread's");
	whose(&r, at + 8, high, WALK_ELSEWHERE, "nor one's that was below it");
	whose(&r, 0, 1, WALK_ELSEWHERE, "nor one's whose stack is not known");
	whose(&r, 0, 0, WALK_NOBODY, "of one thread it is not asked");
	if (layout->bcpc) {
		/* of a top-level loop: the heap alone has contexts */
		image__put64(&r.m, r.m.head_at, 0);
		image__push(&r.m, 0, r.m.nil, 1);
		for (int i = 0; i < 3; i++) {
			at = image__push(&r.m, R_CTXT_FUNCTION, call, 1);
			image__put64(&r.m, at + layout->bcpc, high - 64);
		}
		snprintf(what, sizeof(what), "R %s: calls of byte code in the heap", release);
		whose(&r, middle, high, WALK_HERE, what);
		whose(&r, IMAGE_STACK_AT, middle, WALK_ELSEWHERE, "they are no other thread's");
		/* foreign code on a second thread was called, and calls R */
		at = image__push(&r.m, R_CTXT_FUNCTION, call, 1);
		image__put64(&r.m, at + layout->bcpc, middle - 64);
		whose(&r, IMAGE_STACK_AT, middle, WALK_HERE,
		      "of two threads, one of which calls R for the other, it is the one's");
		whose(&r, middle, high, WALK_HERE, "and the other's");
	}
	run__free(&r);
}

TEST(altrep)
{
	uint64_t lst, one;
	struct run r;

	run__plain(&r);
	lst = image__symbol(&r.m, "lst");
	one = image__int(&r.m, 1);
	image__put64(&r.m, one, R_INTSXP | R_ALTREP_BIT);
	image__push(&r.m, 4, image__call(&r.m, image__call(&r.m, r.m.item, lst, one), 0, 0), 0);
	tap__ok(run__walk(&r) == WALK_DONE && r.base.nslots == 1 &&
			r.base.slots[0].word >> XR_FORM_SHIFT == XR_FORM_ITEM_ODD,
		"a subscript whose data is elsewhere");
	run__free(&r);
}

/* Contexts up to the limit, and one more. */
TEST(deep)
{
	uint64_t calls[2];
	struct run r;
	bool right;

	run__init(&r, layout_now(), 1 << 16, (size_t)(XR_CONTEXTS_MAX + 8) * (XR_CONTEXT_MAX + 64));
	calls[0] = image__call(&r.m, image__symbol(&r.m, "deeper"), 0, 0);
	calls[1] = image__call(&r.m, image__symbol(&r.m, "deep"), 0, 0);
	image__push(&r.m, 0, r.m.nil, 0);
	for (uint32_t i = 1; i < XR_CONTEXTS_MAX; i++)
		image__push(&r.m, 4, calls[i & 1], 0);
	tap__ok(run__walk(&r) == WALK_DONE && r.base.walk.frames == XR_CONTEXTS_MAX - 1,
		"as many contexts as are walked");
	run__decode(&r);
	right = r.nnames == XR_CONTEXTS_MAX - 1;
	for (uint32_t i = 0; right && i < r.nnames; i++)
		right = !strcmp(r.names[i], (XR_CONTEXTS_MAX - 1 - i) & 1 ? "deep" : "deeper");
	tap__ok(right, "and they come out in order");
	image__push(&r.m, 4, calls[1], 0);
	tap__ok(run__walk(&r) == WALK_CUT && r.base.walk.frames == XR_CONTEXTS_MAX,
		"one more: outer frames are cut");
	run__free(&r);
}

/* A word as it might lie in R's memory, or not. */
static uint64_t some_word(const struct image *m)
{
	static const uint8_t types[] = {R_SYMSXP, R_CLOSXP,  R_ENVSXP, R_LANGSXP, R_CHARSXP,
					R_INTSXP, R_REALSXP, R_STRSXP, R_VECSXP,  R_BCODESXP};

	switch (some(8)) {
	case 0:
		return some(2) ? 0 : R_INTSXP | R_ALTREP_BIT;
	case 1:
		return some64();
	case 2:
		return some(200);
	case 3:
		return types[some(COUNT(types))];
	case 4:
		return IMAGE_STACK_AT + (some((uint32_t)m->stack_size) & ~7ull);
	case 5:
		return ~0ull - some(64);
	default:
		return IMAGE_HEAP_AT + (some((uint32_t)m->heap_size) & ~7ull);
	}
}

static void test_random(bool from_nothing, uint32_t images)
{
	static uint8_t heap[1 << 15], stack[1 << 15];
	const uint32_t size = from_nothing ? 1 << 13 : 1 << 15;
	uint32_t results[3] = {0};
	bool ok = true;
	struct run r;
	struct image *m = &r.m;

	run__init(&r, layout_now(), size, size);
	if (!from_nothing)
		image__forms(m, 1);
	memcpy(heap, m->heap, size);
	memcpy(stack, m->stack, size);
	for (uint32_t i = 0; i < images && ok; i++) {
		int result;

		for (size_t at = 0; from_nothing && at < size; at += 8) {
			image__put64(m, IMAGE_HEAP_AT + at, some_word(m));
			image__put64(m, IMAGE_STACK_AT + at, some_word(m));
		}
		for (uint32_t hit = 0; !from_nothing && hit < 1 + i % 4; hit++) {
			image__put64(m, IMAGE_HEAP_AT + (some((uint32_t)m->heap_used) & ~7ull),
				     some_word(m));
			image__put64(m,
				     IMAGE_STACK_AT + size -
					     ((some((uint32_t)m->stack_used) + 8) & ~7ull),
				     some_word(m));
		}
		if (from_nothing) /* something must be found, or nothing is tried */
			image__put64(m, m->head_at, IMAGE_STACK_AT + (some(size / 2) & ~7ull));
		map__free(&r.known);
		r.base.walk.row.flags = i & 1 || !from_nothing ? XR_ROW_GC : 0;
		result = run__walk(&r);
		ok = (result == WALK_DONE || result == WALK_CUT ||
		      (result < 0 && -result < XR_ERRORS)) &&
		     r.base.walk.frames <= XR_CONTEXTS_MAX;
		results[result == WALK_DONE ? 0 : result == WALK_CUT ? 1 : 2]++;
		if (!ok)
			tap__diag("image %u: %d", i, result);
		memcpy(m->heap, heap, size);
		memcpy(m->stack, stack, size);
	}
	tap__ok(ok, "%u images %s: a walk of each ends", images,
		from_nothing ? "of random words" : "with random damage");
	tap__diag("%u whole, %u cut, %u refused", results[0], results[1], results[2]);
	run__free(&r);
}

TEST(whose)
{
	size_t rows;

	test_whose(&layouts__table(&rows)[0].layout, "3.0");
	test_whose(layout_now(), "4.4 and later");
}

TEST(random)
{
	test_random(true, tap__all() ? 20000 : 5000);
	test_random(false, tap__all() ? 20000 : 5000);
}
