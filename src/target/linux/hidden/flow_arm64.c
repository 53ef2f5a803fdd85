/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flow.h for aarch64: what GCC and Clang use to copy variables, and no more. */
#include <string.h>

#include "target/linux/hidden/flow.h"

#define ARM64_ZERO 31 /* the zero register: reads as 0, writes are lost */

/* The number of a general register; -1: another one, for example the stack pointer. */
static int arm64__gpr(unsigned int reg, unsigned int *size)
{
	*size = 8;
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return (int)(reg - ARM64_REG_X0);
	if (reg == ARM64_REG_X29)
		return 29;
	if (reg == ARM64_REG_X30)
		return 30;
	if (reg == ARM64_REG_XZR)
		return ARM64_ZERO;
	*size = 4;
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return (int)(reg - ARM64_REG_W0);
	return reg == ARM64_REG_WZR ? ARM64_ZERO : -1;
}

/* The number of a vector register, or -1. *size: of the part that is named; 0: lanes. */
static int arm64__vec(unsigned int reg, unsigned int *size)
{
	static const struct {
		uint16_t first;
		uint8_t size;
	} bank[] = {{ARM64_REG_Q0, 16}, {ARM64_REG_D0, 8}, {ARM64_REG_S0, 4},
		    {ARM64_REG_H0, 2},	{ARM64_REG_B0, 1}, {ARM64_REG_V0, 0}};

	for (unsigned int i = 0; i < sizeof(bank) / sizeof(bank[0]); i++) {
		if (reg >= bank[i].first && reg < bank[i].first + 32u) {
			*size = bank[i].size;
			return (int)(reg - bank[i].first);
		}
	}
	return -1;
}

static struct flow_value arm64__get(const struct flow_state *s, unsigned int reg)
{
	struct flow_value v;
	unsigned int size;
	int i = arm64__gpr(reg, &size);

	if (i < 0)
		return (struct flow_value){0};
	if (i == ARM64_ZERO)
		return flow__const(0);
	v = s->reg[i];
	if (size == 4 && v.kind == CODE_CONST)
		v.at &= UINT32_MAX;
	else if (size == 4 && (v.kind != CODE_VAR || v.size > 4))
		v = (struct flow_value){0};
	return v;
}

static void arm64__set(struct flow_state *s, unsigned int reg, struct flow_value value)
{
	unsigned int size;
	int i = arm64__gpr(reg, &size);

	if (i < 0 || i == ARM64_ZERO)
		return;
	if (size == 4 && value.kind == CODE_CONST)
		value.at &= UINT32_MAX;
	s->reg[i] = value;
}

static void arm64__forget(struct flow_state *s, unsigned int reg)
{
	unsigned int size;
	int i = arm64__vec(reg, &size);

	if (i >= 0)
		memset(s->vec[i], 0, sizeof(s->vec[i]));
	else
		arm64__set(s, reg, (struct flow_value){0});
	if (reg == ARM64_REG_NZCV)
		s->tested = (struct flow_value){0};
}

static struct flow_value arm64__address(const struct flow_state *s, const arm64_op_mem *m)
{
	unsigned int size;
	int i = arm64__gpr(m->base, &size);

	if (m->index != ARM64_REG_INVALID || i < 0 || i == ARM64_ZERO || size != 8)
		return (struct flow_value){0};
	return flow__plus(s->reg[i], (uint64_t)(int64_t)m->disp);
}

/* Bytes that a load or store of @reg by @id moves; 0: not one that is followed. */
static unsigned int arm64__width(unsigned int id, unsigned int reg)
{
	unsigned int size;

	if (id == ARM64_INS_LDRB || id == ARM64_INS_LDURB || id == ARM64_INS_STRB ||
	    id == ARM64_INS_STURB)
		return 1;
	if (id == ARM64_INS_LDRH || id == ARM64_INS_LDURH || id == ARM64_INS_STRH ||
	    id == ARM64_INS_STURH)
		return 2;
	if (arm64__gpr(reg, &size) >= 0 || arm64__vec(reg, &size) >= 0)
		return size;
	return 0;
}

static void arm64__load(struct flow_run *run, unsigned int id, unsigned int reg,
			struct flow_value at)
{
	unsigned int size, width = arm64__width(id, reg);
	int i = arm64__vec(reg, &size);

	if (i < 0) {
		arm64__set(&run->state, reg, flow__load(run, at, width));
		return;
	}
	memset(run->state.vec[i], 0, sizeof(run->state.vec[i]));
	if (width < 8)
		return;
	run->state.vec[i][0] = flow__load(run, at, 8);
	run->state.vec[i][1] = width == 16 ? flow__load(run, flow__plus(at, 8), 8) : flow__const(0);
}

static void arm64__store(struct flow_run *run, unsigned int id, unsigned int reg,
			 struct flow_value at)
{
	unsigned int size, width = arm64__width(id, reg);
	int i = arm64__vec(reg, &size);

	if (i < 0) {
		flow__store(run, at, width, arm64__get(&run->state, reg));
		return;
	}
	if (width < 8) {
		flow__store(run, at, width, (struct flow_value){0});
		return;
	}
	flow__store(run, at, 8, run->state.vec[i][0]);
	if (width == 16)
		flow__store(run, flow__plus(at, 8), 8, run->state.vec[i][1]);
}

/* ldr, str, ldp, stp and kin. false: not one of them, or one that changes its base register. */
static bool arm64__memory(struct flow_run *run, const cs_insn *insn, const cs_arm64 *a)
{
	struct flow_value at;
	unsigned int n, width;
	bool store = false;

	switch (insn->id) {
	case ARM64_INS_STR:
	case ARM64_INS_STUR:
	case ARM64_INS_STRB:
	case ARM64_INS_STURB:
	case ARM64_INS_STRH:
	case ARM64_INS_STURH:
		store = true;
		n = 1;
		break;
	case ARM64_INS_LDR:
	case ARM64_INS_LDUR:
	case ARM64_INS_LDRB:
	case ARM64_INS_LDURB:
	case ARM64_INS_LDRH:
	case ARM64_INS_LDURH:
		n = 1;
		break;
	case ARM64_INS_STP:
	case ARM64_INS_STNP:
		store = true;
		n = 2;
		break;
	case ARM64_INS_LDP:
	case ARM64_INS_LDNP:
		n = 2;
		break;
	default:
		return false;
	}
	if (a->op_count != n + 1 || a->operands[n].type != ARM64_OP_MEM || a->writeback)
		return false;
	width = arm64__width(insn->id, a->operands[0].reg);
	if (!width)
		return false;
	at = arm64__address(&run->state, &a->operands[n].mem);
	for (unsigned int i = 0; i < n; i++) {
		struct flow_value here = flow__plus(at, (uint64_t)i * width);

		if (store)
			arm64__store(run, insn->id, a->operands[i].reg, here);
		else
			arm64__load(run, insn->id, a->operands[i].reg, here);
	}
	return true;
}

/* The last operand of an addition: a number or a register, which may be shifted to the left. */
static struct flow_value arm64__addend(const struct flow_state *s, const cs_arm64_op *op)
{
	const struct flow_value unknown = {0};
	uint64_t times = 1;

	if (op->ext != ARM64_EXT_INVALID)
		return unknown;
	if (op->shift.type == ARM64_SFT_LSL && op->shift.value < 16)
		times <<= op->shift.value;
	else if (op->shift.type != ARM64_SFT_INVALID)
		return unknown;
	if (op->type == ARM64_OP_IMM)
		return times <= 1u << 12 ? flow__const((uint64_t)op->imm * times) : unknown;
	if (op->type != ARM64_OP_REG)
		return unknown;
	return times == 1 ? arm64__get(s, op->reg) : flow__times(arm64__get(s, op->reg), times);
}

/* One of @a and @b is a number. */
static struct flow_value arm64__product(struct flow_value a, struct flow_value b)
{
	if (b.kind == CODE_CONST)
		return flow__times(a, b.at);
	return a.kind == CODE_CONST ? flow__times(b, a.at) : (struct flow_value){0};
}

/* add, sub, lsl, mul and madd, of 8 bytes. false: not one that is followed. */
static bool arm64__arithmetic(struct flow_state *s, const cs_insn *insn, const cs_arm64 *a)
{
	const cs_arm64_op *op = a->operands;
	struct flow_value v[3], result = {0};
	unsigned int size;

	if (a->update_flags || a->op_count < 3 || a->op_count > 4)
		return false;
	/* the stack pointer is not followed: what it is added to is unknown */
	for (unsigned int i = 0; i < a->op_count; i++) {
		if (op[i].type == ARM64_OP_REG && arm64__gpr(op[i].reg, &size) >= 0 && size != 8)
			return false;
		if (i)
			v[i - 1] = arm64__addend(s, &op[i]);
	}
	if (arm64__gpr(op[0].reg, &size) < 0)
		return false;
	switch (insn->id) {
	case ARM64_INS_ADD:
		result = flow__sum(v[0], v[1]);
		break;
	case ARM64_INS_SUB:
		result = flow__difference(v[0], v[1]);
		break;
	case ARM64_INS_LSL:
		if (v[1].kind == CODE_CONST && v[1].at < 16)
			result = flow__times(v[0], UINT64_C(1) << v[1].at);
		break;
	case ARM64_INS_MUL:
		result = arm64__product(v[0], v[1]);
		break;
	default: /* madd */
		if (a->op_count == 4)
			result = flow__sum(arm64__product(v[0], v[1]), v[2]);
		break;
	}
	arm64__set(s, op[0].reg, result);
	return true;
}

static bool arm64__integer(struct flow_run *run, const cs_insn *insn, const cs_arm64 *a)
{
	struct flow_state *s = &run->state;
	const cs_arm64_op *op = a->operands;
	unsigned int size;

	switch (insn->id) {
	case ARM64_INS_ADRP:
	case ARM64_INS_ADR:
		arm64__set(s, op[0].reg, flow__const((uint64_t)op[1].imm));
		return true;
	case ARM64_INS_MOV:
	case ARM64_INS_MOVZ:
		if (a->op_count != 2 || arm64__gpr(op[0].reg, &size) < 0)
			return false;
		if (op[1].type == ARM64_OP_REG)
			arm64__set(s, op[0].reg, arm64__get(s, op[1].reg));
		else if (op[1].type == ARM64_OP_IMM && op[1].shift.type == ARM64_SFT_INVALID)
			arm64__set(s, op[0].reg, flow__const((uint64_t)op[1].imm));
		else
			return false;
		return true;
	case ARM64_INS_ADD:
	case ARM64_INS_SUB:
	case ARM64_INS_LSL:
	case ARM64_INS_MUL:
	case ARM64_INS_MADD:
		return arm64__arithmetic(s, insn, a);
	case ARM64_INS_CMP:
		s->tested = (struct flow_value){0};
		if (a->op_count == 2 && op[1].type == ARM64_OP_IMM && op[1].imm == 0)
			s->tested = arm64__get(s, op[0].reg);
		return true;
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
		/* the flags keep their value: forgetting what was compared is on the safe side */
		s->tested = arm64__get(s, op[0].reg);
		return true;
	case ARM64_INS_B:
	case ARM64_INS_BL:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
	case ARM64_INS_RET:
	case ARM64_INS_NOP:
	case ARM64_INS_HINT:
		return true;
	default:
		return false;
	}
}

static void arm64__step(struct flow_run *run, const cs_insn *insn)
{
	const cs_arm64 *a = &insn->detail->arm64;

	if (arm64__integer(run, insn, a) || arm64__memory(run, insn, a))
		return;
	/* anything else: all that it names is unknown from here on */
	for (unsigned int i = 0; i < a->op_count; i++) {
		const cs_arm64_op *op = &a->operands[i];

		if (op->type == ARM64_OP_REG)
			arm64__forget(&run->state, op->reg);
		if (op->type != ARM64_OP_MEM)
			continue;
		/* sizes differ (up to four vectors): 64 covers them */
		flow__store(run, arm64__address(&run->state, &op->mem), 64, (struct flow_value){0});
		if (a->writeback)
			arm64__forget(&run->state, op->mem.base);
	}
	for (unsigned int i = 0; i < insn->detail->regs_write_count; i++)
		arm64__forget(&run->state, insn->detail->regs_write[i]);
	run->state.tested = (struct flow_value){0};
}

static struct flow_next arm64__flow(const cs_insn *insn)
{
	const cs_arm64 *a = &insn->detail->arm64;
	const cs_arm64_op *last = &a->operands[a->op_count ? a->op_count - 1 : 0];
	bool direct = a->op_count && last->type == ARM64_OP_IMM;
	uint64_t target = direct ? (uint64_t)last->imm : 0;

	switch (insn->id) {
	case ARM64_INS_BL:
	case ARM64_INS_BLR:
		return (struct flow_next){.kind = FLOW_CALL, .target = target};
	case ARM64_INS_B:
		if (!direct)
			break;
		if (a->cc == ARM64_CC_INVALID || a->cc == ARM64_CC_AL || a->cc == ARM64_CC_NV)
			return (struct flow_next){.kind = FLOW_JUMP, .target = target};
		return (struct flow_next){
			.kind = FLOW_BRANCH,
			.target = target,
			.nonzero = a->cc == ARM64_CC_NE	  ? 1
				   : a->cc == ARM64_CC_EQ ? -1
							  : 0,
		};
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
		return (struct flow_next){
			.kind = FLOW_BRANCH,
			.target = target,
			.nonzero = insn->id == ARM64_INS_CBNZ ? 1 : -1,
		};
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return (struct flow_next){.kind = FLOW_BRANCH, .target = target};
	case ARM64_INS_RET:
	case ARM64_INS_BRK:
	case ARM64_INS_HLT:
	case ARM64_INS_ERET:
		return (struct flow_next){.kind = FLOW_RETURN};
	case ARM64_INS_BR:
		return (struct flow_next){.kind = FLOW_UNKNOWN};
	default:
		break;
	}
	return (struct flow_next){.kind = FLOW_NEXT};
}

const struct flow_arch flow_arm64 = {
	.arch = CS_ARCH_ARM64,
	.mode = CS_MODE_LITTLE_ENDIAN,
	.arg = {0, 1, 2},
	.result = 0,
	.lost = 0x7ffffu | 1u << 30, /* x0 to x18 and the link register */
	.flow = arm64__flow,
	.forget = arm64__forget,
	.step = arm64__step,
};
