/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A PE image (a Windows program or DLL) as it lies in the memory of a process: what it exports, and
 * which R it is.  Facts: "PE Format", learn.microsoft.com/windows/win32/debug/pe-format.
 *
 * The memory may be made up by somebody hostile, or change while it is read: every address is
 * checked, all work is bounded.  Nothing here depends on the operating system.
 */
#ifndef XR_TARGET_PE_H
#define XR_TARGET_PE_H

#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "base/mem_reader.h"

#define PE_SECTIONS 96u /* what the Windows loader allows */

#define PE_MACHINE_I386	 0x014cu
#define PE_MACHINE_AMD64 0x8664u
#define PE_MACHINE_ARM64 0xaa64u

/* Addresses are relative to the image's base ("RVA"). */
struct pe_range {
	uint32_t at, size;
};

struct pe_section {
	struct pe_range range;
	uint32_t flags; /* IMAGE_SCN_* */
};

struct pe {
	struct mem_reader memory;
	uint64_t base;
	uint32_t size; /* of the image in memory, bytes */
	uint16_t machine;
	uint32_t nsections;
	struct pe_section sections[PE_SECTIONS];
	struct pe_range exports, resources; /* size 0: there are none */
};

/* A variable to look for; value is its address in the process, 0: not there. */
struct pe_symbol {
	const char *name; /* at most PE_NAME_MAX bytes */
	uint64_t value;
};

#define PE_NAME_MAX 127u

/*
 * pe__open - read the headers of the image at @base.
 * @name: for messages
 *
 * -EBADMSG: there is no such image, or it is damaged; -ENOTSUP: not for x86_64; or the reader's
 * error.  Owns nothing.
 */
int pe__open(struct pe *pe, const struct mem_reader *memory, uint64_t base, const char *name,
	     struct errmsg *f);

/*
 * pe__symbols - look up the @n variables of @want in the export table.  Only what lies in a
 * writable section counts, and what is not forwarded to another DLL.  Returns how many were found,
 * or -EBADMSG, or the reader's error.
 */
int pe__symbols(const struct pe *pe, struct pe_symbol *want, size_t n);

/*
 * pe__version - R's version, as "4.2.2": from the version resource, where
 * src/gnuwin32/dllversion.rc puts it as `R Version`; or else from the constants (r_version.h).
 *
 * Returns 0, or -ENOENT and an empty @version; -ENOMEM.
 */
int pe__version(const struct pe *pe, char version[16]);

#endif
