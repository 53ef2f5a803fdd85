/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which separate debug file belongs to an ELF file (GDB's conventions, "Separate Debug Files"). */
#ifndef XR_TARGET_LINUX_HIDDEN_DEBUG_FILE_H
#define XR_TARGET_LINUX_HIDDEN_DEBUG_FILE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_FILE_BUILD_ID_MAX 64u

/* debug_file__build_id - the build id of @elf, its length; 0: none. */
size_t debug_file__build_id(Elf *elf, uint8_t id[DEBUG_FILE_BUILD_ID_MAX]);

/*
 * debug_file__same - is @debug the debug file of @elf? By the build id; where @elf has none, by
 * the CRC in its .gnu_debuglink. Returns 0 or -ESTALE.
 */
int debug_file__same(Elf *elf, Elf *debug);

#endif
