/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/unwind/leaf.h"

#include <capstone/capstone.h>

static bool is_stack(unsigned int reg)
{
	return reg == ARM64_REG_SP || reg == ARM64_REG_WSP;
}

/* The frame pointer, or the link register. */
static bool is_kept(unsigned int reg)
{
	return reg == ARM64_REG_X29 || reg == ARM64_REG_W29 || reg == ARM64_REG_X30 ||
	       reg == ARM64_REG_W30;
}

static bool leaf__insn(const cs_insn *insn)
{
	const cs_arm64 *a = &insn->detail->arm64;

	if (insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR || insn->id == ARM64_INS_BR ||
	    insn->id == ARM64_INS_ERET || (insn->id == ARM64_INS_RET && a->op_count))
		return false;
	for (unsigned int i = 0; i < a->op_count; i++) {
		const cs_arm64_op *op = &a->operands[i];

		if (op->type == ARM64_OP_REG && (is_kept(op->reg) || (!i && is_stack(op->reg))))
			return false;
		/* what has the stack in it belongs to a frame */
		if (op->type == ARM64_OP_MEM && (is_kept(op->mem.base) || is_stack(op->mem.base)))
			return false;
	}
	return true;
}

bool leaf__is(const uint8_t *code, size_t size)
{
	uint64_t address = 0;
	csh capstone;
	cs_insn *insn;
	bool is;

	if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &capstone) != CS_ERR_OK)
		return false;
	cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(capstone);
	is = insn && size;
	while (is && cs_disasm_iter(capstone, &code, &size, &address, insn))
		is = leaf__insn(insn);
	if (insn)
		cs_free(insn, 1);
	cs_close(&capstone);
	return is && !size;
}
