/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/unwind/cfi_state.h"

#include <elf.h>
#include <string.h>

#include "target/linux/unwind/dwarf_numbers.h"

/* An expression that is a register and an offset, and what is there if @deref. */
static bool expression__simple(struct cursor e, uint64_t *reg, int64_t *off, bool *deref)
{
	uint8_t op = (uint8_t)cursor__fixed(&e, 1);

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		*reg = op - DW_OP_breg0;
	else if (op == DW_OP_bregx)
		*reg = cursor__uleb(&e);
	else
		return false;
	*off = cursor__sleb(&e);
	*deref = cursor__left(&e) == 1 && *e.at == DW_OP_deref;
	return !e.bad && (*deref || !cursor__left(&e));
}

/* The one of x86_64's PLT: rsp + 8, and 8 more from byte @limit of an entry on. */
static bool expression__plt(struct cursor e, uint64_t *limit)
{
	static const uint8_t before[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t after[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};

	if (cursor__left(&e) != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(e.at, before, sizeof(before)) || memcmp(e.at + 7, after, sizeof(after)) ||
	    e.at[6] < DW_OP_lit0 || e.at[6] > DW_OP_lit15)
		return false;
	*limit = e.at[6] - DW_OP_lit0;
	return true;
}

void state__cfa_expression(const struct parser *p, struct state *s, struct cursor e)
{
	bool deref;

	s->cfa = CFA_UNKNOWN;
	if (p->in->machine == EM_X86_64 && expression__plt(e, &s->word)) {
		s->cfa = CFA_PLT;
		s->word_off = 8;
	} else if (expression__simple(e, &s->word, &s->word_off, &deref)) {
		s->cfa = deref ? CFA_DEREF : CFA_SUM;
	}
}

void state__set(const struct parser *p, struct state *s, uint64_t reg, struct where w)
{
	if (reg == p->cie.ra)
		s->ra = w;
	else if (reg == p->fp)
		s->fp = w;
}

void state__restore(const struct parser *p, struct state *s, uint64_t reg)
{
	if (reg == p->cie.ra)
		s->ra = p->initial.ra;
	else if (reg == p->fp)
		s->fp = p->initial.fp;
}

void state__saved_expression(const struct parser *p, struct state *s, uint64_t reg, struct cursor e)
{
	struct where w = {.how = LOST};
	uint64_t base;
	bool deref;

	if (expression__simple(e, &base, &w.off, &deref) && !deref &&
	    (base == p->sp || base == p->fp))
		w.how = base == p->sp ? AT_SP : AT_FP;
	state__set(p, s, reg, w);
}

static bool fits(int64_t off)
{
	return off >= INT32_MIN && off <= INT32_MAX;
}

static uint8_t where__saved(const struct where *w, uint8_t untold, int32_t *off)
{
	uint8_t how = XR_SAVED_LOST;

	if (w->how == UNTOLD)
		return untold;
	if (w->how == SAME)
		return XR_SAVED_SAME;
	if (w->how == AT_CFA)
		how = XR_SAVED_CFA;
	else if (w->how == AT_SP)
		how = XR_SAVED_SP;
	else if (w->how == AT_FP)
		how = XR_SAVED_FP;
	if (how == XR_SAVED_LOST || !fits(w->off))
		return XR_SAVED_LOST;
	*off = (int32_t)w->off;
	return how;
}

struct xr_unwind_rule state__rule(const struct parser *p, const struct state *s)
{
	const struct xr_unwind_rule none = {.cfa = XR_CFA_NONE};
	const uint64_t reg = s->cfa == CFA_REGISTER ? s->reg : s->word;
	const int64_t off = s->cfa == CFA_REGISTER ? s->off : s->word_off;
	struct xr_unwind_rule r = {.flags = p->cie.signal ? XR_RULE_SIGNAL : 0};

	if (s->ra.how == UNDEFINED)
		return (struct xr_unwind_rule){.cfa = XR_CFA_END};
	if (s->cfa == CFA_UNKNOWN) {
		p->counts->expression++;
		return none;
	}
	if (!fits(off)) {
		p->counts->too_far++;
		return none;
	}
	r.cfa_off = (int32_t)off;
	r.fp = where__saved(&s->fp, XR_SAVED_SAME, &r.fp_off);
	r.ra = where__saved(&s->ra, p->default_ra, &r.ra_off);
	if (s->cfa == CFA_PLT) {
		r.cfa = XR_CFA_PLT;
		r.ra = XR_SAVED_CFA;
		r.ra_off = (int32_t)reg;
		return r;
	}
	if (reg != p->sp && reg != p->fp) {
		p->counts->other_register++;
		return none;
	}
	if (s->cfa != CFA_DEREF)
		r.cfa = reg == p->sp ? XR_CFA_SP : XR_CFA_FP;
	else
		r.cfa = reg == p->sp ? XR_CFA_SP_DEREF : XR_CFA_FP_DEREF;
	return r;
}
