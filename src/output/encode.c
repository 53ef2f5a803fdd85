/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/encode.h"

#include <errno.h>

int encode__profile(struct buf *out, const struct writer_ops *format,
		    const struct writer_config *config, const struct aggregate *a,
		    const struct stats *stats)
{
	struct output *to;
	struct writer *w;
	size_t len = out->len;
	int err, closed;

	if (!format->profile || (config->part && !format->parts))
		return -ENOTSUP;
	err = output__memory(&to, out, config->part ? config->part->size : 0);
	if (err)
		return err;
	err = format->open(&w, to, config);
	if (!err) {
		err = format->profile(w, a, stats);
		closed = format->close(w);
		err = err ? err : closed;
	}
	closed = output__close(to, NULL);
	err = closed ? closed : err;
	if (err)
		out->len = len;
	return err;
}

/* The rows that @part has from `first` on. */
static struct part_rows part__all(const struct aggregate *a, const struct profile_part *part)
{
	struct part_rows rows = part__rows(a, part);

	while (part__next(&rows))
		;
	return rows;
}

int encode__next(struct buf *out, const struct writer_ops *format,
		 const struct writer_config *config, const struct aggregate *a,
		 const struct stats *stats, struct profile_part *part, struct encoded *done)
{
	struct profile_part now = *part;
	struct writer_config with = *config;
	struct part_rows rows;
	int err;

	*done = (struct encoded){0};
	with.part = &now;
	for (;;) {
		rows = part__all(a, &now);
		if (!rows.taken) {
			part->first = rows.next;
			return 0;
		}
		err = encode__profile(out, format, &with, a, stats);
		if (err != -EMSGSIZE)
			break;
		if (rows.taken > 1) {
			now.rows = rows.taken / 2;
			continue;
		}
		/* nothing can be made of this one */
		done->left_out += rows.samples;
		now.first = rows.next;
		now.rows = part->rows;
	}
	if (err)
		return err;
	part->first = rows.next;
	done->rows = rows.taken;
	done->samples = rows.samples;
	return 1;
}
