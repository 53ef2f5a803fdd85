/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind rule at one address, from what libdw reads in .eh_frame.
 *
 * Facts: DWARF 5, 6.4 (call frame information); the ELF ABI supplements of x86_64 and of the Arm
 * 64-bit architecture (numbers of registers); elfutils, libdw.h (dwarf_frame_cfa,
 * dwarf_frame_register: how a rule becomes an expression).
 */
#ifndef XR_TARGET_LINUX_UNWIND_RULE_H
#define XR_TARGET_LINUX_UNWIND_RULE_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "unwind.h"

/*
 * rule__read - the rule at address @pc of a file of @machine (EM_X86_64, EM_AARCH64), and where the
 * next one begins.  XR_CFA_NONE if the unwinder cannot follow what the file says.
 *
 * Returns 0; -ENOENT if no function is at @pc, or its instructions are damaged; -ENOMEM.
 */
int rule__read(Dwarf_CFI *cfi, uint16_t machine, uint64_t pc, struct xr_unwind_rule *rule,
	       uint64_t *end);

#endif
