/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk with native frames: R's contexts (walk.h) and native frames (unwind_walk.h) as one stack
 * (merge.h), by what is known of the process (space.h).  Written once, as these are.
 *
 *	walk__begin(w); ...
 *	native__begin(n, w, pc, sp, fp, lr);
 *	while (!(err = native__step(n, w)))
 *		;
 *
 * R's part is what walk__step() would give, whatever the native part is.
 *
 * The includer defines WALK_FN, and the hooks below; NATIVE_RESYNC where a jmp_buf is
 * as native__resync() reads it.
 */
#ifndef XR_NATIVE_WALK_H
#define XR_NATIVE_WALK_H

#include "merge.h"
#include "space.h"
#include "unwind_walk.h"
#include "walk.h"

/* Why there are no native frames further out, besides enum unwind_end. */
enum native_end {
	NATIVE_FULL = UNWIND_ENDS, /* there were XR_NATIVE_MAX */
	NATIVE_ENOUGH,		   /* what was wanted is there */
	NATIVE_ENDS
};

/* What native__find_slow() found of an instruction in a space. */
struct native_memo {
	__u64 pc;
	__u32 stamp; /* of the space; 0: nothing */
	__u32 flags;
	__u32 begin, module;
	__u32 module_pc;
	__u32 pad;
	struct xr_unwind_rule rule;
};

/*
 * The caller fills `unwind.top` (the stack ends there, 0: not known), `unwind.pc_mask` and
 * guard_known (0).
 */
struct native {
	struct unwind unwind; /* first: see unwind__rule() */
	struct merge merge;
	struct xr_mapping map; /* that of the code looked up last */
	__u64 sp;	       /* where the stack began */
	__u64 unknown;	       /* code that is in no mapping, if there was any */
	__u64 pc;	       /* what native__find looks up */
	__u64 guard;	       /* what setjmp() mangles addresses with, once guard_known */
	__u64 bc_top; /* R_BCNodeStackTop when the context told last was made; 0: none was */
	__u64 cell[6];
	__u64 base;	 /* of the code found: what is added to its module's pc */
	__u32 pp_top;	 /* R_PPStackTop */
	__u32 begin;	 /* of the function found */
	__u32 flags;	 /* XR_NATIVE_* of it */
	__u32 map_stamp; /* the space that `map` is of; 0: of none */
	__u32 frames;	 /* emitted */
	__u32 end;	 /* why there are no more after the current one; 0: there may be */
	__u32 builtins;	 /* of them functions in R_FunTab that own no context, */
	__u32 named;	 /* and those with `op` */
	__u32 resynced;	 /* times */
	__u32 guard_known;
	__u32 module; /* of the code found; 0: it is in none */
	__u32 op;     /* of the current frame, 1 + its number in R_FunTab; 0: not known */
};

/* The words of slab @slab, XR_SLAB_WORDS of them; NULL: there is no such. */
WALK_FN const __u64 *native__slab(struct native *n, __u32 slab);

/* A place where what was found of @pc may be remembered; NULL: nothing is. */
WALK_FN struct native_memo *native__memo(struct native *n, __u64 pc);

/*
 * Each of these calls the function of this header that is named beside it, with the walk that @n
 * goes with.
 */
WALK_FN int native__find(struct native *n);    /* native__find_slow() */
WALK_FN int native__builtin(struct native *n); /* native__builtin_slow() */
WALK_FN int native__frame(struct native *n);   /* native__frame_slow() */

#ifdef NATIVE_RESYNC
WALK_FN int native__resync(struct native *n); /* native__resync_slow() */

/* Read the thread's guard to n->guard.  0, or negative: it is not known. */
WALK_FN int native__guard(struct native *n);
#endif

WALK_FN int unwind__rule(struct unwind *u, __u64 pc)
{
	struct native *n = (struct native *)u;

	n->pc = pc;
	return native__find(n);
}

/* native__recall - what native__find_slow() found of n->pc before, if that is still known. */
WALK_FN int native__recall(struct native *n, const struct native_memo *memo, __u32 stamp)
{
	if (!memo || memo->pc != n->pc || memo->stamp != stamp || !stamp)
		return 0;
	n->flags = memo->flags;
	n->begin = memo->begin;
	n->module = memo->module;
	n->base = n->pc - memo->module_pc;
	n->unwind.rule = memo->rule;
	return 1;
}

/* native__word - word @at of a slab; bounded for the verifier. */
WALK_FN __u64 native__word(const __u64 *words, __u32 at)
{
	return words[at & (XR_SLAB_WORDS - 1)];
}

#define NATIVE_MAP_BITS 10 /* 2^10 > XR_MAPPINGS_MAX */
#define NATIVE_ROW_BITS 18 /* 2^18 > XR_SLAB_WORDS */

/*
 * native__last - of @n words from @first on, @each apart, in ascending order, the last that is not
 * above @key; @n: there is none.  Words, as far as @mask, and @key are below 2^63.
 *
 * No branch depends on what is read, so that the verifier goes through this once.
 */
WALK_FN __u32 native__last(const __u64 *words, __u32 first, __u32 n, __u32 each, __u64 mask,
			   __u64 key, __u32 bits)
{
	__u64 found = 0, next, beyond;
	__u32 i;

	for (i = 0; i < bits; i++) {
		next = found + (1U << (bits - 1 - i));
		beyond = key - (native__word(words, first + (__u32)(next - 1) * each) & mask);
		beyond |= n - next;
		beyond = ~beyond >> 63;
		asm volatile("" : "+r"(beyond)); /* else the compiler makes a branch of it */
		found += beyond << (bits - 1 - i);
	}
	return found ? (__u32)found - 1 : n;
}

/* native__mapping - the mapping that n->pc is in, to n->map.  0, or negative: there is none. */
WALK_FN int native__mapping(struct native *n, struct walk *w)
{
	const __u32 first = w->row.space_first;
	const __u64 *words;
	__u32 count, at;
	__u64 word;

	if (n->map_stamp && n->map_stamp == w->row.space_stamp && n->pc >= n->map.start &&
	    n->pc < n->map.end)
		return 0;
	n->map_stamp = 0;
	if (!w->row.space_stamp)
		return -1;
	words = native__slab(n, w->row.space_slab);
	if (!words)
		return -1;
	word = native__word(words, first);
	if ((__u32)word != w->row.space_stamp)
		return -1;
	count = word >> 32;
	if (count > XR_MAPPINGS_MAX)
		count = XR_MAPPINGS_MAX;
	at = native__last(words, first + XR_SPACE_WORDS, count, XR_MAPPING_WORDS, ~0ULL, n->pc,
			  NATIVE_MAP_BITS);
	if (at == count)
		return -1;
	at = first + XR_SPACE_WORDS + at * XR_MAPPING_WORDS;
	n->map.start = native__word(words, at);
	n->map.end = native__word(words, at + 1);
	if (n->pc >= n->map.end)
		return -1;
	n->map.base = native__word(words, at + 2);
	word = native__word(words, at + 3);
	n->map.slab = (__u32)word;
	n->map.rows = word >> 32;
	word = native__word(words, at + 4);
	n->map.nrows = (__u32)word;
	n->map.rules = word >> 32;
	word = native__word(words, at + 5);
	n->map.module = (__u32)word;
	n->map.flags = word >> 32;
	n->map_stamp = w->row.space_stamp;
	return 0;
}

/*
 * native__find_slow - what is known of the code at n->pc: n->module and n->base, n->begin,
 * n->flags, n->unwind.rule.  0, or negative: there is no rule.
 */
WALK_FN int native__find_slow(struct native *n, struct walk *w)
{
	struct native_memo *memo;
	const __u64 *words;
	__u32 at, rule, back;
	__u64 row;

	n->flags = 0;
	n->begin = 0;
	n->module = 0;
	if (native__mapping(n, w)) {
		n->unknown = n->pc;
		return -1;
	}
	n->module = n->map.module;
	n->base = n->map.base;
	if (n->map.flags & XR_MAPPING_R)
		n->flags = XR_NATIVE_R;
	words = native__slab(n, n->map.slab);
	if (!words)
		return -1;
	at = native__last(words, n->map.rows, n->map.nrows, 1, 0xffffffff,
			  (__u32)(n->pc - n->map.base), NATIVE_ROW_BITS);
	if (at == n->map.nrows)
		return -1;
	row = native__word(words, n->map.rows + at);
	rule = row >> 32 & 0xffff;
	back = row >> 48 & XR_ROW_BACK;
	if (!rule)
		return -1;
	if (back != XR_ROW_FAR && back <= at) {
		n->begin = (__u32)native__word(words, n->map.rows + at - back);
		n->flags |= XR_NATIVE_BEGINS;
		if (row >> 63)
			n->flags |= XR_NATIVE_BUILTIN;
	}
	at = n->map.rules + 2 * rule;
	*(__u64 *)&n->unwind.rule = native__word(words, at);
	*((__u64 *)&n->unwind.rule + 1) = native__word(words, at + 1);
	memo = native__memo(n, n->pc);
	if (memo) {
		memo->pc = n->pc;
		memo->stamp = w->row.space_stamp;
		memo->flags = n->flags;
		memo->begin = n->begin;
		memo->module = n->module;
		memo->module_pc = (__u32)(n->pc - n->base);
		memo->rule = n->unwind.rule;
	}
	return 0;
}

/* --- builtins ---
 *
 * A frame of a C function in R_FunTab was called as one of the builtins that it serves, or by
 * another C function.  R keeps the very object that was called (eval.c of R 3.5 to 4.6): byte code
 * on its node stack, three cells below the top (CALLBUILTIN: the function, and the list of
 * arguments, which takes two) or on the top (CALLSPECIAL); eval() on the stack of what is
 * protected.  Where these were when the frame called R again the next context inside of it says.
 * It is that object only if R_FunTab says that its C function is this one.
 */
#define NATIVE_FUN_TAB	   40 /* bytes of an entry of R_FunTab (Defn.h): name, cfun, ... */
#define NATIVE_FUN_TAB_MAX 4096
#define NATIVE_NODE	   16 /* bytes of a cell of the node stack, R_bcstack_t: tag, value */
#define NATIVE_PROTECTED   16 /* places of R_PPStack that are looked at */

/* native__op - is @object the builtin that the current frame executes?  Then n->op is set. */
WALK_FN int native__op(struct native *n, struct walk *w, __u64 object)
{
	__u32 offset;
	__u64 cfun;

	if (!object || object & 7 || walk__load(w, READ_OBJECT, n->cell, 40, object))
		return 0;
	if (walk__type(n->cell) != R_SPECIALSXP && walk__type(n->cell) != R_BUILTINSXP)
		return 0;
	offset = (__u32)n->cell[4];
	if (offset >= NATIVE_FUN_TAB_MAX ||
	    walk__load(w, READ_OBJECT, &cfun, 8, w->row.fun_tab + offset * NATIVE_FUN_TAB + 8) ||
	    cfun != n->base + n->begin)
		return 0;
	n->op = offset + 1;
	return 1;
}

/* native__builtin_slow - n->op of the current frame, whose function is in R_FunTab.  0. */
WALK_FN int native__builtin_slow(struct native *n, struct walk *w)
{
	__u64 top = n->bc_top, stack = 0, object;
	__u32 pp_top = n->pp_top, i;

	n->op = 0;
	w->lenient = 1;
	if (!top && w->row.bc_top_at && walk__load(w, READ_GLOBAL, &top, 8, w->row.bc_top_at))
		top = 0;
	if (top && !walk__load(w, READ_OBJECT, n->cell, 3 * NATIVE_NODE, top - 3 * NATIVE_NODE)) {
		object = (__u32)n->cell[4] ? 0 : n->cell[5];
		if (!(__u32)n->cell[0] && native__op(n, w, n->cell[1]))
			goto done;
		if (native__op(n, w, object))
			goto done;
	}
	if (!n->bc_top &&
	    (!w->row.pp_top_at || walk__load(w, READ_GLOBAL, &pp_top, 4, w->row.pp_top_at)))
		goto done;
	if (!w->row.pp_at || walk__load(w, READ_GLOBAL, &stack, 8, w->row.pp_at))
		goto done;
	for (i = 1; i <= NATIVE_PROTECTED; i++) {
		if (i > pp_top ||
		    walk__load(w, READ_OBJECT, &object, 8, stack + 8 * ((__u64)pp_top - i)))
			break;
		if (native__op(n, w, object))
			break;
	}
done:
	w->lenient = 0;
	return 0;
}

/* --- the steps --- */

/* native__at_hand - make the frame of n->unwind.pc the current one. */
WALK_FN void native__at_hand(struct native *n)
{
	n->end = (__u32)unwind__frame(&n->unwind);
	if (n->end) /* it is the last, and owns nothing */
		n->unwind.cfa = n->unwind.sp;
	merge__frame(&n->merge, n->unwind.sp, n->unwind.cfa);
}

/* native__key - where the context read last is, for the merge; 0: not known. */
WALK_FN __u64 native__key(const struct native *n, const struct walk *w)
{
	return walk__key(w, n->sp, n->unwind.top);
}

/* native__context - read the next context outward, for the merge.  As walk__context_at(). */
WALK_FN int native__context(struct native *n, struct walk *w)
{
	int err = walk__context_at(w);

	if (err == WALK_DONE) {
		merge__no_context(&n->merge);
		return 0;
	}
	if (!err)
		merge__context(&n->merge, native__key(n, w));
	return err;
}

/* native__clear - no frame, for a sample that ended before native__begin() or begins with it. */
WALK_FN void native__clear(struct native *n, __u32 end)
{
	n->unknown = 0;
	n->map_stamp = 0;
	n->frames = 0;
	n->end = end;
	n->resynced = 0;
	n->builtins = 0;
	n->named = 0;
	n->guard_known = 0;
	n->bc_top = 0;
	n->pp_top = 0;
	n->op = 0;
	merge__begin(&n->merge);
}

/*
 * native__begin - after walk__begin(), at the registers of the thread.  0: go on; or as
 * walk__step().
 */
WALK_FN int native__begin(struct native *n, struct walk *w, __u64 pc, __u64 sp, __u64 fp, __u64 lr)
{
	native__clear(n, 0);
	n->sp = sp;
	unwind__begin(&n->unwind, pc, sp, fp, lr);
	native__at_hand(n);
	return native__context(n, w);
}

/* native__tell - emit the current frame. */
WALK_FN int native__tell(struct native *n, struct walk *w)
{
	__u32 flags = n->flags;
	__u64 word = n->pc & XR_WORD_MASK, more = 0, form = XR_FORM_NATIVE;

	if (merge__owns(&n->merge))
		flags |= XR_NATIVE_OWNS;
	if (n->unwind.exact)
		flags |= XR_NATIVE_EXACT;
	if (!n->end && n->unwind.rule.flags & XR_RULE_SIGNAL)
		flags |= XR_NATIVE_SIGNAL;
	if (n->module) {
		word = (__u32)(n->pc - n->base);
		more = (__u64)(n->module & XR_NATIVE_MODULES_MAX) << 32 | n->begin;
	}
	n->op = 0;
	if (flags & XR_NATIVE_BUILTIN && !(flags & XR_NATIVE_OWNS) && w->row.fun_tab) {
		native__builtin(n);
		n->builtins++;
	}
	if (n->op) {
		n->named++;
		form = XR_FORM_BUILTIN;
		word |= (__u64)(n->op - 1) << 32;
	}
	n->frames++;
	return walk__emit(w, form << XR_FORM_SHIFT | word, (__u64)flags << 56 | more);
}

/* native__outward - from the current frame to its caller, if there is one. */
WALK_FN void native__outward(struct native *n)
{
	if (!n->end && n->frames >= XR_NATIVE_MAX)
		n->end = NATIVE_FULL;
	if (!n->end)
		n->end = (__u32)unwind__caller(&n->unwind);
	if (n->end)
		merge__no_frame(&n->merge);
	else
		native__at_hand(n);
}

#ifdef NATIVE_RESYNC
/*
 * native__resync_slow - where unwinding came to an end before it should, the context read last may
 * know the registers of its frame: closures and eval() call setjmp(), and the buffer is in the
 * context (Defn.h, cjmpbuf).  glibc mangles three of them
 * (sysdeps/unix/sysv/linux/x86_64/pointer_guard.h); musl does not.  Taken if it fits: the context
 * is in that frame, and code of R made it.  1: that frame is the current one now; 0.
 */
#define NATIVE_JMP_BUF 16 /* offset in a context, in all releases */

/* Of the guard, from the thread pointer: tcbhead_t.pointer_guard (sysdeps/x86_64/nptl/tls.h). */
#define NATIVE_GUARD_OFFSET 0x30

WALK_FN __u64 native__demangle(__u64 word, __u64 guard)
{
	return (word >> 17 | word << 47) ^ guard;
}

WALK_FN int native__resync_slow(struct native *n, struct walk *w)
{
	__u64 fp = walk__field(w, NATIVE_JMP_BUF + 8), sp = walk__field(w, NATIVE_JMP_BUF + 48);
	__u64 pc = walk__field(w, NATIVE_JMP_BUF + 56), before = n->unwind.sp;
	const __u64 key = native__key(n, w);
	__u32 end = n->end;

	if (key != w->at || !(w->flag & R_CTXT_FUNCTION))
		return 0;
	if (!n->guard_known) {
		if (native__guard(n))
			n->guard = 0;
		n->guard_known = 1;
	}
	if (n->guard) {
		fp = native__demangle(fp, n->guard);
		sp = native__demangle(sp, n->guard);
		pc = native__demangle(pc, n->guard);
	}
	if (sp <= before || sp > key || sp & 7 || key - sp > 65536)
		return 0;
	unwind__begin(&n->unwind, pc, sp, fp, 0);
	n->unwind.exact = 0;
	native__at_hand(n);
	if (!n->end && n->flags & XR_NATIVE_R && key < n->unwind.cfa) {
		n->resynced++;
		return 1;
	}
	n->unwind.sp = before;
	n->end = end;
	merge__no_frame(&n->merge);
	return 0;
}

#endif

/*
 * native__frame_slow - no context is next: emit the current frame, or go on to its caller and emit
 * that if it is next.  0, or -enum xr_error.
 */
WALK_FN int native__frame_slow(struct native *n, struct walk *w)
{
	int next = merge__next(&n->merge);

	if (next == MERGE_UNWIND) {
		native__outward(n);
		next = merge__next(&n->merge);
	}
	return next == MERGE_FRAME ? native__tell(n, w) : 0;
}

/*
 * native__step - emit the next frame of either stack, or go on to it.
 * 0: call again; WALK_DONE; WALK_CUT; or -enum xr_error.
 */
WALK_FN int native__step(struct native *n, struct walk *w)
{
	const int next = merge__is_next(&n->merge);
	int err;

	if (next == MERGE_DONE)
		return WALK_DONE;
	if (next == MERGE_UNWIND || next == MERGE_FRAME) {
		w->budget.work++;
		return walk__over(w) ? WALK_CUT : native__frame(n);
	}
	if (next == MERGE_DEAD)
		n->merge.dead++;
#ifdef NATIVE_RESYNC
	if (next == MERGE_REST && n->end > UNWIND_OUTERMOST && n->end < UNWIND_ENDS &&
	    native__resync(n))
		return 0;
#endif
	n->bc_top = w->row.layout.nodestack ? walk__field(w, w->row.layout.nodestack) : 0;
	n->pp_top = w->row.layout.cstacktop ? walk__field32(w, w->row.layout.cstacktop) : 0;
	if (w->row.flags & XR_ROW_LEAF && w->flag & R_CTXT_FUNCTION) {
		merge__no_frame(&n->merge);
		n->end = NATIVE_ENOUGH;
	}
	err = walk__tell(w);
	if (err == WALK_DONE) {
		merge__no_context(&n->merge);
		return 0;
	}
	return err ? err : native__context(n, w);
}

/* native__cut - are there native frames further out that could not be had? */
WALK_FN int native__cut(const struct native *n)
{
	return n->end != UNWIND_OUTERMOST && n->end != NATIVE_ENOUGH;
}

/* native__count - the stack is complete: add what became of it to @counts (enum xr_counter). */
WALK_FN void native__count(const struct native *n, __u64 *counts)
{
	counts[XR_NATIVE_FRAMES] += n->frames;
	counts[XR_BUILTINS] += n->builtins;
	counts[XR_BUILTINS_NAMED] += n->named;
	counts[XR_DEAD_CONTEXTS] += n->merge.dead;
	counts[XR_KEYS_DESCENDED] += n->merge.descended;
	counts[XR_RESYNCED] += n->resynced != 0;
	if (!native__cut(n))
		counts[XR_UNWOUND]++;
	else if (n->end == UNWIND_NO_TABLE)
		counts[XR_UNWIND_NO_TABLE]++;
	else if (n->end == UNWIND_NO_RULE)
		counts[XR_UNWIND_NO_RULE]++;
	else if (n->end == NATIVE_FULL)
		counts[XR_UNWIND_FULL]++;
	else
		counts[XR_UNWIND_BAD]++;
}

#endif
