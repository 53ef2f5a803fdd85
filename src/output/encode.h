/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encode an aggregate into memory.  The whole profile, as `record` writes it:
 *
 *	err = encode__profile(&out, format, &config, a, stats);
 *
 * A server limits the size of a request, and wants one service in it.  For each service
 * (aggregate__processes has all processes, process__label their labels):
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

/* A part of an aggregate.  What is 0 or NULL sets no limit. */
struct profile_part {
	size_t first; /* index of the row to begin with */
	size_t rows;  /* limit of wanted rows */
	size_t size;  /* limit of encoded bytes */
	/*
	 * Limit of the frames of a stack.  A deeper one has its innermost frames, and <truncated>
	 * as the last one.
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
	size_t next;	  /* index of the next row to check */
	size_t taken;	  /* rows so far */
	uint64_t samples; /* in them, as row__samples counts */
};

/* part__rows - begin before the first row. */
struct part_rows part__rows(const struct aggregate *a, const struct profile_part *part);

/* part__next - the next row; NULL: no more, and another part may begin at `next`. */
const struct aggregate_row *part__next(struct part_rows *rows);

/* part__wants - may it have rows of process @p? */
bool part__wants(const struct profile_part *part, const struct profile_process *p);

/*
 * part__frames - how many frames of a stack of @nframes it has.  If fewer, the writer replaces the
 * last of them by mark_truncated.
 */
uint32_t part__frames(const struct profile_part *part, uint32_t nframes);

/* row__samples - samples of a row: one that stands for several ticks counts as that many. */
static inline uint64_t row__samples(const struct aggregate_row *row)
{
	return row->type ? row->samples : row->value;
}

/* What an aggregate keeps for a format with all attributes of samples: an initializer. */
/* clang-format off */
#define KEEPS_ATTRIBUTES \
	{.labels = XR_F_WAIT, .threads = true, .details = true, .calls = true, .given = true}
/* clang-format on */

/*
 * row__value - the value of an attribute of samples, or of the outermost of its calls; false: it is
 * another one, or not known.
 */
bool row__value(const struct attribute *a, const struct profile_about *about,
		const struct aggregate_row *row, struct attribute_value *value);

/*
 * encode__profile - append @a to @out, as much of it as @config says (`part`).  @stats may be NULL.
 * 0; -ENOTSUP: the format has no `profile`, or cannot write a part; -EMSGSIZE: the part is larger
 * than its limit; -ENOMEM.  After an error @out is as it was.
 */
int encode__profile(struct buf *out, const struct writer_ops *format,
		    const struct writer_config *config, const struct aggregate *a,
		    const struct stats *stats);

/* What encode__next encoded. */
struct encoded {
	size_t rows;
	uint64_t samples;  /* in them */
	uint64_t left_out; /* samples of rows before them that are too large even alone */
};

/*
 * encode__next - append as many rows of @part as fit into its limits, from `first` on, and set
 * `first` for the next call.  The part of @config is ignored.  1: @done counts what was appended;
 * 0: no more rows, but @done may count some that were left out; negative as of encode__profile,
 * except -EMSGSIZE.
 */
int encode__next(struct buf *out, const struct writer_ops *format,
		 const struct writer_config *config, const struct aggregate *a,
		 const struct stats *stats, struct profile_part *part, struct encoded *done);

#endif
