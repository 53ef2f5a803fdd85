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
