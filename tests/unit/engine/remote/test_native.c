/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Native frames from outside, over an image of R's memory in which each context lies in the frame
 * of a C function: all frames in their order, R's part as without them, whatever is not known, and
 * within the time there is.
 */
#include "engine/remote/native.h"

#include "engine/remote/remote_walk.h"
#include "r_image.h"
#include "space.h"
#include "tap.h"
#include "target/layouts.h"

#define CODE	0x7f0000000000ULL
#define OWNER	0x0000u /* code of frames with a context, */
#define LEAF	0x1000u /* of one without, */
#define END	0x2000u /* of the outermost, */
#define BUILTIN 0x3000u /* of a function in R_FunTab */
#define CODES	0x4000u
#define FRAME	(XR_CONTEXT_MAX + 64u) /* image__room() */
#define INNER	32u		       /* bytes of a frame without a context */
#define OFFSET	3u		       /* in R_FunTab */
#define SLOTS	4096u

static uint64_t clock_ns, read_ns;
static uint32_t row_flags; /* of the scenes to come */

struct scene {
	struct image m;
	struct xr_row row;
	struct remote_walk *rw;
	struct remote_native *n;
	struct remote_regs regs;
	struct xr_space *space;
	uint32_t ncalls, records;
	uint32_t broken; /* records that end within a frame */
	uint32_t flags;
	struct xr_slot slots[SLOTS];
	uint32_t nslots;
};

static uint64_t scene__now(void)
{
	return clock_ns;
}

static int scene__read(void *arg, const struct mem_span *spans, uint32_t n)
{
	struct scene *s = arg;

	clock_ns += read_ns;
	for (uint32_t i = 0; i < n; i++)
		if (image__read(&s->m, spans[i].to, spans[i].len, spans[i].addr))
			return (int)i;
	return (int)n;
}

/* Are its slots whole frames, and no more than a record may have? */
static bool record__whole(const struct xr_sample *r)
{
	const uint32_t each = 1 + !!(r->flags & XR_F_LINES) + !!(r->flags & XR_F_PACKAGES);
	uint32_t at = 0;

	while (at < r->nslots)
		at += XR_FORM_IS_NATIVE(r->slots[at].word >> XR_FORM_SHIFT) ? 1 : each;
	return at == r->nslots && at <= XR_CHUNK_SLOTS;
}

static void on_record(void *arg, const void *record, size_t size)
{
	struct scene *s = arg;
	const struct xr_sample *r = record;

	if (r->head.type != XR_REC_SAMPLE)
		return;
	if (!r->part)
		s->nslots = 0;
	s->records++;
	s->broken += !record__whole(r);
	s->flags = r->flags;
	for (uint32_t i = 0; i < r->nslots && s->nslots < SLOTS; i++)
		s->slots[s->nslots++] = r->slots[i];
}

/* The tables: a row for each kind of code, and what is mapped. */
static void scene__tables(struct scene *s)
{
	static const struct xr_unwind_row rows[] = {
		{OWNER, 1, 0}, {LEAF, 2, 0}, {END, 3, 0}, {BUILTIN, 2, XR_ROW_BUILTIN},
		{CODES, 0, 0},
	};
	static const struct xr_unwind_rule rules[] = {
		{0},
		{XR_CFA_SP, XR_SAVED_SAME, XR_SAVED_CFA, 0, FRAME, 0, -8},
		{XR_CFA_SP, XR_SAVED_SAME, XR_SAVED_CFA, 0, INNER, 0, -8},
		{.cfa = XR_CFA_END},
	};
	const uint32_t rows_at = 64, rules_at = 128;
	struct xr_mapping map = {
		.start = CODE,
		.end = CODE + CODES,
		.base = CODE,
		.slab = 1,
		.rows = rows_at,
		.nrows = COUNT(rows),
		.rules = rules_at,
		.module = 7,
	};
	uint64_t *words;

	tap__bail_if(remote_native__slab(s->n, 1, &words), "out of memory");
	memcpy(words + rows_at, rows, sizeof(rows));
	memcpy(words + rules_at, rules, sizeof(rules));
	tap__bail_if(remote_native__slab(s->n, 0, &words), "out of memory");
	s->space = (struct xr_space *)(void *)words;
	*s->space = (struct xr_space){.stamp = 5, .n = 1};
	memcpy(words + XR_SPACE_WORDS, &map, sizeof(map));
	s->row.space_stamp = 5;
}

/* @calls calls, each in a separate frame, and a frame inside of all. */
static void scene__open(struct scene *s, uint32_t calls, uint64_t limit)
{
	struct mem_reader reader = {.read_spans = scene__read, .arg = s};
	uint64_t at = 0, call;

	memset(s, 0, sizeof(*s));
	image__init(&s->m, layouts__last(LAYOUTS_X86_64_LINUX), 1 << 16, (calls + 2) * FRAME);
	call = image__call(&s->m, image__symbol(&s->m, "f"), 0, 0);
	for (uint32_t i = 0; i <= calls; i++) {
		at = image__push(&s->m, i ? R_CTXT_FUNCTION : 0, i ? call : s->m.nil, 0);
		image__put64(&s->m, at + FRAME - 8, CODE + (i ? OWNER + i % 0x1000u : END) + !i);
	}
	image__room(&s->m, 0);
	image__put64(&s->m, at - 8, CODE + OWNER + 0xfffu);
	s->ncalls = calls;
	s->regs = (struct remote_regs){
		.pc = CODE + LEAF + 4,
		.sp = at - INNER,
		.top = IMAGE_STACK_AT + s->m.stack_size,
		.pc_mask = UINT64_MAX,
	};
	s->row = image__row(&s->m);
	s->row.flags |= XR_ROW_NATIVE | row_flags;
	tap__bail_if(remote_native__new(&s->n), "out of memory");
	scene__tables(s);
	tap__bail_if(remote_walk__new(&s->rw, &s->row, &reader, scene__now), "out of memory");
	remote_walk__sink(s->rw, on_record, s);
	remote_walk__limit(s->rw, limit);
}

static void scene__close(struct scene *s)
{
	remote_walk__free(s->rw);
	remote_native__free(s->n);
	image__free(&s->m);
}

/* One sample; as remote_walk__finish. */
static int scene__sample(struct scene *s, bool native)
{
	static const struct xr_sample like = {.weight = 1};
	int err = remote_walk__ahead(s->rw);

	if (err >= 0)
		err = remote_walk__still(s->rw);
	if (err >= 0 && native)
		err = remote_walk__finish_native(s->rw, s->n, &s->regs);
	if (err >= 0)
		err = remote_walk__finish(s->rw);
	s->nslots = s->flags = 0;
	if (err >= 0)
		remote_walk__send(s->rw, &like);
	return err;
}

static bool slot__native(const struct xr_slot *slot)
{
	return XR_FORM_IS_NATIVE(slot->word >> XR_FORM_SHIFT);
}

static uint32_t scene__natives(const struct scene *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nslots; i++)
		n += slot__native(&s->slots[i]);
	return n;
}

/* Are there @n frames of R, and nothing else but native ones? */
static bool scene__r_whole(const struct scene *s, uint32_t n)
{
	return s->nslots - scene__natives(s) == n;
}

/* The leaf; then each owner and the call it owns; then that of the toplevel context, and the end.
 */
static bool scene__in_order(const struct scene *s)
{
	uint32_t at = 0;

	if (s->nslots != 2 * s->ncalls + 3 ||
	    XR_NATIVE_PC(s->slots[at++].word) != (uint32_t)s->regs.pc - (uint32_t)CODE)
		return false;
	for (uint32_t i = 0; i < s->ncalls; i++) {
		const struct xr_slot *owner = &s->slots[at++], *call = &s->slots[at++];

		if (!slot__native(owner) || slot__native(call) ||
		    !(XR_NATIVE_FLAGS(owner->more) & XR_NATIVE_OWNS) ||
		    XR_NATIVE_MODULE(owner->more) != 7)
			return false;
	}
	return XR_NATIVE_FLAGS(s->slots[at].more) & XR_NATIVE_OWNS &&
	       XR_NATIVE_PC(s->slots[at + 1].word) == END;
}

TEST(order)
{
	uint64_t counts[XR_COUNTERS] = {0};
	struct xr_slot plain[64];
	struct scene s;
	uint32_t n, same = 0;

	scene__open(&s, 20, 0);
	tap__ok(scene__sample(&s, false) == 0, "a sample without native frames");
	tap__ok(!remote_walk__native(s.rw) && !(s.flags & XR_F_NATIVE) && s.nslots == 20,
		"it has none");
	memcpy(plain, s.slots, sizeof(plain));
	tap__ok(scene__sample(&s, true) == 0, "and one with");
	tap__ok(scene__in_order(&s), "each frame stands around the call that it owns");
	tap__ok((s.flags & (XR_F_NATIVE | XR_F_NATIVE_CUT)) == XR_F_NATIVE, "the stack is whole");
	n = 0;
	for (uint32_t i = 0; i < s.nslots; i++)
		if (!slot__native(&s.slots[i]))
			same += !memcmp(&s.slots[i], &plain[n++], sizeof(*plain));
	tap__ok(n == 20 && same == 20, "R's part is the same");
	tap__ok(remote_walk__native(s.rw) == s.n,
		"the walk returns the owner of the native frames");
	remote_native__count(s.n, counts);
	tap__ok(counts[XR_UNWOUND] == 1 && counts[XR_NATIVE_FRAMES] == 23 &&
			!counts[XR_KEYS_DESCENDED] && !counts[XR_DEAD_CONTEXTS],
		"and counted");
	tap__ok(!remote_native__unknown(s.n, &s.row, clock_ns), "no code is unknown");

	remote_walk__ahead(s.rw);
	remote_walk__still(s.rw);
	remote_walk__finish_native(s.rw, s.n, &s.regs);
	remote_walk__again(s.rw);
	tap__ok(!remote_walk__finish(s.rw) && !remote_walk__native(s.rw),
		"what was made of a thread that ran is made again without");
	remote_walk__no_native(s.rw);
	remote_walk__send(s.rw, &(struct xr_sample){.weight = 1});
	tap__ok(s.nslots == 20 && s.flags & XR_F_NATIVE && s.flags & XR_F_NATIVE_CUT &&
			remote_walk__lacks_native(s.rw),
		"and marked, if it should have native frames");
	scene__sample(&s, true);
	tap__ok(scene__in_order(&s) && !remote_walk__lacks_native(s.rw), "the next one has them");
	scene__close(&s);
}

/* A sample of several records, none of which ends within a frame. */
TEST(parts)
{
	static const uint32_t flags[] = {0, XR_ROW_LINES, XR_ROW_PACKAGES,
					 XR_ROW_LINES | XR_ROW_PACKAGES};
	struct scene s;

	for (uint32_t i = 0; i < COUNT(flags); i++) {
		const uint32_t each =
			1 + !!(flags[i] & XR_ROW_LINES) + !!(flags[i] & XR_ROW_PACKAGES);
		uint32_t broken = 0, short_of = 0, records = 0;

		row_flags = flags[i];
		for (uint32_t calls = 200; calls < 212; calls++) {
			scene__open(&s, calls, 0);
			short_of +=
				scene__sample(&s, true) != 0 || s.nslots != calls * (1 + each) + 3;
			broken += s.broken;
			records += s.records;
			scene__close(&s);
		}
		tap__ok(!broken && !short_of && records > 12,
			"%u slots a frame of R: %u records of 12 samples, %u end within a frame",
			each, records, broken);
	}
	row_flags = 0;
}

TEST(unknown)
{
	struct scene s;

	scene__open(&s, 10, 0);
	s.regs.pc = CODE + CODES + 0x1000;
	tap__ok(scene__sample(&s, true) == 0, "code that is in no mapping");
	tap__ok(scene__r_whole(&s, 10) && scene__natives(&s) == 1 && s.flags & XR_F_NATIVE_CUT,
		"ends native frames; R's part is whole");
	tap__ok(remote_native__unknown(s.n, &s.row, 1000), "it is reported,");
	scene__sample(&s, true);
	tap__ok(!remote_native__unknown(s.n, &s.row, 2000), "not again soon,");
	scene__sample(&s, true);
	tap__ok(remote_native__unknown(s.n, &s.row, s.space->quiet), "but later");
	s.space->stamp = 6;
	scene__sample(&s, true);
	tap__ok(scene__r_whole(&s, 10) && s.flags & XR_F_NATIVE_CUT &&
			remote_native__unknown(s.n, &s.row, 3000),
		"an abandoned space: it is reported");
	scene__sample(&s, true);
	tap__ok(!remote_native__unknown(s.n, &s.row, UINT64_MAX), "once");
	scene__close(&s);
}

/* The stack is not what its tables say. */
TEST(damaged)
{
	const uint64_t sps[] = {0, 1, 8, UINT64_MAX, UINT64_MAX - 7, IMAGE_STACK_AT - 8};
	struct scene s;
	bool whole = true;

	scene__open(&s, 10, 0);
	for (size_t i = 0; i < COUNT(sps); i++) {
		s.regs.sp = sps[i];
		whole = whole && !scene__sample(&s, true) && scene__r_whole(&s, 10);
	}
	tap__ok(whole, "a stack pointer that leads nowhere: R's part is whole");
	scene__close(&s);
	scene__open(&s, 10, 0);
	s.row.space_slab = REMOTE_SLABS_MAX;
	remote_walk__row(s.rw, &s.row);
	tap__ok(!scene__sample(&s, true) && scene__r_whole(&s, 10) &&
			!remote_native__unknown(s.n, &s.row, 1000),
		"a slab that cannot be");
	scene__close(&s);
}

TEST(builtin)
{
	struct scene s;
	uint64_t table, object, stack, pp_at, top_at;

	scene__open(&s, 4, 0);
	table = image__alloc(&s.m, 40 * (OFFSET + 1));
	image__put64(&s.m, table + 40 * OFFSET + 8, CODE + BUILTIN);
	object = image__cell(&s.m, R_BUILTINSXP, OFFSET, 0, s.m.nil);
	stack = image__alloc(&s.m, 64);
	image__put64(&s.m, stack, s.m.nil);
	image__put64(&s.m, stack + 8, object);
	pp_at = image__alloc(&s.m, 8);
	image__put64(&s.m, pp_at, stack);
	top_at = image__alloc(&s.m, 8);
	image__put32(&s.m, top_at, 2);
	s.row.fun_tab = table;
	s.row.pp_at = pp_at;
	s.row.pp_top_at = top_at;
	remote_walk__row(s.rw, &s.row);
	s.regs.pc = CODE + BUILTIN + 8;
	tap__ok(scene__sample(&s, true) == 0, "a function in R_FunTab");
	tap__ok(s.slots[0].word >> XR_FORM_SHIFT == XR_FORM_BUILTIN &&
			XR_NATIVE_OFFSET(s.slots[0].word) == OFFSET,
		"has the offset that was called");
	tap__ok(scene__in_order(&s), "in its place");
	image__put32(&s.m, top_at, 1);
	scene__sample(&s, true);
	tap__ok(s.slots[0].word >> XR_FORM_SHIFT == XR_FORM_NATIVE && scene__in_order(&s),
		"by what R protects at that moment, else not");
	image__put64(&s.m, pp_at, 0x10);
	image__put32(&s.m, top_at, UINT32_MAX);
	tap__ok(!scene__sample(&s, true) && scene__r_whole(&s, 4) && !(s.flags & XR_F_NATIVE_CUT),
		"what cannot be read is not missed");
	scene__close(&s);
}

/* Unwinding of very many frames exceeds its time. */
TEST(time)
{
	const uint64_t limit = 1000000;
	struct scene s;
	uint64_t before;

	scene__open(&s, 400, limit);
	tap__ok(!scene__sample(&s, true) && scene__in_order(&s), "400 calls in time");
	read_ns = 60000; /* for each 16 KiB of the stack, that is 28 frames */
	remote_walk__ahead(s.rw);
	remote_walk__still(s.rw);
	before = clock_ns;
	tap__ok(remote_walk__finish_native(s.rw, s.n, &s.regs) >= 0, "where reads are slow");
	tap__ok(clock_ns - before <= limit + 4 * read_ns,
		"the thread is held up for as long as it may be (%llu us)",
		(unsigned long long)(clock_ns - before) / 1000);
	tap__ok(remote_walk__finish(s.rw) == 0, "afterwards the sample is made");
	remote_walk__send(s.rw, &(struct xr_sample){.weight = 1});
	tap__ok(scene__r_whole(&s, 400), "and R's part is whole");
	tap__ok(!remote_walk__native(s.rw) || s.flags & XR_F_NATIVE_CUT,
		"native frames are there as far as they came");
	read_ns = 0;
	scene__close(&s);
}

TEST(slabs)
{
	struct remote_native *n;
	uint64_t *words, *again;
	bool zero = true;

	tap__bail_if(remote_native__new(&n), "out of memory");
	tap__ok(remote_native__slab(n, REMOTE_SLABS_MAX, &words) == -E2BIG, "there is an end");
	tap__ok(remote_native__slab(n, REMOTE_SLABS_MAX - 1, &words) == 0, "the last slab");
	for (uint32_t i = 0; i < XR_SLAB_WORDS; i++)
		zero = zero && !words[i];
	tap__ok(zero, "starts with nothing in it");
	tap__ok(!remote_native__slab(n, REMOTE_SLABS_MAX - 1, &again) && again == words,
		"and stays where it is");
	remote_native__free(n);
	remote_native__free(NULL);
}
