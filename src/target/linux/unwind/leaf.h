/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of arm64 that have no frame: where nothing tells how to unwind code (the kernel's vdso
 * has no .eh_frame there), the code itself does.
 */
#ifndef XR_TARGET_LINUX_UNWIND_LEAF_H
#define XR_TARGET_LINUX_UNWIND_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * leaf__is - do the @size bytes of instructions at @code leave the stack pointer, the frame pointer
 * and the link register as they were, from the first to the last?  Then their caller's are these,
 * at each of them.  False also where that is not certain.
 */
bool leaf__is(const uint8_t *code, size_t size);

#endif
