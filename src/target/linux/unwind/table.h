/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind table of one module, from its .eh_frame. */
#ifndef XR_TARGET_LINUX_UNWIND_TABLE_H
#define XR_TARGET_LINUX_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "unwind.h"

#define UNWIND_ROWS_MAX (1u << 21) /* of one module: 16 MiB; libLLVM has half as many */

/*
 * Rows ascend by pc.  A function's rows are next to each other, the first with `back` 0.  Behind a
 * function that no other follows at once is a row of rule 0, XR_CFA_NONE, which is also the last
 * row of a table.
 */
struct unwind_table {
	uint64_t base; /* what pc 0 is as the file counts addresses */
	struct xr_unwind_row *rows;
	uint32_t nrows;
	struct xr_unwind_rule *rules;
	uint32_t nrules;
};

/*
 * unwind_table__of_elf - make the table of the file @fd, which stays the caller's.
 * unwind_table__of_image - of @size bytes of an ELF file in memory (the vdso).
 *
 * Functions come from PT_GNU_EH_FRAME, the table for searching; those beyond 4 GiB are left out.
 * On arm64 .plt has rows, and, if the file has no such table (the vdso), so have exported functions
 * without a frame.
 *
 * Returns 0; -ENOENT if the file has no .eh_frame; -EBADMSG if it has not one function; -E2BIG;
 * -ENOMEM.  @f may be NULL.
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
