/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as the bytes of a file, in memory: for who has an aggregate and sends it, or has
 * somebody else write it.  No file and no other process is involved.
 *
 * All of it, as `record` writes it:
 *
 *	err = encode__profile(&out, format, &config, a, stats);
 *
 * A server takes only so much at a time, and wants it by service.  For each service that is to be
 * sent (aggregate__processes has all processes, process__label their labels):
 *
 *	struct profile_part part = {
 *		.rows = 16000, .size = 4 << 20, .depth = 1000, .wants = is_of_service, .arg = name};
 *
 *	while ((err = encode__next(&out, format, &config, a, stats, &part, &done)) > 0) {
 *		send(out.data, out.len, done.samples);
 *		out.len = 0;
 *	}
 */
#ifndef XR_OUTPUT_ENCODE_H
#define XR_OUTPUT_ENCODE_H

#include "output/writer.h"
#include "profile/attributes.h"

/*
 * A part of an aggregate: the rows of some processes, at most so many of them, their stacks no
 * deeper than so.  All that is 0 or NULL sets no limit.
 */
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

/*
 * encode__profile - append @a to @out, as much of it as @config says (`part`).  @stats may be NULL.
 * 0; -ENOTSUP: the format is not given whole profiles, or cannot write a part; -EMSGSIZE: it would
 * be more than `part` allows; -ENOMEM.  After an error @out is as it was.
 */
int encode__profile(struct buf *out, const struct writer_ops *format,
		    const struct writer_config *config, const struct aggregate *a,
		    const struct stats *stats);

/* What encode__next encoded. */
struct encoded {
	size_t rows;
	uint64_t samples;  /* in them */
	uint64_t left_out; /* samples of rows before them that were too large by themselves */
};

/*
 * encode__next - append as many rows of @part as its limits let, from `first` on, and set `first`
 * to where the next call goes on.  @config's own part is not used.  1: @done says what there is; 0:
 * there was nothing more, but @done may have some left out; negative as of encode__profile, but not
 * -EMSGSIZE.
 */
int encode__next(struct buf *out, const struct writer_ops *format,
		 const struct writer_config *config, const struct aggregate *a,
		 const struct stats *stats, struct profile_part *part, struct encoded *done);

#endif
