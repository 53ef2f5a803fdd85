/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where R has its option `xrprof.labels` (labels_walk.h): found from outside, without R's help.
 *
 * R's table of symbols is an array of lists, to which a variable points that R does not export
 * (names.c, R 3.0 to 4.6).  So R's variables are searched for a pointer to such an array.  What is
 * found must have several known symbols in the lists of their hashes.
 */
#ifndef XR_TARGET_LABELS_H
#define XR_TARGET_LABELS_H

#include <stdint.h>

#include "base/mem_reader.h"
#include "layout.h"

/* R's table of symbols: the array, and its length. */
struct symbol_table {
	uint64_t at;
	uint32_t size; /* 0: not found */
};

/*
 * symbol_table__try - does the variable at @variable point to the table of the R of @row?  Fill
 * @table.  0; -ENOENT: it does not.
 */
int symbol_table__try(const struct xr_row *row, const struct mem_reader *m, uint64_t variable,
		      struct symbol_table *table);

/*
 * symbol_table__search - the same for all variables in [@from, @to), of which at most some MiB are
 * read; *@variable is the right one.
 */
int symbol_table__search(const struct xr_row *row, const struct mem_reader *m, uint64_t from,
			 uint64_t to, uint64_t *variable, struct symbol_table *table);

/*
 * symbol_table__labels - fill labels_at and labels_tag of @row; 0, if there is no symbol
 * `xrprof.labels`. One read in that case, else some for each option.  0; -EFAULT: the options
 * cannot be read, or there are too many.
 */
int symbol_table__labels(struct xr_row *row, const struct mem_reader *m,
			 const struct symbol_table *table);

#endif
