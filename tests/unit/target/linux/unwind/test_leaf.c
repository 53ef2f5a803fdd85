/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Instructions of arm64 that leave stack pointer, frame pointer and link register, and others. */

#include "tap.h"
#include "target/linux/unwind/leaf.h"

static const struct insn {
	uint32_t word;
	const char *text;
} leave[] = {
	{0x71003c1f, "cmp w0, #0xf"},
	{0x10000004, "adr x4, ."},
	{0x54000008, "b.hi ."},
	{0x14000000, "b ."},
	{0x34000002, "cbz w2, ."},
	{0xd50339bf, "dmb ishld"},
	{0xd53be042, "mrs x2, cntvct_el0"},
	{0x8b2563e5, "add x5, sp, x5"},
	{0xf94000bf, "ldr xzr, [x5]"},
	{0xa940ac8c, "ldp x12, x11, [x4, #8]"},
	{0xd4000001, "svc #0"},
	{0xd503201f, "nop"},
	{0x1e622820, "fadd d0, d1, d2"},
	{0xb8404486, "ldr w6, [x4], #4"},
	{0xd65f03c0, "ret"},
};

static const struct insn change[] = {
	{0x910043ff, "add sp, sp, #16"},
	{0x927cecbf, "and sp, x5, #-16"},
	{0x910003fd, "mov x29, sp"},
	{0xaa0d03fe, "mov x30, x13"},
	{0xf940009e, "ldr x30, [x4]"},
	{0xa9407483, "ldp x3, x29, [x4]"},
	{0xa9be7bfd, "stp x29, x30, [sp, #-32]!"},
	{0xf81f0fe0, "str x0, [sp, #-16]!"},
	{0xf84087a0, "ldr x0, [x29], #8"},
	{0xc8be7c41, "cas x30, x1, [x2]"},
	{0x94000000, "bl ."},
	{0xd63f0060, "blr x3"},
	{0xd61f0060, "br x3"},
	{0xd65f0060, "ret x3"},
	{0xd53be05e, "mrs x30, cntvct_el0"},
	{0x00000000, ".inst 0"},
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
