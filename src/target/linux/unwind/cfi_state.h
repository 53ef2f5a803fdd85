/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For cfi.c: what a program of .eh_frame has said so far, and how much of that a rule can say.
 */
#ifndef XR_TARGET_LINUX_UNWIND_CFI_STATE_H
#define XR_TARGET_LINUX_UNWIND_CFI_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "target/linux/unwind/cfi.h"
#include "target/linux/unwind/cursor.h"

#define REMEMBERED_MAX 16u /* states that are remembered at a time; compilers nest one or two */

/* Where a register of the caller is, as the program says so far. */
struct where {
	enum { UNTOLD, SAME, UNDEFINED, AT_CFA, AT_SP, AT_FP, LOST } how;
	int64_t off;
};

struct state {
	enum { CFA_REGISTER, CFA_SUM, CFA_DEREF, CFA_PLT, CFA_UNKNOWN } cfa;
	uint64_t reg; /* of CFA_REGISTER; it holds again after an expression */
	int64_t off;
	uint64_t word; /* of an expression: the register; CFA_PLT, the limit */
	int64_t word_off;
	struct where fp, ra;
};

/* A common information entry, as far as it matters. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra; /* the column of the return address */
	uint8_t encoding;
	bool sized;  /* FDEs have augmentation data */
	bool signal; /* they are of the frames of signals */
	struct cursor program;
};

struct parser {
	const struct cfi_input *in;
	const struct cfi_sink *sink;
	struct cfi_counts *counts;
	uint64_t sp, fp; /* numbers of the registers */
	uint8_t default_ra;
	size_t cie_at; /* of the CIE parsed last */
	bool have_cie;
	struct cie cie;
	struct state initial; /* after its program */
	struct state remembered[REMEMBERED_MAX];
	uint32_t nremembered;
};

/* state__set - the rule of register @reg is @w. */
void state__set(const struct parser *p, struct state *s, uint64_t reg, struct where w);

/* state__restore - it is the one of the CIE. */
void state__restore(const struct parser *p, struct state *s, uint64_t reg);

/* state__saved_expression - it is saved where expression @e says. */
void state__saved_expression(const struct parser *p, struct state *s, uint64_t reg,
			     struct cursor e);

/* state__cfa_expression - the CFA is what @e says. */
void state__cfa_expression(const struct parser *p, struct state *s, struct cursor e);

/* state__rule - @s as a rule; one that cannot be said is XR_CFA_NONE, and counted. */
struct xr_unwind_rule state__rule(const struct parser *p, const struct state *s);

#endif
