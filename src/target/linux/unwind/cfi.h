/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What .eh_frame says, as rows: each function's program of call frame instructions is run once, and
 * tells where one rule ends and the next begins.
 *
 * Facts: DWARF 5, 6.4 (call frame information); Linux Standard Base, Core, 10.6 (.eh_frame, its
 * augmentations and encodings of pointers); the ELF ABI supplements of x86_64 and of the Arm 64-bit
 * architecture (numbers of registers).
 */
#ifndef XR_TARGET_LINUX_UNWIND_CFI_H
#define XR_TARGET_LINUX_UNWIND_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "unwind.h"

#define CFI_LEAVES 32u /* that are told of a file */

struct cfi_leaf {
	uint64_t begin, end;
};

struct cfi_input {
	const uint8_t *bytes; /* of .eh_frame; borrowed */
	size_t size;
	uint64_t address; /* where the file says they are */
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	/* of .plt likewise, which has no entry in .eh_frame on arm64; NULL: there is none */
	const uint8_t *plt;
	size_t plt_size;
	uint64_t plt_address;
	/* functions without a frame, of a file of arm64 that has no .eh_frame (leaf.h) */
	struct cfi_leaf leaf[CFI_LEAVES];
	uint32_t nleaves;
};

/* Called for each function, then for its rows in ascending order; other than 0 ends it. */
struct cfi_sink {
	int (*function)(void *arg, uint64_t begin, uint64_t end);
	int (*row)(void *arg, uint64_t pc, const struct xr_unwind_rule *rule);
	void *arg;
};

/* What was met. */
struct cfi_counts {
	uint32_t functions;
	uint32_t damaged; /* FDEs that were passed over, or ended early, for they make no sense */
	uint32_t other_register; /* rows whose CFA is in a register that is not followed, */
	uint32_t expression;	 /* or an expression that is not known, */
	uint32_t too_far;	 /* or an offset too large for a rule: XR_CFA_NONE */
};

/*
 * cfi__parse - all functions of @in, in the order in which they come.  What is damaged is counted
 * and passed over; the rows before it hold.  Returns 0, what @sink returned, or -EBADMSG: the
 * lengths of the entries lead out of the section; the functions before were told.
 */
int cfi__parse(const struct cfi_input *in, const struct cfi_sink *sink, struct cfi_counts *counts);

#endif
