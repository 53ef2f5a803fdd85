/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind table of one module, of its .eh_frame. */
#ifndef XR_TARGET_LINUX_UNWIND_TABLE_H
#define XR_TARGET_LINUX_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "target/linux/unwind/cfi.h"

#define UNWIND_ROWS_MAX (1u << 21) /* of one module: 16 MiB; libLLVM has half as many */

/*
 * Rows ascend by pc.  A function's rows stand together, the first with `back` 0; where no function
 * follows one at once there is a row of rule 0, XR_CFA_NONE, which is also a table's last.
 */
struct unwind_table {
	uint64_t base; /* what pc 0 is as the file counts addresses */
	struct xr_unwind_row *rows;
	uint32_t nrows;
	struct xr_unwind_rule *rules;
	uint32_t nrules;
	struct cfi_counts counts;
};

/*
 * unwind_table__make - of the bytes of .eh_frame; code is at most the 4 GiB from @base on, and
 * other functions are left out.  Where two functions overlap the one that begins later counts, of
 * those that begin together the first.
 *
 * -EBADMSG: not one function; -E2BIG: too many rows or rules; -ENOMEM.
 */
int unwind_table__make(struct unwind_table **out, const struct cfi_input *in, uint64_t base);

/*
 * unwind_table__of_elf - of the file @fd, which stays the caller's; unwind_table__of_image - of
 * @size bytes of an ELF file in memory (the vdso).  Where there is no section .eh_frame it is found
 * by PT_GNU_EH_FRAME; where a file of arm64 has none at all (the vdso) exported functions without a
 * frame have rows.  -ENOENT: there is nothing; otherwise as unwind_table__make; @f may be NULL.
 */
int unwind_table__of_elf(struct unwind_table **out, int fd, struct errmsg *f);
int unwind_table__of_image(struct unwind_table **out, const void *image, size_t size,
			   struct errmsg *f);

/* unwind_table__find - the row that holds at @address of the file, or NULL. */
const struct xr_unwind_row *unwind_table__find(const struct unwind_table *t, uint64_t address);

/* unwind_table__function - where the function at @address begins and ends, if there is one. */
bool unwind_table__function(const struct unwind_table *t, uint64_t address, uint64_t *begin,
			    uint64_t *end);

void unwind_table__free(struct unwind_table *t); /* NULL is allowed */

#endif
