/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables as the unwinder uses them, in the kernel and from outside: what DWARF's call frame
 * information (.eh_frame) of one module says, as far as it takes to go from a frame to its caller.
 * Three registers are followed: the program counter, the stack pointer, and the frame pointer (rbp,
 * x29), if a rule says that it is one; on arm64 the link register, too, for the innermost
 * frame.
 *
 * A table is rows sorted by address, each with the number of a rule; a few hundred rules serve the
 * tens of thousands of rows of a large library.
 */
#ifndef XR_UNWIND_H
#define XR_UNWIND_H

#include "abi.h"

/*
 * From `pc` up to that of the next row `rule` holds.  `back` is how many rows before this one the
 * function (FDE) begins, XR_ROW_FAR: more than fit.
 */
struct xr_unwind_row {
	__u32 pc; /* bytes from the first address of the module's file */
	__u16 rule;
	__u16 back;
};

#define XR_ROW_BACK	0x7fffu /* bits of `back` that are the number */
#define XR_ROW_FAR	0x7fffu
#define XR_ROW_BUILTIN	0x8000u /* the function is in R_FunTab */
#define XR_UNWIND_RULES 65535u	/* of one module, at most */

/* Where the canonical frame address is: the stack pointer as it was before the call. */
enum xr_cfa {
	XR_CFA_NONE,	 /* nothing is known of this code */
	XR_CFA_END,	 /* it has no caller: the return address is undefined */
	XR_CFA_SP,	 /* sp + cfa_off */
	XR_CFA_FP,	 /* fp + cfa_off */
	XR_CFA_FP_DEREF, /* what is at fp + cfa_off (x86_64, a stack that was realigned) */
	XR_CFA_SP_DEREF, /* what is at sp + cfa_off (the frame of a signal) */
	XR_CFA_PLT,	 /* sp + cfa_off, and 8 more when (pc & 15) >= ra_extra (x86_64) */
	XR_CFAS
};

/* Where a register of the caller is. */
enum xr_saved {
	XR_SAVED_SAME, /* it was not changed; the return address: in the link register (arm64) */
	XR_SAVED_CFA,  /* at cfa + off */
	XR_SAVED_SP,   /* at sp + off (the frame of a signal) */
	XR_SAVED_FP,   /* at fp + off (x86_64, with XR_CFA_FP_DEREF) */
	XR_SAVED_LOST, /* not told, or not in a way that is followed */
	XR_SAVEDS
};

#define XR_RULE_SIGNAL 0x1u /* of a signal: the caller's pc is where it was interrupted */

struct xr_unwind_rule {
	__u8 cfa; /* enum xr_cfa */
	__u8 fp;  /* enum xr_saved */
	__u8 ra;  /* enum xr_saved */
	__u8 flags;
	__s32 cfa_off;
	__s32 fp_off;
	__s32 ra_off; /* XR_CFA_PLT: low byte: ra_extra; the return address is at cfa - 8 */
};

_Static_assert(sizeof(struct xr_unwind_row) == 8, "xr_unwind_row");
_Static_assert(sizeof(struct xr_unwind_rule) == 16, "xr_unwind_rule");

#endif
