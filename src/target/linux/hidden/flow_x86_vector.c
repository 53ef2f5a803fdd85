/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "target/linux/hidden/flow_x86.h"

int x86__vec(unsigned int reg, bool *wide)
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
 * Two variables of 4 bytes are put side by side to be stored at once.  The VEX forms name the first
 * source apart.  false: not one of these instructions.
 */
static bool x86__pairs(struct flow_run *run, const cs_insn *insn, const cs_x86 *x)
{
	const cs_x86_op *to = &x->operands[0], *last = &x->operands[x->op_count - 1];
	struct flow_value a[2], b[2];
	unsigned int size;

	switch (insn->id) {
	case X86_INS_MOVD:
	case X86_INS_VMOVD:
		if (x->op_count != 2)
			return false;
		if (last->type == X86_OP_MEM || x86__gpr(last->reg, &size) >= 0) {
			x86__set_vec(&run->state, to->reg, x86__value(run, insn, last, 4),
				     flow__const(0));
			return true;
		}
		x86__halves(run, insn, last, a);
		if (to->type == X86_OP_MEM)
			flow__store(run, x86__address(&run->state, insn, &to->mem), 4,
				    flow__low(a[0]));
		else
			x86__set(&run->state, to->reg, flow__low(a[0]));
		return true;
	case X86_INS_PUNPCKLDQ:
	case X86_INS_VPUNPCKLDQ:
		if (x->op_count < 2 || last->type != X86_OP_REG)
			return false;
		x86__halves(run, insn, &x->operands[x->op_count - 2], a);
		x86__halves(run, insn, last, b);
		x86__set_vec(&run->state, to->reg, flow__pair(flow__low(a[0]), flow__low(b[0])),
			     (struct flow_value){0});
		return true;
	case X86_INS_PINSRD:
	case X86_INS_VPINSRD:
		if (x->op_count < 3 || last->type != X86_OP_IMM || last->imm != 1)
			return false;
		x86__halves(run, insn, &x->operands[x->op_count == 3 ? 0 : 1], a);
		b[0] = x86__value(run, insn, &x->operands[x->op_count - 2], 4);
		x86__set_vec(&run->state, to->reg, flow__pair(flow__low(a[0]), b[0]), a[1]);
		return true;
	default:
		return false;
	}
}

/* Halves and wholes. false: not one of these instructions. */
static bool x86__copies(struct flow_run *run, const cs_insn *insn, const cs_x86 *x)
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

bool x86__vector(struct flow_run *run, const cs_insn *insn, const cs_x86 *x)
{
	return x86__copies(run, insn, x) || x86__pairs(run, insn, x);
}
