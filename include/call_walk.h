/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which call each frame is, part of walk.h (abi.h, XR_CALL_OLD).  Facts: applyClosure() in eval.c
 * makes an environment for each call of a closure; the mark in its header is sxpinfo_struct of
 * Defn.h, the same in R 3.0 to 4.6; memory.c has the collector.
 */
#ifndef XR_CALL_WALK_H
#define XR_CALL_WALK_H

#include "walk_state.h"

/* calls__begin - with XR_ROW_CALLS: how often R has begun to collect.  0, or as walk__emit(). */
WALK_FN int calls__begin(struct walk *w)
{
	__u32 count = 0;
	__u64 counted = 0;

	if (!walk__wants(w, XR_ROW_CALLS))
		return 0;
	w->first |= XR_F_CALLS;
	w->lenient = 1;
	if (w->row.gc_count_at && !walk__load(w, READ_GC, &count, 4, w->row.gc_count_at))
		counted = XR_COUNTED;
	w->lenient = 0;
	return walk__emit(w, counted ? count : 0, counted);
}

/*
 * calls__of_context - emit the slot of the context read last.  While the collector runs, marks are
 * on their way; so they are read only if it is known whether it does.
 */
WALK_FN int calls__of_context(struct walk *w)
{
	const __u64 env = walk__field(w, w->row.layout.cloenv);
	__u64 old = XR_CALL_OLD;

	if (!(walk__field32(w, w->row.layout.callflag) & R_CTXT_FUNCTION))
		return walk__emit(w, 0, 0);
	if (w->row.gc_count_at && w->row.gc_at) {
		w->lenient = 1;
		if (!walk__cell(w, w->cell2, env) && walk__type(w->cell2) == R_ENVSXP)
			old = w->cell2[0] & R_MARK_BIT ? XR_CALL_OLD : 0;
		w->lenient = 0;
	}
	return walk__emit(w, env & XR_WORD_MASK, (w->at & XR_CALL_CONTEXT) | old);
}

#endif
