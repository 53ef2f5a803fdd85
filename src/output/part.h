/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A part of an aggregate, for what takes no more than that: the rows of some processes, so many of
 * them, their stacks no deeper than so.
 */
#ifndef XR_OUTPUT_PART_H
#define XR_OUTPUT_PART_H

#include "profile/aggregate.h"
#include "profile/attributes.h"

/* All that is 0 or NULL sets no limit. */
struct profile_part {
	size_t first; /* index of the row to begin with */
	size_t rows;  /* so many at most, of those that are wanted */
	size_t size;  /* bytes of what they are encoded to, at most (encode.h) */
	/*
	 * Frames of a stack: of a deeper one those further out are left out, and the last that is
	 * there is <truncated>.
	 */
	uint32_t depth;
	/* Are the rows of process @p wanted? */
	bool (*wants)(const void *arg, const struct profile_process *p);
	const void *arg;
};

/* The rows of a part, one after another; @part NULL: of all. */
struct part_rows {
	const struct aggregate *a;
	const struct profile_part *part;
	size_t next;	  /* index of the row that is looked at next */
	size_t taken;	  /* rows so far, */
	uint64_t samples; /* and samples in them, as row__samples counts */
};

/* part__rows - before the first. */
struct part_rows part__rows(const struct aggregate *a, const struct profile_part *part);

/* part__next - the next row; NULL: there is none, and `next` is where another part may begin. */
const struct aggregate_row *part__next(struct part_rows *rows);

/* part__wants - may there be rows of process @p in it? */
bool part__wants(const struct profile_part *part, const struct profile_process *p);

/*
 * part__frames - how many frames of a stack of @nframes are in it; if that is less, the last of
 * them is to be mark_truncated in place of what is there.
 */
uint32_t part__frames(const struct profile_part *part, uint32_t nframes);

/* row__samples - what a row counts: one that stands for several ticks is that many. */
static inline uint64_t row__samples(const struct aggregate_row *row)
{
	return row->type ? row->samples : row->value;
}

/* A text, or a number. */
struct attribute_value {
	const char *text;
	uint64_t number;
};

/* row__value - the value of an attribute of samples; false: it is another one, or not known. */
bool row__value(const struct attribute *a, const struct aggregate_row *row,
		struct attribute_value *value);

#endif
