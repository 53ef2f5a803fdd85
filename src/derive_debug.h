/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which separate debug file belongs to an ELF file (GDB's conventions, "Separate Debug Files"). */
#ifndef XR_DERIVE_DEBUG_H
#define XR_DERIVE_DEBUG_H

#include <libelf.h>

/*
 * derive_debug__same - is @debug the debug file of @elf? By the build id; where @elf has none, by
 * the CRC in its .gnu_debuglink. Returns 0 or -ESTALE.
 */
int derive_debug__same(Elf *elf, Elf *debug);

#endif
