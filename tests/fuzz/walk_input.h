/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The input of the targets that walk: how the memory behaves, the process' row, and then the
 * memory's bytes.  With FUZZ_STREAM these are what the walk reads, one read after the other:
 * recorded images are such inputs (seeds.c).
 */
#ifndef XR_FUZZ_WALK_INPUT_H
#define XR_FUZZ_WALK_INPUT_H

#include "fuzz.h"
#include "layout.h"
#include "target/layouts.h"

struct walk_input {
	uint8_t how;	 /* FUZZ_STREAM, FUZZ_CHANGES */
	uint8_t looks;	 /* for the target to use */
	uint16_t layout; /* the row of the table of layouts */
	uint32_t flags;	 /* XR_ROW_LINES, ... */
	struct xr_row row;
};

#define WALK_INPUT_FLAGS (XR_CAPTURE | XR_ROW_BC)

/* walk_input__take - the row, with a layout of the table; the rest of @in is the memory. */
FUZZ_FN void walk_input__take(struct input *in, struct walk_input *w, struct fuzz_memory *m)
{
	const struct layouts_row *table;
	size_t count;

	input__take(in, w, sizeof(*w));
	table = layouts__table(&count);
	w->row.layout = table[w->layout % count].layout;
	w->row.flags = w->flags & WALK_INPUT_FLAGS;
	w->row.serial = 1;
	*m = (struct fuzz_memory){.in = *in, .how = w->how};
}

#endif
