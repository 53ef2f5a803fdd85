/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flow.h for x86_64: what GCC and Clang use to copy variables, and no more. */
#include <string.h>

#include "target/linux/hidden/flow.h"

/* The hardware's number of a general register, and its size; -1: another register. */
static int x86__gpr(unsigned int reg, unsigned int *size)
{
	static const uint16_t by_size[4][16] = {
		{X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP, X86_REG_RBP,
		 X86_REG_RSI, X86_REG_RDI, X86_REG_R8, X86_REG_R9, X86_REG_R10, X86_REG_R11,
		 X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15},
		{X86_REG_EAX, X86_REG_ECX, X86_REG_EDX, X86_REG_EBX, X86_REG_ESP, X86_REG_EBP,
		 X86_REG_ESI, X86_REG_EDI, X86_REG_R8D, X86_REG_R9D, X86_REG_R10D, X86_REG_R11D,
		 X86_REG_R12D, X86_REG_R13D, X86_REG_R14D, X86_REG_R15D},
		{X86_REG_AX, X86_REG_CX, X86_REG_DX, X86_REG_BX, X86_REG_SP, X86_REG_BP, X86_REG_SI,
		 X86_REG_DI, X86_REG_R8W, X86_REG_R9W, X86_REG_R10W, X86_REG_R11W, X86_REG_R12W,
		 X86_REG_R13W, X86_REG_R14W, X86_REG_R15W},
		{X86_REG_AL, X86_REG_CL, X86_REG_DL, X86_REG_BL, X86_REG_SPL, X86_REG_BPL,
		 X86_REG_SIL, X86_REG_DIL, X86_REG_R8B, X86_REG_R9B, X86_REG_R10B, X86_REG_R11B,
		 X86_REG_R12B, X86_REG_R13B, X86_REG_R14B, X86_REG_R15B},
	};
	static const uint16_t high[4] = {X86_REG_AH, X86_REG_CH, X86_REG_DH, X86_REG_BH};

	for (unsigned int s = 0; s < 4; s++) {
		for (int i = 0; i < 16; i++) {
			if (by_size[s][i] == reg) {
				*size = 8u >> s;
				return i;
			}
		}
	}
	for (int i = 0; i < 4; i++) {
		if (high[i] == reg) {
			*size = 1;
			return i;
		}
	}
	return -1;
}

/* The number of a vector register; -1: another register; *wide: ymm or zmm. */
static int x86__vec(unsigned int reg, bool *wide)
{
	*wide = true;
	if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31) {
		*wide = false;
		return (int)(reg - X86_REG_XMM0);
	}
	if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31)
		return (int)(reg - X86_REG_YMM0);
	if (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31)
		return (int)(reg - X86_REG_ZMM0);
	return -1;
}

static void x86__forget(struct flow_state *s, unsigned int reg)
{
	unsigned int size;
	bool wide;
	int i = x86__gpr(reg, &size);

	if (i >= 0) {
		s->reg[i] = (struct flow_value){0};
		return;
	}
	i = x86__vec(reg, &wide);
	if (i >= 0)
		memset(s->vec[i], 0, sizeof(s->vec[i]));
	if (reg == X86_REG_EFLAGS)
		s->tested = (struct flow_value){0};
}

/* The address that operand @m of @insn names. */
static struct flow_value x86__address(const struct flow_state *s, const cs_insn *insn,
				      const x86_op_mem *m)
{
	unsigned int size;
	int base;

	if (m->index != X86_REG_INVALID || m->segment != X86_REG_INVALID)
		return (struct flow_value){0};
	if (m->base == X86_REG_RIP)
		return flow__const(insn->address + insn->size + (uint64_t)m->disp);
	if (m->base == X86_REG_INVALID)
		return flow__const((uint64_t)m->disp);
	base = x86__gpr(m->base, &size);
	if (base < 0 || size != 8)
		return (struct flow_value){0};
	return flow__plus(s->reg[base], (uint64_t)m->disp);
}

/* The value of an operand, as the unsigned number that a move of @size would leave. */
static struct flow_value x86__value(struct flow_run *run, const cs_insn *insn, const cs_x86_op *op,
				    unsigned int size)
{
	struct flow_value v = {0};
	unsigned int reg_size;
	int reg;

	switch (op->type) {
	case X86_OP_IMM:
		return flow__const((uint64_t)op->imm);
	case X86_OP_MEM:
		return flow__load(run, x86__address(&run->state, insn, &op->mem), size);
	case X86_OP_REG:
		reg = x86__gpr(op->reg, &reg_size);
		if (reg < 0)
			return v;
		v = run->state.reg[reg];
		/* half a register is the whole of it only if the other half is 0 */
		if (reg_size == 4 && v.kind == CODE_CONST)
			v.at &= UINT32_MAX;
		else if (reg_size < 8 && (v.kind != CODE_VAR || v.size > reg_size))
			v = (struct flow_value){0};
		return v;
	default:
		return v;
	}
}

/* General register @reg becomes @value. */
static void x86__set(struct flow_state *s, unsigned int reg, struct flow_value value)
{
	unsigned int size;
	int i = x86__gpr(reg, &size);

	if (i < 0)
		return;
	if (size == 4 && value.kind == CODE_CONST)
		value.at &= UINT32_MAX;
	s->reg[i] = size >= 4 ? value : (struct flow_value){0};
}

/* mov, movzx, movabs; movd between general registers and memory */
static bool x86__move(struct flow_run *run, const cs_insn *insn, const cs_x86 *x)
{
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];
	struct flow_value v = x86__value(run, insn, from, from->size);

	if (to->type == X86_OP_MEM) {
		flow__store(run, x86__address(&run->state, insn, &to->mem), to->size, v);
		return true;
	}
	x86__set(&run->state, to->reg, v);
	return true;
}

/* What lea leaves: the sum of a base, a multiple of an index, and a number. */
static struct flow_value x86__sum(const struct flow_state *s, const cs_insn *insn,
				  const x86_op_mem *m)
{
	struct flow_value v;
	unsigned int size;
	int base, index;

	if (m->segment != X86_REG_INVALID)
		return (struct flow_value){0};
	if (m->index == X86_REG_INVALID && m->base == X86_REG_RIP)
		return x86__address(s, insn, m);
	v = flow__const(0);
	if (m->index != X86_REG_INVALID) {
		index = x86__gpr(m->index, &size);
		if (index < 0 || size != 8)
			return (struct flow_value){0};
		v = flow__times(s->reg[index], (uint64_t)m->scale);
	}
	if (m->base != X86_REG_INVALID) {
		base = x86__gpr(m->base, &size);
		if (base < 0 || size != 8)
			return (struct flow_value){0};
		v = flow__sum(v, s->reg[base]);
	}
	return flow__sum(v, flow__const((uint64_t)m->disp));
}

/* add, sub, inc, shl and imul, of 8 bytes. false: not one that is followed. */
static bool x86__arithmetic(struct flow_run *run, const cs_insn *insn, const cs_x86 *x)
{
	const cs_x86_op *to = &x->operands[0], *last = &x->operands[x->op_count - 1];
	struct flow_value v;

	if (!x->op_count || to->size != 8 || (to->type != X86_OP_REG && to->type != X86_OP_MEM))
		return false;
	v = x86__value(run, insn, to, 8);
	switch (insn->id) {
	case X86_INS_ADD:
		v = flow__sum(v, x86__value(run, insn, last, 8));
		break;
	case X86_INS_SUB:
		v = flow__difference(v, x86__value(run, insn, last, 8));
		break;
	case X86_INS_INC:
		v = flow__sum(v, flow__const(1));
		break;
	case X86_INS_SHL:
		if (x->op_count != 2 || last->type != X86_OP_IMM || last->imm < 0 || last->imm > 15)
			return false;
		v = flow__times(v, UINT64_C(1) << last->imm);
		break;
	default: /* imul */
		if (x->op_count != 3 || last->type != X86_OP_IMM)
			return false;
		v = flow__times(x86__value(run, insn, &x->operands[1], 8), (uint64_t)last->imm);
		break;
	}
	if (to->type == X86_OP_MEM)
		flow__store(run, x86__address(&run->state, insn, &to->mem), 8, v);
	else
		x86__set(&run->state, to->reg, v);
	run->state.tested = (struct flow_value){0};
	return true;
}

/* Integer instructions. false: not one of them. */
static bool x86__integer(struct flow_run *run, const cs_insn *insn, const cs_x86 *x)
{
	struct flow_state *s = &run->state;
	const cs_x86_op *a = &x->operands[0], *b = &x->operands[1];
	struct flow_value v;

	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		/* x86__set() ignores segment and control registers */
		return x86__move(run, insn, x);
	case X86_INS_MOVZX:
		x86__set(s, a->reg, x86__value(run, insn, b, b->size));
		return true;
	case X86_INS_LEA:
		v = x86__sum(s, insn, &b->mem);
		x86__set(s, a->reg,
			 a->size == 8 || v.kind == CODE_CONST ? v : (struct flow_value){0});
		return true;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_INC:
	case X86_INS_SHL:
	case X86_INS_IMUL:
		return x86__arithmetic(run, insn, x);
	case X86_INS_XOR:
		if (a->type != X86_OP_REG || b->type != X86_OP_REG || a->reg != b->reg ||
		    a->size < 4)
			return false;
		x86__set(s, a->reg, flow__const(0));
		s->tested = (struct flow_value){0};
		return true;
	case X86_INS_TEST:
		s->tested = (struct flow_value){0};
		if (a->type == X86_OP_REG && b->type == X86_OP_REG && a->reg == b->reg)
			s->tested = x86__value(run, insn, a, a->size);
		return true;
	case X86_INS_CMP:
		s->tested = (struct flow_value){0};
		if (b->type == X86_OP_IMM && b->imm == 0)
			s->tested = x86__value(run, insn, a, a->size);
		return true;
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
	case X86_INS_PUSH:
		return true; /* the stack is not followed */
	default:
		return false;
	}
}

/* --- vector instructions --- */

/* The halves of a vector operand. */
static void x86__halves(struct flow_run *run, const cs_insn *insn, const cs_x86_op *op,
			struct flow_value half[2])
{
	bool wide;
	int i;

	memset(half, 0, 2 * sizeof(half[0]));
	if (op->type == X86_OP_MEM) {
		struct flow_value at = x86__address(&run->state, insn, &op->mem);

		half[0] = flow__load(run, at, 8);
		half[1] = flow__load(run, flow__plus(at, 8), 8);
		return;
	}
	i = op->type == X86_OP_REG ? x86__vec(op->reg, &wide) : -1;
	if (i >= 0)
		memcpy(half, run->state.vec[i], 2 * sizeof(half[0]));
}

/* One 64-bit operand of a vector instruction: memory, a general register, or half a vector. */
static struct flow_value x86__half(struct flow_run *run, const cs_insn *insn, const cs_x86_op *op,
				   int which)
{
	struct flow_value half[2];
	unsigned int size;

	if (op->type == X86_OP_MEM || x86__gpr(op->reg, &size) >= 0)
		return x86__value(run, insn, op, 8);
	x86__halves(run, insn, op, half);
	return half[which];
}

static void x86__set_vec(struct flow_state *s, unsigned int reg, struct flow_value low,
			 struct flow_value high)
{
	const struct flow_value unknown = {0};
	bool wide;
	int i = x86__vec(reg, &wide);

	if (i >= 0) {
		s->vec[i][0] = wide ? unknown : low;
		s->vec[i][1] = wide ? unknown : high;
	}
}

static void x86__store_halves(struct flow_run *run, const cs_insn *insn, const cs_x86_op *to,
			      const struct flow_value half[2])
{
	struct flow_value at = x86__address(&run->state, insn, &to->mem);

	if (to->size != 16) {
		flow__store(run, at, to->size, (struct flow_value){0});
		return;
	}
	flow__store(run, at, 8, half[0]);
	flow__store(run, flow__plus(at, 8), 8, half[1]);
}

/*
 * What a vector instruction of two operands or more does; the VEX forms name the first source
 * apart. false: not one that is followed.
 */
static bool x86__vector(struct flow_run *run, const cs_insn *insn, const cs_x86 *x)
{
	const cs_x86_op *to = &x->operands[0];
	const cs_x86_op *last = &x->operands[x->op_count - 1];
	struct flow_value half[2], a[2];

	switch (insn->id) {
	case X86_INS_MOVUPS:
	case X86_INS_MOVAPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVAPD:
	case X86_INS_MOVDQU:
	case X86_INS_MOVDQA:
	case X86_INS_VMOVUPS:
	case X86_INS_VMOVAPS:
	case X86_INS_VMOVUPD:
	case X86_INS_VMOVAPD:
	case X86_INS_VMOVDQU:
	case X86_INS_VMOVDQA:
		if (x->op_count != 2)
			return false;
		x86__halves(run, insn, last, half);
		if (to->type == X86_OP_MEM)
			x86__store_halves(run, insn, to, half);
		else
			x86__set_vec(&run->state, to->reg, half[0], half[1]);
		return true;
	case X86_INS_MOVQ:
	case X86_INS_VMOVQ:
		if (x->op_count != 2)
			return false;
		half[0] = x86__half(run, insn, last, 0);
		if (to->type == X86_OP_MEM) {
			flow__store(run, x86__address(&run->state, insn, &to->mem), 8, half[0]);
			return true;
		}
		x86__set(&run->state, to->reg, half[0]);
		x86__set_vec(&run->state, to->reg, half[0], flow__const(0));
		return true;
	case X86_INS_MOVHPS:
	case X86_INS_MOVHPD:
	case X86_INS_VMOVHPS:
	case X86_INS_VMOVHPD:
	case X86_INS_MOVLHPS:
	case X86_INS_VMOVLHPS:
	case X86_INS_PUNPCKLQDQ:
	case X86_INS_VPUNPCKLQDQ:
	case X86_INS_PINSRQ:
	case X86_INS_VPINSRQ: {
		bool insert = insn->id == X86_INS_PINSRQ || insn->id == X86_INS_VPINSRQ;
		unsigned int n = x->op_count - (insert ? 1u : 0u);

		if (insert && (last->type != X86_OP_IMM || last->imm != 1))
			return false;
		if (n < 2 || n > 3)
			return false;
		if (to->type == X86_OP_MEM) { /* movhps to memory: the high half */
			x86__halves(run, insn, last, half);
			flow__store(run, x86__address(&run->state, insn, &to->mem), 8, half[1]);
			return true;
		}
		x86__halves(run, insn, &x->operands[n - 2], a);
		half[1] = x86__half(run, insn, &x->operands[n - 1], 0);
		x86__set_vec(&run->state, to->reg, a[0], half[1]);
		return true;
	}
	case X86_INS_PXOR:
	case X86_INS_XORPS:
	case X86_INS_VPXOR:
	case X86_INS_VXORPS:
		if (to->type != X86_OP_REG || x->operands[x->op_count - 2].type != X86_OP_REG ||
		    last->type != X86_OP_REG || last->reg != x->operands[x->op_count - 2].reg)
			return false;
		x86__set_vec(&run->state, to->reg, flow__const(0), flow__const(0));
		return true;
	default:
		return false;
	}
}

/* --- all --- */

static bool x86__in_group(const cs_insn *insn, uint8_t group)
{
	for (unsigned int i = 0; i < insn->detail->groups_count; i++) {
		if (insn->detail->groups[i] == group)
			return true;
	}
	return false;
}

static void x86__step(struct flow_run *run, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	if (x86__integer(run, insn, x))
		return;
	if (x->op_count >= 2 && x86__vector(run, insn, x))
		return;
	/* anything else: what it may write is unknown from here on */
	for (unsigned int i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type == X86_OP_REG && (i == 0 || op->access & CS_AC_WRITE))
			x86__forget(&run->state, op->reg);
		if (op->type == X86_OP_MEM && (i == 0 || op->access & CS_AC_WRITE))
			flow__store(run, x86__address(&run->state, insn, &op->mem), op->size,
				    (struct flow_value){0});
	}
	for (unsigned int i = 0; i < insn->detail->regs_write_count; i++)
		x86__forget(&run->state, insn->detail->regs_write[i]);
	if (!x86__in_group(insn, X86_GRP_JUMP) && insn->id != X86_INS_CALL)
		run->state.tested = (struct flow_value){0};
}

static struct flow_next x86__flow(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	bool direct = x->op_count == 1 && x->operands[0].type == X86_OP_IMM;
	uint64_t target = direct ? (uint64_t)x->operands[0].imm : 0;

	if (insn->id == X86_INS_CALL)
		return (struct flow_next){.kind = FLOW_CALL, .target = target};
	if (insn->id == X86_INS_JMP)
		return (struct flow_next){.kind = direct ? FLOW_JUMP : FLOW_UNKNOWN,
					  .target = target};
	if (insn->id == X86_INS_RET || insn->id == X86_INS_UD2 || insn->id == X86_INS_HLT)
		return (struct flow_next){.kind = FLOW_RETURN};
	if (x86__in_group(insn, X86_GRP_JUMP) && direct)
		return (struct flow_next){
			.kind = FLOW_BRANCH,
			.target = target,
			.nonzero = insn->id == X86_INS_JNE  ? 1
				   : insn->id == X86_INS_JE ? -1
							    : 0,
		};
	if (x86__in_group(insn, X86_GRP_JUMP) || x86__in_group(insn, X86_GRP_RET))
		return (struct flow_next){.kind = FLOW_RETURN};
	return (struct flow_next){.kind = FLOW_NEXT};
}

const struct flow_arch flow_x86 = {
	.arch = CS_ARCH_X86,
	.mode = CS_MODE_64,
	.arg = {7, 6, 2}, /* rdi, rsi, rdx */
	.result = 0,	  /* rax */
	.lost = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 6 | 1u << 7 | 0xf00u,
	.flow = x86__flow,
	.forget = x86__forget,
	.step = x86__step,
};
