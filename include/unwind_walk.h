/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a native frame to its caller, written once, as the walk of contexts is (walk.h): for the
 * kernel, the engine that reads from outside, and the tests.
 *
 *	unwind__begin(u, pc, sp, fp, lr);
 *	while (!(err = unwind__frame(u))) {	the frame of u->pc owns [u->sp, u->cfa)
 *		...
 *		err = unwind__caller(u);
 *	}
 *
 * The includer defines WALK_FN before this file, and the hooks below.  A step reads at most
 * three times, and there is no state but struct unwind.  The stack pointer ascends but out of the
 * frame of a signal: how many frames there may be is the caller's to limit.
 */
#ifndef XR_UNWIND_WALK_H
#define XR_UNWIND_WALK_H

#include "unwind.h"

/* What a step returns besides 0: why there is no further frame. */
enum unwind_end {
	UNWIND_OUTERMOST = 1, /* it has no caller, as its table says */
	UNWIND_NO_TABLE,      /* nothing is known of the code at pc */
	UNWIND_NO_RULE,	      /* its table says what is not followed */
	UNWIND_BAD_STACK,     /* the frame does not lie on the stack above the one before */
	UNWIND_UNREADABLE,    /* the stack could not be read */
	UNWIND_ENDS
};

/*
 * Compilers save registers right below the return address, the frame pointer among the first of
 * them: so much is read at once.  A power of two.
 */
#define UNWIND_SAVED_WORDS 8u

struct unwind {
	__u64 pc, sp, fp, lr; /* of the frame; lr: arm64, of the innermost and after a signal */
	__u64 cfa;	      /* after unwind__frame: where the frame ends */
	__u64 top;	      /* the stack ends here; 0: not known */
	__u64 pc_mask;	      /* bits of a return address that are the address (arm64: PAC) */
	__u32 exact;	      /* pc is that of an instruction, not a return address */
	__u32 frames;	      /* gone through before this one */
	__u64 saved[UNWIND_SAVED_WORDS]; /* what was read of the end of a frame */
	struct xr_unwind_rule rule;	 /* after unwind__frame: its */
};

/* Copy @words words of 8 bytes at @addr of the target to @dst.  0, or negative: not readable. */
WALK_FN int unwind__read(struct unwind *u, __u64 *dst, __u32 words, __u64 addr);

/* The rule that holds at @pc, to u->rule.  0, or negative: there is no table. */
WALK_FN int unwind__rule(struct unwind *u, __u64 pc);

/* unwind__begin - at the registers of a thread; the caller fills top and pc_mask. */
WALK_FN void unwind__begin(struct unwind *u, __u64 pc, __u64 sp, __u64 fp, __u64 lr)
{
	u->pc = pc;
	u->sp = sp;
	u->fp = fp;
	u->lr = lr;
	u->cfa = sp;
	u->exact = 1;
	u->frames = 0;
}

/* unwind__cfa - where the frame ends, by its rule. */
WALK_FN int unwind__cfa(struct unwind *u)
{
	const __u64 off = (__u64)(__s64)u->rule.cfa_off;

	switch (u->rule.cfa) {
	case XR_CFA_END:
		return UNWIND_OUTERMOST;
	case XR_CFA_SP:
		u->cfa = u->sp + off;
		return 0;
	case XR_CFA_FP:
		u->cfa = u->fp + off;
		return 0;
	case XR_CFA_FP_DEREF:
		return unwind__read(u, &u->cfa, 1, u->fp + off) ? UNWIND_UNREADABLE : 0;
	case XR_CFA_SP_DEREF:
		return unwind__read(u, &u->cfa, 1, u->sp + off) ? UNWIND_UNREADABLE : 0;
	case XR_CFA_PLT:
		u->cfa = u->sp + off;
		if ((u->pc & 15) >= ((__u32)u->rule.ra_off & 15))
			u->cfa += 8;
		return 0;
	default:
		return UNWIND_NO_RULE;
	}
}

/*
 * unwind__find - the rule of the frame at u->pc.  0, or negative: there is none.
 *
 * A return address may be the first of the next function, when a call that does not return was the
 * last instruction: so the one before it is looked up.  So it is where the last instruction is a
 * system call and the kernel is in it: the return of a signal handler (__restore_rt of glibc,
 * sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c; __kernel_rt_sigreturn of arm64's vdso).
 */
WALK_FN int unwind__find(struct unwind *u)
{
	if (!u->exact)
		return unwind__rule(u, u->pc - 1);
	if (!unwind__rule(u, u->pc))
		return 0;
	if (!unwind__rule(u, u->pc - 1) && u->rule.flags & XR_RULE_SIGNAL) {
		u->exact = 0;
		return 0;
	}
	return unwind__rule(u, u->pc);
}

/*
 * unwind__frame - the rule and the end of the frame at u->pc.  0, or enum unwind_end: there is no
 * such frame, and u->cfa is what it was.
 */
WALK_FN int unwind__frame(struct unwind *u)
{
	const __u64 before = u->cfa;
	int end;

	if (unwind__find(u))
		return UNWIND_NO_TABLE;
	end = unwind__cfa(u);
	/* a leaf of arm64 that has no frame ends where it begins */
	if (!end && !(u->rule.flags & XR_RULE_SIGNAL) &&
	    (u->cfa < u->sp || (u->cfa == u->sp && u->rule.ra != XR_SAVED_SAME) || u->cfa & 7 ||
	     (u->top && u->cfa > u->top)))
		end = UNWIND_BAD_STACK;
	if (end)
		u->cfa = before;
	return end;
}

/* unwind__saved - where a register that was saved by way of @how is. */
WALK_FN __u64 unwind__saved(const struct unwind *u, __u32 how, __s32 off)
{
	const __u64 base = how == XR_SAVED_CFA ? u->cfa : how == XR_SAVED_SP ? u->sp : u->fp;

	return base + (__u64)(__s64)off;
}

/* unwind__read_both - the words at @first and @second to @words.  0, or negative. */
WALK_FN int unwind__read_both(struct unwind *u, __u64 *words, __u64 first, __u64 second)
{
	const __u64 from = second - 8 * (UNWIND_SAVED_WORDS - 1), at = (first - from) / 8;

	if (at < UNWIND_SAVED_WORDS && !((first - second) & 7) &&
	    !unwind__read(u, u->saved, UNWIND_SAVED_WORDS, from)) {
		words[0] = u->saved[at & (UNWIND_SAVED_WORDS - 1)];
		words[1] = u->saved[UNWIND_SAVED_WORDS - 1];
		return 0;
	}
	return unwind__read(u, &words[0], 1, first) || unwind__read(u, &words[1], 1, second) ? -1
											     : 0;
}

/*
 * unwind__caller - go from the frame that unwind__frame looked at to its caller.  0, or
 * enum unwind_end.
 */
WALK_FN int unwind__caller(struct unwind *u)
{
	const struct xr_unwind_rule *rule = &u->rule;
	const __u32 plt = rule->cfa == XR_CFA_PLT;
	const __u32 ra = plt ? XR_SAVED_CFA : rule->ra;
	__u64 ra_at = unwind__saved(u, ra, plt ? -8 : rule->ra_off);
	__u64 fp_at = unwind__saved(u, rule->fp, rule->fp_off);
	__u64 words[2] = {u->fp, u->lr};

	if (ra == XR_SAVED_LOST)
		return UNWIND_NO_RULE;
	/* the link register holds the caller of what called nothing yet only */
	if (ra == XR_SAVED_SAME && (!u->exact || !u->lr))
		return UNWIND_NO_RULE;
	if (rule->fp == XR_SAVED_LOST)
		words[0] = 0;
	if (ra != XR_SAVED_SAME && rule->fp <= XR_SAVED_FP && rule->fp != XR_SAVED_SAME) {
		if (unwind__read_both(u, words, fp_at, ra_at))
			return UNWIND_UNREADABLE;
	} else {
		if (ra != XR_SAVED_SAME && unwind__read(u, &words[1], 1, ra_at))
			return UNWIND_UNREADABLE;
		if (rule->fp != XR_SAVED_SAME && rule->fp != XR_SAVED_LOST &&
		    unwind__read(u, &words[0], 1, fp_at))
			return UNWIND_UNREADABLE;
	}
	u->pc = words[1] & u->pc_mask;
	u->fp = words[0];
	u->sp = u->cfa;
	u->exact = rule->flags & XR_RULE_SIGNAL;
	u->lr = 0;
	u->frames++;
	return u->pc ? 0 : UNWIND_OUTERMOST;
}

#endif
