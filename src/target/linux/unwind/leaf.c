/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/unwind/leaf.h"

#include <string.h>

#define SP  31u
#define RET 0xd65f03c0u

/* The frame pointer, or the link register. */
static bool kept(uint32_t reg)
{
	return reg == 29 || reg == 30;
}

/* Those with a constant.  Register 31 is the stack pointer, unless they set the flags. */
static bool leaf__immediate(uint32_t insn)
{
	const uint32_t class = insn >> 23 & 7, rd = insn & 31;

	if (kept(rd) || class == 3) /* 3: tags of memory */
		return false;
	if (rd != SP)
		return true;
	return class == 2 ? insn >> 29 & 1 : class == 4 ? (insn >> 29 & 3) == 3 : true;
}

/* Branches, and what is between the program and the system. */
static bool leaf__branch(uint32_t insn)
{
	if (insn >> 25 == 0x6b) /* by register */
		return insn == RET;
	if (insn >> 26 == 0x25) /* bl */
		return false;
	/* to and from the system's registers, two of ours at most */
	return insn >> 24 != 0xd5 || (insn & 31) < 28 || (insn & 31) == 31;
}

/* What has the stack in it belongs to a frame. */
static bool leaf__memory(uint32_t insn)
{
	const uint32_t rt = insn & 31, rn = insn >> 5 & 31, rt2 = insn >> 10 & 31;
	const bool pair = (insn >> 27 & 7) == 5, exclusive = (insn >> 24 & 0x3f) == 8;
	const bool copy = (insn >> 24 & 0x3b) == 0x19;

	if (rn == SP || kept(rt) || kept(rn))
		return false;
	return !((pair || exclusive) && kept(rt2)) &&
	       !((exclusive || copy) && kept(insn >> 16 & 31));
}

static bool leaf__registers(uint32_t insn)
{
	const uint32_t class = insn >> 21 & 0xff, rd = insn & 31;

	if (kept(rd))
		return false;
	if (class == 0x59) /* add and sub, extended */
		return rd != SP || insn >> 29 & 1;
	return class != 0xd6 || rd != SP; /* irg */
}

static bool leaf__insn(uint32_t insn)
{
	switch (insn >> 25 & 15) {
	case 8:
	case 9:
		return leaf__immediate(insn);
	case 10:
	case 11:
		return leaf__branch(insn);
	case 4:
	case 6:
	case 12:
	case 14:
		return leaf__memory(insn);
	case 5:
	case 13:
		return leaf__registers(insn);
	case 7:
	case 15: /* floating point and vectors */
		return !kept(insn & 31);
	default:
		return false;
	}
}

bool leaf__is(const uint8_t *code, size_t size)
{
	uint32_t insn;

	for (size_t at = 0; at + sizeof(insn) <= size; at += sizeof(insn)) {
		memcpy(&insn, code + at, sizeof(insn));
		if (!leaf__insn(insn))
			return false;
	}
	return size && size % sizeof(insn) == 0;
}
