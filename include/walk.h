/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk, written once: R's chain of contexts and the naming rule of R's own profiler, over a
 * supplied way to read the target's memory.  Compiled into the BPF object, into the engines that
 * read from outside, and into the unit tests.
 *
 * Facts: src/include/Defn.h (RCNTXT), src/main/eval.c (doprof, the naming rule), R 3.0 to 4.6.
 *
 * walk_state.h says what the includer defines.
 */
#ifndef XR_WALK_H
#define XR_WALK_H

#include "walk_state.h"
#include "name_walk.h"

WALK_FN void lines__begin(struct walk *w);
WALK_FN int memory__begin(struct walk *w);
WALK_FN int calls__begin(struct walk *w);

/*
 * walk__begin - start at the innermost context.
 * 0; WALK_DONE: R is not initialised, there is no stack; or -enum xr_error.
 */
WALK_FN int walk__begin(struct walk *w)
{
	__u64 gc = 0;
	int err;

	w->sample++;
	w->contexts = 0;
	w->frames = 0;
	w->whose = WALK_NOBODY;
	w->gc = 0;
	w->first = 0;
	w->unproven = 0;
	w->file = 0;
	w->line = 0;
	w->filter_from = 0;
	w->filter_eval = 0;
	w->lenient = 0;
	w->next = 0;
	w->budget.work = 0;
	w->budget.look_at = w->budget.reduced ? WALK_LOOK : WALK_LOOK_FIRST;
	w->budget.over = 0;
	if (walk__load(w, READ_GLOBAL, &w->next, 8, w->row.head_at))
		return -XR_BAD_HEAD;
	if (walk__wants(w, XR_ROW_GC) && w->row.gc_at) {
		if (walk__load(w, READ_GC, &gc, w->row.gc_size == 1 ? 1 : 4, w->row.gc_at))
			return -XR_BAD_HEAD;
		w->gc = gc != 0;
	}
	err = memory__begin(w);
	if (!err)
		err = calls__begin(w);
	if (err)
		return err;
	if (w->next && (walk__wants(w, XR_ROW_LINES | XR_ROW_PACKAGES) || w->row.labels_at))
		lines__begin(w);
	return w->next ? 0 : WALK_DONE;
}

/* walk__call - name the call at @call: w->word (0: not a call, so no frame) and w->more. */
WALK_FN int walk__call(struct walk *w, __u64 call)
{
	struct walk_memo *memo = &w->memo[((call >> 3) ^ (call >> 9)) & (WALK_MEMO - 1)];
	int err;

	if (memo->call == call && memo->sample == w->sample) {
		w->word = memo->word;
		w->more = memo->more;
		return 0;
	}
	if (walk__cell(w, w->cell, call))
		return -XR_BAD_CALL;
	w->more = 0;
	if (walk__type(w->cell) != R_LANGSXP) {
		w->word = 0;
	} else if (walk__known(w, w->cell[R_CAR])) {
		w->word =
			((__u64)XR_FORM_SYMBOL << XR_FORM_SHIFT) | (w->cell[R_CAR] & XR_WORD_MASK);
	} else {
		err = walk__name(w, w->cell[R_CAR]);
		if (err)
			return err;
	}
	memo->call = call;
	memo->word = w->word;
	memo->more = w->more;
	memo->sample = w->sample;
	return 0;
}

/* walk__frame - the context in w->context calls a function: name it and emit its slots. */
WALK_FN int walk__frame(struct walk *w)
{
	int err = walk__call(w, walk__field(w, w->row.layout.call));

	if (err || !w->word)
		return err;
	/* these first: they may be cut, and then there is no frame */
	if (walk__wants(w, XR_ROW_PACKAGES)) {
		err = walk__function(w);
		if (err)
			return err;
	}
	if (walk__wants(w, XR_ROW_LINES)) {
		err = walk__location(w);
		if (err)
			return err;
	}
	err = walk__emit(w, w->word, w->more);
	if (err)
		return err;
	w->frames++;
	if (walk__wants(w, XR_ROW_LINES)) {
		err = walk__emit(w, w->file, w->line);
		if (err)
			return err;
	}
	if (walk__wants(w, XR_ROW_PACKAGES)) {
		err = walk__emit(w, w->functions.package, w->functions.definition);
		if (err)
			return err;
	}
	return walk__wants(w, XR_ROW_CALLS) ? walk__which_call(w) : 0;
}

/*
 * walk__key - where on the stack [@sp, @top) the context read last belongs: its address, or its
 * `bcpc`.  @top 0: the end is not known.  0: nowhere.
 */
WALK_FN __u64 walk__key(const struct walk *w, __u64 sp, __u64 top)
{
	__u64 key = w->at;

	if (key >= sp && (!top || key < top))
		return key;
	key = w->row.layout.bcpc ? walk__field(w, w->row.layout.bcpc) : 0;
	return key >= sp && (!top || key < top) ? key : 0;
}

/* walk__context - read the context at @at into w->context. */
WALK_FN int walk__context(struct walk *w, __u64 at)
{
	/* `bcpc` of walk__key() is as far out as what lines need */
	const __u32 whose = w->sp_top && w->whose != WALK_HERE;
	const __u32 len = whose || walk__wants(w, XR_ROW_LINES | XR_ROW_NATIVE)
				  ? w->row.layout.read_lines
				  : w->row.layout.read_plain;

	return walk__load(w, READ_CONTEXT, w->context, len & (XR_CONTEXT_MAX - 1), at)
		       ? -XR_BAD_CONTEXT
		       : 0;
}

/*
 * walk__filter_slow - filter.callframes, findProfContext() of eval.c: from a context, the next one
 * to tell is the frame that its call was made from (whose cloenv is its sysparent), or, if that was
 * a call of eval(), the frame eval() evaluates in; if there is none, the outermost one.
 *
 * Returns what to do with w->context, or -enum xr_error.
 */
enum walk_filter {
	WALK_PASS, /* go on outward */
	WALK_TELL,
	WALK_TELL_LAST, /* it is now the outermost one; after it the walk is done */
	WALK_END,	/* do not tell it, the walk is done */
};

WALK_FN int walk__filter_slow(struct walk *w)
{
	const __u64 at = w->at;
	const __u32 flag = w->flag;
	__u64 cloenv = walk__field(w, w->row.layout.cloenv);
	__u64 callfun = walk__field(w, w->row.layout.callfun);
	__u64 last = w->filter_last;
	int found = 0;

	w->filter_last = at;
	if (!flag && w->filter_from) { /* the toplevel context: nothing was found */
		if (last == w->filter_from)
			return WALK_END;
		return walk__context(w, last) ? -XR_BAD_CONTEXT : WALK_TELL_LAST;
	}
	if (!w->filter_from) { /* the innermost */
		if (!flag)
			return WALK_END;
		found = 1;
	} else if ((flag & R_CTXT_FUNCTION) && cloenv == w->filter_env) {
		if (!w->filter_eval && w->row.eval_fun && callfun == w->row.eval_fun)
			w->filter_eval = 1;
		else
			found = 1;
	}
	if (!found)
		return WALK_PASS;
	w->filter_from = at;
	w->filter_env = walk__field(w, w->row.layout.sysparent);
	/* the search begins with the context itself: eval() in its own frame */
	w->filter_eval = (flag & R_CTXT_FUNCTION) && cloenv == w->filter_env && w->row.eval_fun &&
			 callfun == w->row.eval_fun;
	return WALK_TELL;
}

/*
 * walk__context_at - read the next context outward, and decide whether it is emitted.
 * 0: walk__tell() is next; WALK_DONE; WALK_CUT; or -enum xr_error.
 */
WALK_FN int walk__context_at(struct walk *w)
{
	int told = WALK_TELL;

	w->at = w->next;
	if (w->contexts >= XR_CONTEXTS_MAX || walk__over(w))
		return WALK_CUT;
	if (walk__context(w, w->at))
		return -XR_BAD_CONTEXT;
	w->contexts++;
	w->next = walk__field(w, w->row.layout.nextcontext);
	if (w->sp_top && w->next && w->whose != WALK_HERE)
		w->whose = walk__key(w, w->sp, w->sp_top) ? WALK_HERE : WALK_ELSEWHERE;
	w->flag = walk__field32(w, w->row.layout.callflag);
	if (walk__wants(w, XR_ROW_FILTER)) {
		told = walk__filter(w);
		if (told < 0)
			return told;
		if (told == WALK_END)
			return WALK_DONE;
		if (told == WALK_TELL_LAST)
			w->next = 0;
	}
	w->told = told;
	return 0;
}

/*
 * walk__tell - emit the frame of the context that was read, if it has one.
 * 0: there is a further one; WALK_DONE; or -enum xr_error.
 */
WALK_FN int walk__tell(struct walk *w)
{
	int err;

	if (w->told != WALK_PASS &&
	    (walk__field32(w, w->row.layout.callflag) & (R_CTXT_FUNCTION | R_CTXT_BUILTIN))) {
		err = walk__frame(w);
		if (err)
			return err;
	}
	if (w->next)
		return 0;
	return w->flag ? -XR_BAD_CHAIN : WALK_DONE; /* the outermost context is a toplevel one */
}

/*
 * walk__step - read one context, emit its frame if it has one, go outward.
 * 0: call again; WALK_DONE; WALK_CUT; or -enum xr_error.
 */
WALK_FN int walk__step(struct walk *w)
{
	int err = walk__context_at(w);

	return err ? err : walk__tell(w);
}

#include "memory_walk.h"
#include "call_walk.h"
#include "lines_walk.h"
#include "function_walk.h"
#include "labels_walk.h"

#ifdef WALK_PLAIN
WALK_FN int walk__name(struct walk *w, __u64 fun)
{
	return walk__name_slow(w, fun);
}

WALK_FN int walk__text(struct walk *w, __u64 addr, __u32 len)
{
	return walk__text_slow(w, addr, len);
}

WALK_FN int walk__location(struct walk *w)
{
	return lines__of_context(w);
}

WALK_FN int walk__lines_file(struct walk *w, __u64 env)
{
	return lines__file_slow(w, env);
}

WALK_FN int walk__lines_tell(struct walk *w, __u64 env)
{
	return lines__tell_slow(w, env);
}

WALK_FN int walk__lines_srcref(struct walk *w, __u64 ref)
{
	return lines__srcref_slow(w, ref);
}

WALK_FN int walk__lines_bc(struct walk *w)
{
	return lines__bc_slow(w);
}

WALK_FN int walk__look(struct walk *w)
{
	return walk__look_slow(w);
}

WALK_FN int walk__function(struct walk *w)
{
	return function__of_context(w);
}

WALK_FN int walk__package(struct walk *w)
{
	return function__package_slow(w);
}

WALK_FN int walk__env_name(struct walk *w)
{
	return function__env_name_slow(w);
}

WALK_FN int walk__which_call(struct walk *w)
{
	return calls__of_context(w);
}

WALK_FN int walk__filter(struct walk *w)
{
	return walk__filter_slow(w);
}
#endif

#endif
