/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ELF file that holds R: its symbols, where it is loaded, and which R it is.  The file may be
 * damaged or made up by somebody hostile: every length is checked, all work is bounded.
 */
#ifndef XR_TARGET_ELF_H
#define XR_TARGET_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

#define TARGET_ELF_SEGMENTS 16u /* PT_LOADs; linkers make four or five */

struct target_elf {
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
 * target_elf__open - check the file @fd, a regular file that the caller keeps open.
 * @name: for messages
 *
 * -EBADMSG: damaged, or no ELF file; -ENOTSUP: not 64-bit, or for a machine that is not supported;
 * -ENOMEM.  After success the caller calls target_elf__close().
 */
int target_elf__open(struct target_elf *e, int fd, const char *name, struct fault *f);
void target_elf__close(struct target_elf *e);

/*
 * target_elf__symbols - look up the @n variables of @want, in .dynsym and then, if @all, for those
 * still missing in .symtab.
 *
 * Only what is defined here, is data, and lies in a writable segment counts.  Returns how many
 * were found, or -EBADMSG.
 */
int target_elf__symbols(struct target_elf *e, struct target_symbol *want, size_t n, bool all);

/*
 * target_elf__bias - what to add to the file's addresses, given that its bytes from @offset on
 * are mapped executable at @start.  -EBADMSG: no executable segment is there.
 */
int target_elf__bias(const struct target_elf *e, uint64_t start, uint64_t offset, uint64_t *bias);

/*
 * target_elf__version - R's version from the file's constants (r_version.h).
 *
 * Returns 0, or -ENOENT and an empty @version.
 */
int target_elf__version(const struct target_elf *e, char version[16]);

#endif
