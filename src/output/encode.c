/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/encode.h"

#include <errno.h>

#include "os/os.h"

struct part_rows part__rows(const struct aggregate *a, const struct profile_part *part)
{
	return (struct part_rows){.a = a, .part = part, .next = part ? part->first : 0};
}

bool part__wants(const struct profile_part *part, const struct profile_process *p)
{
	return !part || !part->wants || part->wants(part->arg, p);
}

const struct aggregate_row *part__next(struct part_rows *rows)
{
	const struct profile_part *part = rows->part;
	const struct aggregate_row *all, *row;
	size_t n;

	all = aggregate__rows(rows->a, &n);
	while (rows->next < n) {
		row = &all[rows->next];
		if (part__wants(part, aggregate__process(rows->a, row->process))) {
			if (part && part->rows && rows->taken == part->rows)
				return NULL;
			rows->taken++;
			rows->samples += row__samples(row);
			rows->next++;
			return row;
		}
		rows->next++;
	}
	return NULL;
}

uint32_t part__frames(const struct profile_part *part, uint32_t nframes)
{
	return part && part->depth && nframes > part->depth ? part->depth : nframes;
}

bool row__value(const struct attribute *a, const struct profile_about *about,
		const struct aggregate_row *row, struct attribute_value *value)
{
	const struct profile_call *call = row->call;

	while (call && call->outer)
		call = call->outer;
	if (call && a->of == ATTRIBUTE_CALL)
		return call__value(a, about, call, value);
	*value = (struct attribute_value){NULL, 0};
	if (a->of == ATTRIBUTE_THREAD)
		value->number = row->tid;
	else if (a->of == ATTRIBUTE_STATE && row__waited(row))
		value->text = wait__state(row->labels);
	else if (a->of == ATTRIBUTE_SYSCALL && row__waited(row) && row->detail)
		value->text = os__syscall(row->detail - 1);
	return value->text || value->number;
}

int encode__profile(struct buf *out, const struct writer_ops *format,
		    const struct writer_config *config, const struct aggregate *a,
		    const struct stats *stats)
{
	struct output *to;
	size_t len = out->len;
	int err, closed;

	if (!format->profile || (config->part && !format->parts))
		return -ENOTSUP;
	err = output__memory(&to, out, config->part ? config->part->size : 0);
	if (err)
		return err;
	err = format->profile(to, config, a, stats);
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
