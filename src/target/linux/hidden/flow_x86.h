/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What flow_x86.c and flow_x86_vector.c share. */
#ifndef XR_TARGET_LINUX_HIDDEN_FLOW_X86_H
#define XR_TARGET_LINUX_HIDDEN_FLOW_X86_H

#include "target/linux/hidden/flow.h"

/* x86__gpr - the hardware's number of a general register, and its size; -1: another register. */
int x86__gpr(unsigned int reg, unsigned int *size);

/* x86__vec - the number of a vector register; -1: another register; *wide: ymm or zmm. */
int x86__vec(unsigned int reg, bool *wide);

/* x86__address - the address that operand @m of @insn names. */
struct flow_value x86__address(const struct flow_state *s, const cs_insn *insn,
			       const x86_op_mem *m);

/* x86__value - the value of an operand, as the unsigned number that a move of @size would leave. */
struct flow_value x86__value(struct flow_run *run, const cs_insn *insn, const cs_x86_op *op,
			     unsigned int size);

/* x86__set - general register @reg becomes @value. */
void x86__set(struct flow_state *s, unsigned int reg, struct flow_value value);

/*
 * x86__vector - what a vector instruction of two operands or more does; the VEX forms name the
 * first source apart. false: not one that is followed.
 */
bool x86__vector(struct flow_run *run, const cs_insn *insn, const cs_x86 *x);

#endif
