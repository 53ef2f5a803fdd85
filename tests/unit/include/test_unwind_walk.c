/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From frame to caller (unwind_walk.h), over stacks that are made up. */

#include "some.h"
#include "tap.h"

#define WALK_FN static inline __attribute__((unused))
#include "unwind_walk.h"

#define BASE	   0x7ffd10000000ULL
#define WORDS	   8192
#define FRAMES_MAX 64
#define CODE	   0x555500000000ULL
#define STACKS	   (tap__all() ? 20000u : 8000u)

/* A function of the made-up program: 256 bytes of code, all of one rule. */
struct truth {
	uint64_t pc, lo, hi, fp;
	struct xr_unwind_rule rule;
};

static struct scene {
	uint64_t words[WORDS];
	struct truth frames[FRAMES_MAX + 1];
	uint32_t n;
	uint32_t reads;
} scene;

static int unwind__read(struct unwind *u, __u64 *dst, __u32 words, __u64 addr)
{
	scene.reads++;
	if (addr & 7 || addr < BASE || addr - BASE > sizeof(scene.words) - 8ULL * words)
		return -1;
	memcpy(dst, &scene.words[(addr - BASE) / 8], 8ULL * words);
	return 0;
}

static int unwind__rule(struct unwind *u, __u64 pc)
{
	uint64_t i = (pc - CODE) / 256;

	if (pc < CODE || i >= scene.n)
		return -1;
	u->rule = scene.frames[i].rule;
	return 0;
}

static void put(uint64_t addr, uint64_t value)
{
	tap__bail_if(addr < BASE || addr + 8 > BASE + sizeof(scene.words),
		     "a word beyond the stack");
	scene.words[(addr - BASE) / 8] = value;
}

/* Where in frame @i its caller goes on, or where it was interrupted. */
static uint64_t place(uint32_t i)
{
	return CODE + 256ULL * i + 16;
}

/*
 * @n frames, innermost first.  The frame pointer is valid where a rule needs it, and any number
 * elsewhere.
 */
static void scene__make(uint32_t n, bool arm)
{
	uint64_t at = BASE + 64;

	memset(&scene, 0, sizeof(scene));
	scene.n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct truth *f = &scene.frames[i];
		uint64_t size = 32 + 8ULL * some(12);

		f->pc = place(i);
		f->lo = at;
		f->hi = at += size;
		f->fp = (uint64_t)some(1000) << 20;
		f->rule = (struct xr_unwind_rule){.cfa = XR_CFA_SP,
						  .fp = XR_SAVED_SAME,
						  .ra = XR_SAVED_CFA,
						  .cfa_off = (int)size,
						  .ra_off = -8};
		switch (some(arm ? 3 : 5)) {
		case 1: /* by the frame pointer */
			f->fp = f->hi - 16;
			f->rule.cfa = XR_CFA_FP;
			f->rule.cfa_off = 16;
			f->rule.fp = XR_SAVED_CFA;
			f->rule.fp_off = -16;
			break;
		case 2: /* saved, but not beside the return address */
			f->rule.fp = XR_SAVED_CFA;
			f->rule.fp_off = -24;
			break;
		case 3: /* a stack that was realigned */
			f->fp = f->hi - 24;
			f->rule.cfa = XR_CFA_FP_DEREF;
			f->rule.cfa_off = -8;
			f->rule.fp = XR_SAVED_FP;
			f->rule.fp_off = 0;
			put(f->fp - 8, f->hi);
			break;
		case 4:
			if (i) {
				f->rule.cfa = XR_CFA_PLT;
				f->rule.cfa_off = (int)size - 8;
				f->rule.ra_off = 0;
			}
			break;
		default:
			break;
		}
	}
	if (arm && some(2)) { /* a leaf without a frame */
		scene.frames[0].rule = (struct xr_unwind_rule){
			.cfa = XR_CFA_SP, .fp = XR_SAVED_SAME, .ra = XR_SAVED_SAME};
		scene.frames[0].hi = scene.frames[0].lo;
		if (n > 1) {
			scene.frames[1].lo = scene.frames[0].lo;
			scene.frames[1].rule.cfa_off =
				scene.frames[1].rule.cfa == XR_CFA_SP
					? (int)(scene.frames[1].hi - scene.frames[1].lo)
					: scene.frames[1].rule.cfa_off;
		}
	}
	/* what is saved in each frame is of its caller; who changes nothing has its callee's */
	for (uint32_t i = n; i-- > 0;) {
		struct truth *f = &scene.frames[i];
		uint64_t caller_fp = i + 1 < n ? f[1].fp : 0x1234;

		if (f->rule.fp == XR_SAVED_SAME)
			f->fp = caller_fp;
		else if (f->rule.fp == XR_SAVED_CFA)
			put(f->hi + (uint64_t)(int64_t)f->rule.fp_off, caller_fp);
		else
			put(f->fp, caller_fp);
		if (f->rule.ra == XR_SAVED_CFA)
			put(f->hi - 8, i + 1 < n ? place(i + 1) : 0);
	}
}

static void begin(struct unwind *u, uint64_t lr)
{
	memset(u, 0, sizeof(*u));
	u->pc_mask = ~0ULL;
	u->top = BASE + sizeof(scene.words);
	unwind__begin(u, scene.frames[0].pc, scene.frames[0].lo, scene.frames[0].fp, lr);
}

static bool frame__right(const struct unwind *u, uint32_t i)
{
	const struct truth *f = &scene.frames[i];

	return i < scene.n && u->pc == f->pc && u->sp == f->lo && u->cfa == f->hi && u->fp == f->fp;
}

static void test_stacks(bool arm)
{
	uint32_t wrong = 0, most = 0;
	uint64_t frames = 0;

	for (uint32_t k = 0; k < STACKS; k++) {
		struct unwind u;
		uint32_t i = 0;
		int end;

		scene__make(1 + some(FRAMES_MAX), arm);
		begin(&u, arm ? place(1) : 0);
		while (!(end = unwind__frame(&u))) {
			uint32_t before = scene.reads;

			wrong += !frame__right(&u, i++);
			end = unwind__caller(&u);
			if (scene.reads - before > most)
				most = scene.reads - before;
			if (end)
				break;
		}
		/* a lone leaf's caller is code that nothing is known of */
		wrong += i != scene.n ||
			 end != (arm && scene.n == 1 && scene.frames[0].hi == scene.frames[0].lo
					 ? UNWIND_NO_TABLE
					 : UNWIND_OUTERMOST);
		frames += i;
	}
	tap__ok(!wrong && most <= 2 && frames > STACKS,
		"%s: %llu frames of %u stacks: pc, [lo, hi), frame pointer (%u wrong)",
		arm ? "arm64" : "x86_64", (unsigned long long)frames, STACKS, wrong);
}

static void one(struct xr_unwind_rule rule)
{
	memset(&scene, 0, sizeof(scene));
	scene.n = 2;
	scene.frames[0] = (struct truth){.pc = place(0), .lo = BASE + 256, .rule = rule};
	scene.frames[1] = (struct truth){
		.pc = place(1), .rule = {.cfa = XR_CFA_SP, .ra = XR_SAVED_LOST, .cfa_off = 16}};
}

TEST(signal)
{
	const struct xr_unwind_rule rule = {.cfa = XR_CFA_SP_DEREF,
					    .fp = XR_SAVED_SP,
					    .ra = XR_SAVED_SP,
					    .flags = XR_RULE_SIGNAL,
					    .cfa_off = 160,
					    .fp_off = 120,
					    .ra_off = 168};
	struct unwind u;

	one(rule);
	begin(&u, 0);
	put(u.sp + 160, BASE + 64); /* another stack: below this one */
	put(u.sp + 120, 77);
	put(u.sp + 168, CODE + 256); /* the first instruction of the function */
	tap__ok(!unwind__frame(&u) && u.cfa == BASE + 64, "a signal's frame may end anywhere");
	tap__ok(!unwind__caller(&u) && u.pc == CODE + 256 && u.fp == 77 && u.exact &&
			u.sp == BASE + 64,
		"it was interrupted at the very instruction");
	tap__ok(!unwind__frame(&u) && u.cfa == BASE + 80, "whose rule holds, not the one before");
	tap__ok(unwind__caller(&u) == UNWIND_NO_RULE, "a return address that is lost ends it");
	/* in the system call that ends the handler: its last instruction */
	begin(&u, 0);
	scene.n = 1;
	u.pc = CODE + 256;
	tap__ok(!unwind__frame(&u) && u.cfa == BASE + 64 && !unwind__caller(&u) && u.exact,
		"it is that of the last instruction, too, while the kernel is in it");
	scene.frames[0].rule.flags = 0;
	begin(&u, 0);
	u.pc = CODE + 256;
	tap__ok(unwind__frame(&u) == UNWIND_NO_TABLE && u.exact,
		"the end of another function is not that function");
}

TEST(plt)
{
	struct unwind u;

	one((struct xr_unwind_rule){
		.cfa = XR_CFA_PLT, .fp = XR_SAVED_SAME, .cfa_off = 8, .ra_off = 11});
	begin(&u, 0);
	u.pc = CODE + 16 + 10;
	tap__ok(!unwind__frame(&u) && u.cfa == u.sp + 8, "an entry of the PLT, before it pushes");
	u.pc = CODE + 16 + 11;
	tap__ok(!unwind__frame(&u) && u.cfa == u.sp + 16, "and after");
	put(u.sp + 8, place(1));
	tap__ok(!unwind__caller(&u) && u.pc == place(1), "its caller");
}

TEST(ends)
{
	static const struct {
		struct xr_unwind_rule rule;
		int want;
		const char *what;
	} rows[] = {
		{{.cfa = XR_CFA_END}, UNWIND_OUTERMOST, "the outermost"},
		{{.cfa = XR_CFA_NONE}, UNWIND_NO_RULE, "a gap"},
		{{.cfa = 200}, UNWIND_NO_RULE, "a rule of no kind"},
		{{.ra = XR_SAVED_CFA, .cfa = XR_CFA_SP}, UNWIND_BAD_STACK, "a frame of no bytes"},
		{{.cfa_off = -64, .cfa = XR_CFA_SP},
		 UNWIND_BAD_STACK,
		 "an end before the beginning"},
		{{.cfa_off = 12, .cfa = XR_CFA_SP}, UNWIND_BAD_STACK, "an end that is not aligned"},
		{{.cfa_off = 0x7ffffff8, .cfa = XR_CFA_SP},
		 UNWIND_BAD_STACK,
		 "one beyond the stack"},
		{{.cfa_off = 0x7ffffff8, .cfa = XR_CFA_SP_DEREF},
		 UNWIND_UNREADABLE,
		 "one that cannot be read"},
	};
	struct unwind u;

	for (size_t i = 0; i < COUNT(rows); i++) {
		one(rows[i].rule);
		begin(&u, 0);
		tap__ok(unwind__frame(&u) == rows[i].want && u.cfa == u.sp, "%s", rows[i].what);
	}
	one((struct xr_unwind_rule){.cfa = XR_CFA_SP, .ra = XR_SAVED_SAME, .cfa_off = 16});
	begin(&u, 0);
	tap__ok(!unwind__frame(&u) && unwind__caller(&u) == UNWIND_NO_RULE,
		"a link register that is not there");
	begin(&u, place(1) | 0x00aa000000000000ULL);
	u.pc_mask = (1ULL << 48) - 1;
	tap__ok(!unwind__frame(&u) && !unwind__caller(&u) && u.pc == place(1),
		"and one that is signed");
	u.pc = 0x1000;
	tap__ok(unwind__frame(&u) == UNWIND_NO_TABLE, "code without a table");
}

TEST(any)
{
	uint32_t descends = 0;
	uint64_t frames = 0;

	for (uint32_t k = 0; k < STACKS; k++) {
		struct unwind u;
		uint64_t sp;

		scene__make(2 + some(FRAMES_MAX - 2), some(2));
		for (uint32_t i = 0; i < WORDS; i += 1 + some(8))
			scene.words[i] = some(3) ? place(some(scene.n)) : BASE + 8ULL * some(WORDS);
		for (uint32_t i = 0; i < scene.n; i++) {
			struct xr_unwind_rule *r = &scene.frames[i].rule;

			if (some(3))
				continue;
			r->cfa = (uint8_t)some(9);
			r->fp = (uint8_t)some(6);
			r->ra = (uint8_t)some(6);
			r->cfa_off = 8 * (int)some(64) - 64;
		}
		begin(&u, place(1));
		sp = u.sp;
		while (!unwind__frame(&u) && !unwind__caller(&u) && frames++ < 1ULL << 32) {
			descends += u.sp < sp;
			sp = u.sp;
		}
	}
	tap__ok(!descends && frames > STACKS, "any rules, any words: %llu frames, and an end",
		(unsigned long long)frames);
}

TEST(stacks)
{
	test_stacks(false);
	test_stacks(true);
}
