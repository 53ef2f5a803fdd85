/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk over images of R's memory: every layout, every form of name, every read made to fail. */
#include "lines_scene.h"

#define SIZE ((size_t)1 << 17)

static struct scene s;

/* An image without places, and with nothing but the toplevel context. */
static void plain(const struct xr_layout *layout, size_t size)
{
	scene__free(&s);
	image__init(&s.m, layout, size, size);
	s.row = image__row(&s.m);
	image__push(&s.m, 0, s.m.nil, 0);
}

BEFORE()
{
	plain(layout_now(), SIZE);
}

TEST(layouts)
{
	static const char *const arches[] = {"x86_64 Linux", "aarch64 Linux", "x86_64 Windows"};
	char forms[512] = "", what[128];
	size_t rows, len = 0;
	const struct layouts_row *table = layouts__table(&rows);

	for (size_t i = IMAGE_FORMS; i-- > 0;)
		if (image_forms[i].name)
			len += (size_t)snprintf(forms + len, sizeof(forms) - len, "%s ",
						image_forms[i].name);
	for (size_t i = 0; i < 2 * rows; i++) {
		const struct layouts_row *row = &table[i / 2];
		const int heap = i % 2;

		plain(&row->layout, SIZE);
		image__forms(&s.m, heap);
		snprintf(what, sizeof(what), "all forms of names, R %u.%u on %s%s",
			 row->first >> 16, row->first >> 8 & 255, arches[row->arch],
			 heap ? ", contexts on the heap too" : "");
		check(&s, forms, what);
	}
}

/* The slots of @r are the first of those of @whole. */
static bool run__begins(const struct recorded_walk *r, const struct recorded_walk *whole)
{
	return r->nslots <= whole->nslots &&
	       (!r->nslots || !memcmp(r->slots, whole->slots, r->nslots * sizeof(*r->slots)));
}

TEST(faults)
{
	uint64_t reads, errors[XR_ERRORS] = {0};
	struct recorded_walk *whole, *r;
	bool ok = true;
	int result;

	image__forms(&s.m, 1);
	whole = run__failing(&s, 0, &result);
	reads = s.m.reads;
	for (uint64_t n = 1; n <= reads && ok; n++) {
		r = run__failing(&s, n, &result);
		ok = s.m.reads == n && result < 0 && run__begins(r, whole);
		errors[ok ? -result : 0]++;
		ok = ok && recorded_walk__again(r) == WALK_DONE && r->nslots == whole->nslots &&
		     run__begins(r, whole);
		if (!ok)
			tap__diag("read %d of %d: %d", (int)n, (int)reads, result);
		run__free(r);
	}
	tap__ok(ok,
		"each of %d reads fails in turn: an error, right frames before it, and the "
		"next walk is whole",
		(int)reads);
	tap__ok(errors[XR_BAD_HEAD] && errors[XR_BAD_CONTEXT] && errors[XR_BAD_CALL] &&
			errors[XR_BAD_FUN] && errors[XR_BAD_SYMBOL],
		"every kind of unreadable was met");
	run__free(whole);
}

TEST(damage)
{
	const struct xr_layout *l = layout_now();
	uint64_t f, g, call_g, outer, inner, top, name;

	f = image__symbol(&s.m, "f");
	g = image__symbol(&s.m, "g");
	call_g = image__call(&s.m, g, 0, 0);
	top = image__get64(&s.m, s.m.head_at);
	outer = image__push(&s.m, 4, image__call(&s.m, f, 0, 0), 0);
	inner = image__push(&s.m, 4, call_g, 0);
	name = image__get64(&s.m, g + 8 * R_CAR);
	{
		const struct {
			uint64_t at, value; /* written over 8 bytes there */
			int wanted;
			uint32_t frames;
			const char *what;
		} rows[] = {
			{s.m.head_at, 0, WALK_DONE, 0, "R is not initialised"},
			{s.m.head_at, 0x1234, -XR_BAD_CONTEXT, 0, "R_GlobalContext is wild"},
			{s.m.head_at, top, WALK_DONE, 0, "nothing is being called"},
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
			uint64_t old = image__get64(&s.m, rows[i].at);
			struct recorded_walk *r = run__new(&s);
			int result;

			image__put64(&s.m, rows[i].at, rows[i].value);
			result = recorded_walk__again(r);
			tap__ok(result == rows[i].wanted && r->walk.frames == rows[i].frames,
				"%s (%d, %u frames)", rows[i].what, result, r->walk.frames);
			image__put64(&s.m, rows[i].at, old);
			run__free(r);
		}
	}
}

TEST(long_name)
{
	static char name[XR_NAME_MAX];
	struct recorded_walk *r;

	memset(name, 'n', 10000); /* the longest that R takes */
	push(&s, name, 0);
	r = run__new(&s);
	recorded_walk__again(r);
	tap__is(recorded_walk__text(r, r->slots[0].word & XR_WORD_MASK), name,
		"a very long name is whole");
	run__free(r);
}

TEST(gc)
{
	image__put32(&s.m, s.m.gc_at, 1);
	check(&s, "", "without XR_ROW_GC the walk does not read the collector's state");
	s.row.flags = XR_ROW_GC;
	check(&s, "<GC> ", "the collector runs");
	image__put32(&s.m, s.m.gc_at, 0);
	check(&s, "", "and does not");
}

TEST(memory)
{
	struct recorded_walk *r = run__new(&s);
	struct xr_row *row = &r->walk.row;
	const struct walk *w = &r->walk;
	__u64 *const at[] = {&row->small_at, &row->large_at, &row->nodes_at, &row->dups_at};

	push(&s, "f", 0);
	for (uint64_t i = 0; i < 4; i++) {
		*at[i] = image__alloc(&s.m, 8);
		image__put64(&s.m, *at[i], 100 * (i + 1));
	}
	row->node_size = 56;
	tap__ok(recorded_walk__again(r) == WALK_DONE && !w->first && r->nslots == 1,
		"without XR_ROW_MEMORY the walk does not read memory counts");
	row->flags |= XR_ROW_MEMORY;
	tap__ok(recorded_walk__again(r) == WALK_DONE && w->first && r->nslots == 3 &&
			r->slots[0].word == 800 && r->slots[0].more == 1600 &&
			r->slots[1].word == 16800 && r->slots[1].more == 400,
		"counts of memory come first, in bytes");
	for (int i = 0; i < 4; i++) {
		__u64 right = *at[i];

		*at[i] = 8; /* what is not mapped */
		tap__ok(recorded_walk__again(r) == WALK_DONE && !w->first && r->nslots == 1,
			"what cannot be read costs the counts, not the sample");
		*at[i] = right;
	}
	row->dups_at = 0;
	tap__ok(recorded_walk__again(r) == WALK_DONE && w->first && r->slots[1].more == 0,
		"duplications may not be known");
	row->small_at = 0;
	tap__ok(recorded_walk__again(r) == WALK_DONE && !w->first && r->nslots == 1,
		"what is not proven is not read");
	run__free(r);
}

/* Which call each frame is: its environment, the mark of that, and its context. */
TEST(calls)
{
	struct recorded_walk *r = run__new(&s);
	struct xr_row *row = &r->walk.row;
	const struct xr_slot *slots;
	uint64_t f, env[2], at[2];

	f = image__call(&s.m, image__symbol(&s.m, "f"), 0, 0);
	for (int i = 0; i < 2; i++) {
		env[i] = image__cell(&s.m, R_ENVSXP | (i ? 0 : R_MARK_BIT), 0, 0, 0);
		at[i] = image__push(&s.m, R_CTXT_FUNCTION, f, 0);
		image__put64(&s.m, at[i] + s.m.layout.cloenv, env[i]);
	}
	image__push(&s.m, R_CTXT_BUILTIN, f, 0);
	row->flags = XR_ROW_CALLS;
	row->gc_count_at = image__alloc(&s.m, 4);
	image__put32(&s.m, row->gc_count_at, 12);
	recorded_walk__again(r);
	slots = r->slots;
	tap__ok(recorded_walk__again(r) == WALK_DONE && r->walk.first == XR_F_CALLS &&
			r->nslots == 7 && slots[0].word == 12 && slots[0].more == XR_COUNTED,
		"the number of collections comes first");
	tap__ok(!slots[2].word && !slots[2].more, "a builtin has no environment");
	tap__ok(slots[4].word == env[1] && slots[4].more == at[1] && slots[6].word == env[0] &&
			slots[6].more == (at[0] | XR_CALL_OLD),
		"the environment that a collection left is old");
	row->gc_at = 0;
	tap__ok(recorded_walk__again(r) == WALK_DONE && slots[4].more == (at[1] | XR_CALL_OLD),
		"each counts as old if it is not known whether the collector runs");
	row->gc_count_at = 8; /* what is not mapped */
	tap__ok(recorded_walk__again(r) == WALK_DONE && !slots[0].word && !slots[0].more,
		"what cannot be read is not a number of collections");
	run__free(r);
}

/* Whose stack is it, of a thread whose stack is [@sp, @top)? */
static void whose(uint64_t sp, uint64_t top, enum walk_whose wanted, const char *what)
{
	struct recorded_walk *r = run__new(&s);
	int result;

	r->walk.sp = sp;
	r->walk.sp_top = top;
	result = recorded_walk__again(r);
	tap__ok(result == WALK_DONE && r->walk.whose == (uint32_t)wanted, "%s (%d, whose %u)", what,
		result, r->walk.whose);
	run__free(r);
}

/*
 * R's calls as they lie in memory: of code that eval() interprets on the C stack; of byte code from
 * R 4.4 on in the heap, with bcpc in the frame of bcEval_loop(); of a top-level loop that R
 * compiled nowhere else.  One thread's stack is the upper half of the image's, another's the lower.
 */
static void test_whose(const struct xr_layout *layout, const char *release)
{
	const uint64_t high = IMAGE_STACK_AT + SIZE, middle = high - SIZE / 2;
	uint64_t call, at;
	char what[96];

	plain(layout, SIZE);
	call = image__call(&s.m, image__symbol(&s.m, "f"), 0, 0);
	/* R_Toplevel is a variable */
	image__put64(&s.m, s.m.head_at, 0);
	image__push(&s.m, 0, s.m.nil, 1);
	whose(middle, high, WALK_NOBODY, "R executes no call: nothing tells");
	at = image__push(&s.m, R_CTXT_FUNCTION, call, 0);
	snprintf(what, sizeof(what), "R %s: a call on the C stack", release);
	whose(middle, high, WALK_HERE, what);
	whose(IMAGE_STACK_AT, middle, WALK_ELSEWHERE, "it is no other thread's");
	whose(at + 8, high, WALK_ELSEWHERE, "nor one's that was below it");
	whose(0, 1, WALK_ELSEWHERE, "nor one's whose stack is not known");
	whose(0, 0, WALK_NOBODY, "of one thread it is not asked");
	if (layout->bcpc) {
		/* of a top-level loop: the heap alone has contexts */
		image__put64(&s.m, s.m.head_at, 0);
		image__push(&s.m, 0, s.m.nil, 1);
		for (int i = 0; i < 3; i++) {
			at = image__push(&s.m, R_CTXT_FUNCTION, call, 1);
			image__put64(&s.m, at + layout->bcpc, high - 64);
		}
		snprintf(what, sizeof(what), "R %s: calls of byte code in the heap", release);
		whose(middle, high, WALK_HERE, what);
		whose(IMAGE_STACK_AT, middle, WALK_ELSEWHERE, "they are no other thread's");
		/* foreign code on a second thread was called, and calls R */
		at = image__push(&s.m, R_CTXT_FUNCTION, call, 1);
		image__put64(&s.m, at + layout->bcpc, middle - 64);
		whose(IMAGE_STACK_AT, middle, WALK_HERE,
		      "of two threads, one of which calls R for the other, it is the one's");
		whose(middle, high, WALK_HERE, "and the other's");
	}
}

TEST(altrep)
{
	uint64_t lst, one;

	lst = image__symbol(&s.m, "lst");
	one = image__int(&s.m, 1);
	image__put64(&s.m, one, R_INTSXP | R_ALTREP_BIT);
	image__push(&s.m, 4, image__call(&s.m, image__call(&s.m, s.m.item, lst, one), 0, 0), 0);
	check(&s, "lst[[?]] ", "a subscript whose data is elsewhere");
}

TEST(deep)
{
	uint64_t names[2], calls[2];
	struct recorded_walk *r;
	bool right = true;

	plain(layout_now(), (size_t)(XR_CONTEXTS_MAX + 8) * (XR_CONTEXT_MAX + 64));
	for (int i = 0; i < 2; i++) {
		names[i] = image__symbol(&s.m, i ? "deep" : "deeper");
		calls[i] = image__call(&s.m, names[i], 0, 0);
	}
	for (uint32_t i = 1; i < XR_CONTEXTS_MAX; i++)
		image__push(&s.m, 4, calls[i & 1], 0);
	r = run__new(&s);
	tap__ok(recorded_walk__again(r) == WALK_DONE && r->walk.frames == XR_CONTEXTS_MAX - 1 &&
			r->nslots == XR_CONTEXTS_MAX - 1,
		"as many contexts as are walked");
	for (uint32_t i = 0; right && i < r->nslots; i++)
		right = (r->slots[i].word & XR_WORD_MASK) == names[(XR_CONTEXTS_MAX - 1 - i) & 1];
	tap__ok(right, "and they come out in order");
	image__push(&s.m, 4, calls[1], 0);
	tap__ok(recorded_walk__again(r) == WALK_CUT && r->walk.frames == XR_CONTEXTS_MAX,
		"one more: outer frames are cut");
	run__free(r);
}

TEST(whose)
{
	size_t rows;

	test_whose(&layouts__table(&rows)[0].layout, "3.0");
	test_whose(layout_now(), "4.4 and later");
}
