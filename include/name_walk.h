/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a call is called: the rule by which doprof() of R (eval.c) names a frame, and the names that
 * are sent for it.  Part of walk.h.
 */
#ifndef XR_NAME_WALK_H
#define XR_NAME_WALK_H

#include "walk_state.h"

/*
 * walk__symbol - @sym was read into @cell and is a SYMSXP: send its name, once.
 * Uses cell3.  0 or -XR_BAD_SYMBOL, -XR_LOST.
 */
WALK_FN int walk__symbol(struct walk *w, __u64 sym, const __u64 *cell)
{
	__u64 printname = cell[R_CAR];
	__u64 len;

	if (walk__known(w, sym))
		return 0;
	if (walk__cell(w, w->cell3, printname))
		return -XR_BAD_SYMBOL;
	len = w->cell3[R_CAR] & 0xffffffff;
	if (walk__type(w->cell3) != R_CHARSXP)
		return -XR_BAD_SYMBOL;
	if (len > XR_NAME_MAX)
		len = XR_NAME_MAX;
	w->budget.work += 1 + (__u32)(len >> WALK_TEXT_SHIFT);
	return walk__send_symbol(w, sym, printname + w->row.layout.vector_data, (__u32)len);
}

/* walk__text_slow - send the text of @len bytes at @addr, once; its hash goes to w->hash. */
WALK_FN int walk__text_slow(struct walk *w, __u64 addr, __u32 len)
{
	struct walk_text *text = &w->texts[((addr >> 3) ^ (addr >> 9)) & (WALK_TEXTS - 1)];
	int err;

	if (len > XR_TEXT_MAX)
		len = XR_TEXT_MAX;
	if (text->addr == addr && text->len == len && text->sample == w->sample) {
		w->hash = text->hash;
		return 0;
	}
	w->budget.work += 1 + (len >> WALK_TEXT_SHIFT);
	err = walk__send_hashed(w, addr, len);
	if (err)
		return err;
	text->addr = addr;
	text->len = len;
	text->hash = w->hash;
	text->sample = w->sample;
	return 0;
}

/* walk__whole - the double with bits @real (IEEE 754) without its fraction, towards 0, as bits. */
WALK_FN __u64 walk__whole(__u64 real)
{
	__u32 exponent = (real >> 52) & 0x7ff;

	if (exponent < 1023) /* below 1 */
		return real & 1ULL << 63;
	if (exponent >= 1023 + 52) /* no fraction, infinite, or not a number */
		return real;
	return real & ~((1ULL << (1023 + 52 - exponent)) - 1);
}

/*
 * walk__subscript - name `a[[...]]`: @arg is the subscript, already in cell2.
 * Fills w->more and returns the form; XR_FORM_ANON when R would not name it so; negative: error.
 */
WALK_FN int walk__subscript(struct walk *w, __u64 arg)
{
	__u32 type = walk__type(w->cell2);
	__u64 len = w->cell2[R_CAR];
	__u64 data = arg + w->row.layout.vector_data;
	int err;

	if (type == R_SYMSXP) {
		err = walk__symbol(w, arg, w->cell2);
		w->more = arg;
		return err ? err : XR_FORM_ITEM_SYM;
	}
	if (type != R_STRSXP && type != R_INTSXP && type != R_REALSXP)
		return XR_FORM_ANON;
	if (w->row.layout.has_altrep && (w->cell2[0] & R_ALTREP_BIT))
		return XR_FORM_ITEM_ODD;
	if (w->row.layout.vector_data < 48) /* before 3.5 the length is an int */
		len &= 0xffffffff;
	if (!len)
		return XR_FORM_ANON;
	if (walk__load(w, READ_OBJECT, &w->more, type == R_INTSXP ? 4 : 8, data))
		return -XR_BAD_FUN;
	if (type == R_INTSXP) {
		w->more = (__u64)(__s64)(__s32)w->more;
		return XR_FORM_ITEM_INT;
	}
	if (type == R_REALSXP) {
		if (w->row.layout.real_whole)
			w->more = walk__whole(w->more);
		return XR_FORM_ITEM_REAL;
	}
	if (walk__cell(w, w->cell3, w->more))
		return -XR_BAD_FUN;
	len = w->cell3[R_CAR] & 0xffffffff;
	if (walk__type(w->cell3) != R_CHARSXP)
		return -XR_BAD_FUN;
	err = walk__text(w, w->more + w->row.layout.vector_data, (__u32)len);
	w->more = w->hash;
	return err ? err : XR_FORM_ITEM_STR;
}

/*
 * walk__name_slow - name the function part @fun of a call, as doprof() does; the result is
 * w->word, w->more.  Uses all cells.
 */
WALK_FN int walk__name_slow(struct walk *w, __u64 fun)
{
	__u64 op, a, b, cell;
	int form, err;

	w->more = 0;
	if (walk__cell(w, w->cell, fun))
		return -XR_BAD_FUN;
	if (walk__type(w->cell) == R_SYMSXP) {
		w->word = ((__u64)XR_FORM_SYMBOL << XR_FORM_SHIFT) | (fun & XR_WORD_MASK);
		return walk__symbol(w, fun, w->cell);
	}

	w->word = (__u64)XR_FORM_ANON << XR_FORM_SHIFT;
	if (walk__type(w->cell) != R_LANGSXP)
		return 0;
	op = w->cell[R_CAR];
	if (op == w->row.sym_colon2)
		form = XR_FORM_COLON2;
	else if (op == w->row.sym_colon3)
		form = XR_FORM_COLON3;
	else if (op == w->row.sym_dollar)
		form = XR_FORM_DOLLAR;
	else if (op == w->row.sym_item)
		form = XR_FORM_ITEM_SYM;
	else
		return 0;

	/* CADR and CADDR; a call with fewer arguments has R_NilValue there, whose CAR is itself */
	cell = w->cell[R_CDR];
	if (walk__cell(w, w->cell, cell))
		return -XR_BAD_FUN;
	a = w->cell[R_CAR];
	cell = w->cell[R_CDR];
	if (walk__cell(w, w->cell, cell))
		return -XR_BAD_FUN;
	b = w->cell[R_CAR];
	if (walk__cell(w, w->cell, a) || walk__cell(w, w->cell2, b))
		return -XR_BAD_FUN;
	if (walk__type(w->cell) != R_SYMSXP)
		return 0;
	if (form == XR_FORM_ITEM_SYM) {
		form = walk__subscript(w, b);
		if (form < 0)
			return form;
		if (form == XR_FORM_ANON) {
			w->more = 0;
			return 0;
		}
	} else {
		if (walk__type(w->cell2) != R_SYMSXP)
			return 0;
		err = walk__symbol(w, b, w->cell2);
		if (err)
			return err;
		w->more = b;
	}
	err = walk__symbol(w, a, w->cell);
	if (err)
		return err;
	w->word = ((__u64)form << XR_FORM_SHIFT) | (a & XR_WORD_MASK);
	return 0;
}

#endif
