/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind tables of .eh_frame sections that are made by hand, and of damaged ones. */
#include <elf.h>

#include "tap.h"
#include "target/linux/unwind/table.h"

#define SECTION 0x402000ULL
#define CODE	0x401000ULL

struct bytes {
	uint8_t at[512];
	size_t n, open; /* open: where the entry begins that is being written */
};

static void put(struct bytes *b, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		b->at[b->n++] = (uint8_t)(value >> 8 * i);
}

static void entry__begin(struct bytes *b)
{
	b->open = b->n;
	put(b, 0, 4);
}

static void entry__end(struct bytes *b)
{
	uint32_t size;

	while ((b->n - b->open) % 8 != 4)
		put(b, 0, 1); /* DW_CFA_nop */
	size = (uint32_t)(b->n - b->open - 4);
	memcpy(b->at + b->open, &size, 4);
}

/* The usual one of x86_64: rsp + 8, the return address below it. */
static void cie(struct bytes *b)
{
	entry__begin(b);
	put(b, 0, 4);
	put(b, 1, 1);
	memcpy(b->at + b->n, "zR", 3);
	b->n += 3;
	put(b, 1, 1);	 /* code alignment */
	put(b, 0x78, 1); /* data alignment: -8 */
	put(b, 16, 1);
	put(b, 1, 1);
	put(b, 0x1b, 1);     /* pcrel, sdata4 */
	put(b, 0x08070c, 3); /* def_cfa rsp 8 */
	put(b, 0x0190, 2);   /* offset r16 at cfa - 8 */
	entry__end(b);
}

static void fde(struct bytes *b, uint64_t begin, uint64_t size, const char *program, size_t len)
{
	entry__begin(b);
	put(b, b->n, 4); /* the CIE is the first entry */
	put(b, begin - (SECTION + b->n), 4);
	put(b, size, 4);
	put(b, 0, 1);
	memcpy(b->at + b->n, program, len);
	b->n += len;
	entry__end(b);
}

/* push rbp; mov rsp, rbp; ...; pop rbp; ret */
static const char framed[] = "\x41\x0e\x10\x86\x02\x43\x0d\x06\x60\x0a\x0c\x07\x08\x41\x0b";
/* sub; ...; add */
static const char plain[] = "\x44\x0e\x20\x50\x0e\x08";
/* the return address is undefined */
static const char outermost[] = "\x07\x10";

static void section(struct bytes *b)
{
	memset(b, 0, sizeof(*b));
	cie(b);
	fde(b, CODE + 0x100, 0x40, plain, sizeof(plain) - 1);
	fde(b, CODE, 0x80, framed, sizeof(framed) - 1);
	fde(b, CODE + 0x140, 0x10, outermost, sizeof(outermost) - 1);
	put(b, 0, 4);
}

static int make(struct unwind_table **t, const struct bytes *b)
{
	const struct cfi_input in = {
		.bytes = b->at, .size = b->n, .address = SECTION, .machine = EM_X86_64};

	return unwind_table__make(t, &in, CODE);
}

static bool rule__is(const struct unwind_table *t, uint64_t pc, int cfa, int off, int fp, int ra)
{
	const struct xr_unwind_row *row = unwind_table__find(t, pc);
	const struct xr_unwind_rule *r = row ? &t->rules[row->rule] : NULL;

	return r && r->cfa == cfa && r->cfa_off == off && r->fp == fp && r->ra == ra;
}

TEST(rows)
{
	uint64_t begin = 0, end = 0;
	struct unwind_table *t;
	struct bytes b;

	section(&b);
	if (!tap__ok(!make(&t, &b) && t->counts.functions == 3 && !t->counts.damaged,
		     "three functions"))
		return;
	tap__ok(rule__is(t, CODE, XR_CFA_SP, 8, XR_SAVED_SAME, XR_SAVED_CFA) &&
			rule__is(t, CODE + 1, XR_CFA_SP, 16, XR_SAVED_CFA, XR_SAVED_CFA) &&
			rule__is(t, CODE + 4, XR_CFA_FP, 16, XR_SAVED_CFA, XR_SAVED_CFA) &&
			rule__is(t, CODE + 0x24, XR_CFA_SP, 8, XR_SAVED_CFA, XR_SAVED_CFA),
		"one with a frame pointer");
	tap__ok(rule__is(t, CODE + 0x25, XR_CFA_FP, 16, XR_SAVED_CFA, XR_SAVED_CFA),
		"what was remembered holds again");
	tap__ok(rule__is(t, CODE + 0x104, XR_CFA_SP, 32, XR_SAVED_SAME, XR_SAVED_CFA) &&
			rule__is(t, CODE + 0x114, XR_CFA_SP, 8, XR_SAVED_SAME, XR_SAVED_CFA),
		"one without");
	tap__ok(rule__is(t, CODE + 0x14f, XR_CFA_END, 0, XR_SAVED_SAME, XR_SAVED_SAME),
		"one that has no caller");
	tap__ok(!unwind_table__find(t, CODE + 0x80) && !unwind_table__find(t, CODE + 0xff) &&
			!unwind_table__find(t, CODE + 0x150) && !unwind_table__find(t, CODE - 1),
		"nothing holds between functions, behind, or before them");
	tap__ok(unwind_table__function(t, CODE + 0x7f, &begin, &end) && begin == CODE &&
			end == CODE + 0x80,
		"where a function begins and ends");
	tap__ok(unwind_table__function(t, CODE + 0x13f, &begin, &end) && begin == CODE + 0x100 &&
			end == CODE + 0x140 &&
			!unwind_table__function(t, CODE + 0x90, &begin, &end),
		"also where the next follows at once; between them there is none");
	unwind_table__free(t);
}

/* rsp + 8; *(rbp - 16), by an expression; rbp and the offset of before (libgcc has it so) */
TEST(expressions)
{
	static const char program[] = "\x44\x0f\x03\x76\x70\x06\x44\x0d\x06";
	struct bytes b = {.n = 0};
	struct unwind_table *t;

	cie(&b);
	fde(&b, CODE, 0x20, program, sizeof(program) - 1);
	put(&b, 0, 4);
	if (!tap__ok(!make(&t, &b) && t->counts.functions == 1, "a function"))
		return;
	tap__ok(rule__is(t, CODE, XR_CFA_SP, 8, XR_SAVED_SAME, XR_SAVED_CFA) &&
			rule__is(t, CODE + 4, XR_CFA_FP_DEREF, -16, XR_SAVED_SAME, XR_SAVED_CFA),
		"by register, then by an expression");
	tap__ok(rule__is(t, CODE + 8, XR_CFA_FP, 8, XR_SAVED_SAME, XR_SAVED_CFA),
		"by another register, with the offset of before the expression");
	unwind_table__free(t);
}

TEST(overlap)
{
	uint64_t begin = 0, end = 0;
	struct unwind_table *t;
	struct bytes b = {.n = 0};

	cie(&b);
	fde(&b, CODE, 0x100, plain, sizeof(plain) - 1);
	fde(&b, CODE + 0x10, 0x10, framed, 0);
	fde(&b, CODE + 0x10, 0x40, plain, sizeof(plain) - 1);
	tap__ok(!make(&t, &b) && unwind_table__function(t, CODE + 0x1f, &begin, &end) &&
			begin == CODE + 0x10 && end == CODE + 0x20,
		"of functions that overlap the later counts, of two at one place the first");
	unwind_table__free(t);
}

/* Any one byte is another, or the section ends anywhere: there is a table in order, or an error. */
TEST(damaged)
{
	uint32_t wrong = 0, made = 0;
	struct bytes whole;

	section(&whole);
	for (size_t i = 0; i < whole.n * 257; i++) {
		struct bytes b = whole;
		struct unwind_table *t;
		int err;

		if (i < whole.n * 256)
			b.at[i / 256] = (uint8_t)i;
		else
			b.n = i - whole.n * 256;
		err = make(&t, &b);
		if (err) {
			wrong += err != -EBADMSG || t;
			continue;
		}
		made++;
		for (uint32_t k = 0; k < t->nrows; k++)
			wrong += t->rows[k].rule >= t->nrules ||
				 (k && t->rows[k].pc <= t->rows[k - 1].pc);
		wrong += t->rows[t->nrows - 1].rule != 0;
		unwind_table__free(t);
	}
	tap__ok(!wrong && made, "damage: %u tables, all in order, the rest refused", made);
}

/* Stubs that the linker made: their header pushes, with and without bti in front. */
TEST(plt)
{
	static const uint32_t headers[3][2] = {
		{0xa9bf7bf0, 0x90000010}, {0xd503245f, 0xa9bf7bf0}, {0xd503201f, 0xd503201f}};
	uint8_t plt[96] = {0};
	struct unwind_table *t;
	struct bytes b;

	section(&b);
	for (uint32_t i = 0; i < 3; i++) {
		const struct cfi_input in = {
			.bytes = b.at,
			.size = b.n,
			.address = SECTION,
			.machine = EM_X86_64,
			.plt = plt,
			.plt_size = sizeof(plt),
			.plt_address = CODE + 0x200,
		};
		const uint64_t at = in.plt_address, push = at + (i ? 8 : 4);
		bool ok;

		memcpy(plt, headers[i], sizeof(headers[i]));
		if (!tap__ok(!unwind_table__make(&t, &in, CODE), "a file with .plt"))
			continue;
		ok = rule__is(t, at, XR_CFA_SP, 0, XR_SAVED_SAME, XR_SAVED_SAME) &&
		     rule__is(t, push - 4, XR_CFA_SP, 0, XR_SAVED_SAME, XR_SAVED_SAME) &&
		     rule__is(t, push, XR_CFA_SP, 16, XR_SAVED_SAME, XR_SAVED_CFA) &&
		     rule__is(t, at + 31, XR_CFA_SP, 16, XR_SAVED_SAME, XR_SAVED_CFA) &&
		     rule__is(t, at + 32, XR_CFA_SP, 0, XR_SAVED_SAME, XR_SAVED_SAME) &&
		     rule__is(t, at + 95, XR_CFA_SP, 0, XR_SAVED_SAME, XR_SAVED_SAME);
		if (i < 2)
			tap__ok(ok, "its header pushes two registers, its stubs none");
		else
			tap__ok(!unwind_table__find(t, at) && !unwind_table__find(t, at + 40),
				"one that is not known has no rules");
		tap__ok(!unwind_table__find(t, at + 96), "it has an end");
		unwind_table__free(t);
	}
}

/* Functions without a frame, of a file that has no .eh_frame. */
TEST(leaves)
{
	const struct cfi_input in = {
		.machine = EM_AARCH64,
		.leaf = {{CODE + 0x40, CODE + 0x60}, {CODE + 0x10, CODE + 0x30}},
		.nleaves = 2,
	};
	const struct cfi_input nothing = {.machine = EM_AARCH64};
	uint64_t begin = 0, end = 0;
	struct unwind_table *t;

	tap__ok(unwind_table__make(&t, &nothing, CODE) == -EBADMSG && !t, "no function, no table");
	if (!tap__ok(!unwind_table__make(&t, &in, CODE), "a file without .eh_frame"))
		return;
	tap__ok(rule__is(t, CODE + 0x10, XR_CFA_SP, 0, XR_SAVED_SAME, XR_SAVED_SAME) &&
			rule__is(t, CODE + 0x5c, XR_CFA_SP, 0, XR_SAVED_SAME, XR_SAVED_SAME),
		"functions without a frame have one rule");
	tap__ok(!unwind_table__find(t, CODE + 0xc) && !unwind_table__find(t, CODE + 0x30) &&
			!unwind_table__find(t, CODE + 0x60),
		"others have none");
	tap__ok(unwind_table__function(t, CODE + 0x44, &begin, &end) && begin == CODE + 0x40 &&
			end == CODE + 0x60,
		"where such a function begins and ends");
	unwind_table__free(t);
}
