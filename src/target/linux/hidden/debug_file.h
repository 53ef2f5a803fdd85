/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which separate debug file belongs to an ELF file (GDB's conventions, "Separate Debug Files"). */
#ifndef XR_TARGET_LINUX_HIDDEN_DEBUG_FILE_H
#define XR_TARGET_LINUX_HIDDEN_DEBUG_FILE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEBUG_FILE_BUILD_ID_MAX 64u

/* debug_file__build_id - the build id of @elf, its length; 0: none. */
size_t debug_file__build_id(Elf *elf, uint8_t id[DEBUG_FILE_BUILD_ID_MAX]);

/*
 * debug_file__same - is @debug the debug file of @elf? By the build id; where @elf has none, by
 * the CRC in its .gnu_debuglink. Returns 0 or -ESTALE.
 */
int debug_file__same(Elf *elf, Elf *debug);

/*
 * debug_file__name - the paths where the debug file of @elf may be, without a root directory.
 * @dir: directory of @elf's file in the target's view ("/usr/lib/R/lib")
 * @n: 0, 1, ... : which of them
 * @buf: gets a path that begins with '/', to be opened below the target's root
 *
 * Returns 0; -ENOENT when there is no further candidate; -ENAMETOOLONG (try the next).
 */
int debug_file__name(Elf *elf, const char *dir, unsigned int n, char *buf, size_t size);

/*
 * debug_file__next - open the next of these that is there and belongs to @elf of the file @of,
 * which is @path of process @pid; *@n is which of them, and starts as 0.  It must be owned by root
 * or by the owner of @of: a user decides what lies at any path of a mount namespace of theirs.  Its
 * program headers are those of @elf, and may be past the end of the file.  The caller ends it with
 * elf_end(), and then closes *@fd.  NULL: there is no more.
 */
Elf *debug_file__next(Elf *elf, int of, pid_t pid, const char *path, unsigned int *n, int *fd);

#endif
