/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/unwind/rule.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* DWARF's numbers of the registers that are followed. */
struct registers {
	uint64_t sp, fp;
	int link; /* the return address column of a function that may have no frame; -1: none */
};

static const struct registers x86_64 = {.sp = 7, .fp = 6, .link = -1};
static const struct registers aarch64 = {.sp = 31, .fp = 29, .link = 30};

static bool fits(Dwarf_Word off)
{
	return (int64_t)off >= INT32_MIN && (int64_t)off <= INT32_MAX;
}

/* Is @op a register plus an offset? */
static bool op__sum(const Dwarf_Op *op, uint64_t *reg, int32_t *off)
{
	const bool any = op->atom == DW_OP_bregx;
	const Dwarf_Word by = any ? op->number2 : op->number;

	if (!any && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31))
		return false;
	*reg = any ? op->number : (uint64_t)(op->atom - DW_OP_breg0);
	*off = (int32_t)by;
	return fits(by);
}

/* The address of x86_64's PLT: rsp + 8, and 8 more from byte @limit of an entry on. */
static bool ops__plt(const Dwarf_Op *ops, size_t n, int32_t *limit)
{
	static const uint8_t atoms[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	DW_OP_plus};

	if (n != sizeof(atoms) || ops[0].number != 8 || ops[1].number || ops[4].atom < DW_OP_lit0 ||
	    ops[4].atom > DW_OP_lit15)
		return false;
	for (size_t i = 0; i < n; i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return false;
	*limit = ops[4].atom - DW_OP_lit0;
	return true;
}

enum { UNDEFINED = XR_SAVEDS };

/* Where register @reg of the caller is: an enum xr_saved, or UNDEFINED. */
static uint8_t frame__saved(Dwarf_Frame *frame, const struct registers *r, int reg, int32_t *off)
{
	Dwarf_Op room[3], *ops = NULL;
	uint64_t base = 0;
	size_t n = 0;

	*off = 0;
	if (dwarf_frame_register(frame, reg, room, &ops, &n))
		return XR_SAVED_LOST;
	if (!n)
		return ops ? UNDEFINED : XR_SAVED_SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2)
		return XR_SAVED_LOST;
	if (n == 1)
		return XR_SAVED_CFA;
	if (ops[1].atom == DW_OP_plus_uconst && fits(ops[1].number)) {
		*off = (int32_t)ops[1].number;
		return XR_SAVED_CFA;
	}
	if (!op__sum(&ops[1], &base, off) || (base != r->sp && base != r->fp)) {
		*off = 0;
		return XR_SAVED_LOST;
	}
	return base == r->sp ? XR_SAVED_SP : XR_SAVED_FP;
}

static void frame__rule(Dwarf_Frame *frame, uint16_t machine, int ra, struct xr_unwind_rule *rule)
{
	const struct registers *r = machine == EM_AARCH64 ? &aarch64 : &x86_64;
	Dwarf_Op *ops;
	uint64_t reg;
	int32_t limit;
	size_t n;

	rule->ra = frame__saved(frame, r, ra, &rule->ra_off);
	if (rule->ra == UNDEFINED && r->link >= 0 && ra != r->link)
		rule->ra =
			XR_SAVED_SAME; /* no register of arm64 that is called: the link register */
	if (rule->ra == UNDEFINED) {
		*rule = (struct xr_unwind_rule){.cfa = XR_CFA_END};
		return;
	}
	rule->fp = frame__saved(frame, r, (int)r->fp, &rule->fp_off);
	if (rule->fp == UNDEFINED)
		rule->fp = XR_SAVED_LOST;
	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		goto none;
	if (machine == EM_X86_64 && ops__plt(ops, n, &limit)) {
		rule->cfa = XR_CFA_PLT;
		rule->cfa_off = 8;
		rule->ra = XR_SAVED_CFA;
		rule->ra_off = limit;
		return;
	}
	if (n > 2 || (n == 2 && ops[1].atom != DW_OP_deref) ||
	    !op__sum(ops, &reg, &rule->cfa_off) || (reg != r->sp && reg != r->fp))
		goto none;
	if (n == 1)
		rule->cfa = reg == r->sp ? XR_CFA_SP : XR_CFA_FP;
	else
		rule->cfa = reg == r->sp ? XR_CFA_SP_DEREF : XR_CFA_FP_DEREF;
	return;
none:
	*rule = (struct xr_unwind_rule){.cfa = XR_CFA_NONE};
}

int rule__read(Dwarf_CFI *cfi, uint16_t machine, uint64_t pc, struct xr_unwind_rule *rule,
	       uint64_t *end)
{
	Dwarf_Addr from, to;
	Dwarf_Frame *frame;
	bool is_signal;
	int ra;

	*rule = (struct xr_unwind_rule){.cfa = XR_CFA_NONE};
	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return -ENOENT;
	ra = dwarf_frame_info(frame, &from, &to, &is_signal);
	if (is_signal)
		rule->flags = XR_RULE_SIGNAL;
	if (ra >= 0)
		frame__rule(frame, machine, ra, rule);
	*end = to;
	free(frame);
	return ra >= 0 && to > pc ? 0 : -ENOENT;
}
