/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Instructions of arm64 that leave stack pointer, frame pointer and link register, and others. */

#include "tap.h"
#include "target/linux/unwind/leaf.h"

static const struct insn {
	uint32_t word;
	const char *text;
} leave[] = {
	{0x71003c1f, "cmp w0, #0xf"},
	{0x721b045f, "tst w2, #0x60"},
	{0xab22403f, "cmn x1, x2, uxtw"},
	{0x10000004, "adr x4, ."},
	{0x54000008, "b.hi ."},
	{0x14000000, "b ."},
	{0x34000002, "cbz w2, ."},
	{0x37000006, "tbnz w6, #0, ."},
	{0xd50339bf, "dmb ishld"},
	{0xd5033fdf, "isb"},
	{0xd503203f, "yield"},
	{0xd53be042, "mrs x2, cntvct_el0"},
	{0xca020045, "eor x5, x2, x2"},
	{0x8b2563e5, "add x5, sp, x5"},
	{0xf94000bf, "ldr xzr, [x5]"},
	{0xa940ac8c, "ldp x12, x11, [x4, #8]"},
	{0xf9000427, "str x7, [x1, #8]"},
	{0x9b072800, "madd x0, x0, x7, x10"},
	{0x9ac92400, "lsr x0, x0, x9"},
	{0xd4000001, "svc #0"},
	{0xd2800e28, "mov x8, #0x71"},
	{0xd503201f, "nop"},
	{0x1e622820, "fadd d0, d1, d2"},
	{0xb8404486, "ldr w6, [x4], #4"},
	{0xd65f03c0, "ret"},
};

static const struct insn change[] = {
	{0x910043ff, "add sp, sp, #16"},
	{0xcb2563ff, "sub sp, sp, x5"},
	{0x927cecbf, "and sp, x5, #-16"},
	{0x9100013f, "mov sp, x9"},
	{0x910003fd, "mov x29, sp"},
	{0xaa0d03fe, "mov x30, x13"},
	{0xf940009e, "ldr x30, [x4]"},
	{0xa9407483, "ldp x3, x29, [x4]"},
	{0xa9400c9e, "ldp x30, x3, [x4]"},
	{0xa9be7bfd, "stp x29, x30, [sp, #-32]!"},
	{0xa8c27bfd, "ldp x29, x30, [sp], #32"},
	{0xf81f0fe0, "str x0, [sp, #-16]!"},
	{0xf84087a0, "ldr x0, [x29], #8"},
	{0xc87f7883, "ldxp x3, x30, [x4]"},
	{0xc8be7c41, "cas x30, x1, [x2]"},
	{0xf821007e, "ldadd x1, x30, [x3]"},
	{0x94000000, "bl ."},
	{0xd63f0060, "blr x3"},
	{0xd61f0060, "br x3"},
	{0xd65f0060, "ret x3"},
	{0xd53be05e, "mrs x30, cntvct_el0"},
	{0xd528701d, "sysl x29, #0, c7, c0, #0"},
	{0x9e66001e, "fmov x30, d0"},
	{0xd280003e, "movz x30, #1"},
	{0x918107ff, "addg sp, sp, #16, #1"},
	{0x9ac013ff, "irg sp, sp, x0"},
	{0x00000000, ".inst 0"},
	{0x04bf5020, ".inst 0x04bf5020"},
};

TEST(leaf)
{
	uint32_t all[COUNT(leave) + 1];
	const uint32_t n = COUNT(leave);

	for (uint32_t i = 0; i < n; i++) {
		tap__ok(leaf__is((const uint8_t *)&leave[i].word, 4), "%s", leave[i].text);
		all[i] = leave[i].word;
	}
	for (uint32_t i = 0; i < COUNT(change); i++)
		tap__ok(!leaf__is((const uint8_t *)&change[i].word, 4), "not: %s", change[i].text);
	tap__ok(leaf__is((const uint8_t *)all, n * 4), "a function of such instructions");
	all[n] = 0x910003fd;
	tap__ok(!leaf__is((const uint8_t *)all, n * 4 + 4), "not with one other at its end");
	tap__ok(!leaf__is((const uint8_t *)all, 0) && !leaf__is((const uint8_t *)all, 7),
		"not without, and not with a part of one");
}
