/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ELF file that holds R: its symbols, where it is loaded, and which R it is.  The file may be
 * damaged or made up by somebody hostile: every length is checked, all work is bounded.
 */
#ifndef XR_TARGET_LINUX_ELF_H
#define XR_TARGET_LINUX_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"

#define TARGET_ELF_SEGMENTS 16u /* PT_LOADs; linkers make four or five */

struct elf_file {
	int fd; /* borrowed */
	Elf *elf;
	uint64_t size;	  /* of the file, bytes */
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	uint32_t segments;
	GElf_Phdr segment[TARGET_ELF_SEGMENTS]; /* the PT_LOADs, checked against the file */
};

/* A variable to look for; value and size are from the symbol table, value 0: not there. */
struct target_symbol {
	const char *name;
	uint64_t value;
	uint64_t size;
};

/*
 * elf_file__open - check the file @fd, a regular file that the caller keeps open.
 * @name: for messages
 *
 * -EBADMSG: damaged, or no ELF file; -ENOTSUP: not 64-bit, or for a machine that is not supported;
 * -ENOMEM.  After success the caller calls elf_file__close().
 */
int elf_file__open(struct elf_file *e, int fd, const char *name, struct errmsg *f);
void elf_file__close(struct elf_file *e);

/*
 * elf_file__symbols - look up the @n variables of @want, in .dynsym and then, if @all, for those
 * still missing in .symtab.
 *
 * Only what is defined here, is data, and lies in a writable segment counts.  Returns how many
 * were found, or -EBADMSG.
 */
int elf_file__symbols(struct elf_file *e, struct target_symbol *want, size_t n, bool all);

/*
 * elf_file__bias - what to add to the file's addresses, given that its bytes from @offset on
 * are mapped executable at @start.  -EBADMSG: no executable segment is there.
 */
int elf_file__bias(const struct elf_file *e, uint64_t start, uint64_t offset, uint64_t *bias);

/*
 * elf_file__version - R's version from the file's constants (r_version.h).
 *
 * Returns 0, or -ENOENT and an empty @version.
 */
int elf_file__version(const struct elf_file *e, char version[16]);

#endif
