/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/part.h"

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

bool row__value(const struct attribute *a, const struct aggregate_row *row,
		struct attribute_value *value)
{
	*value = (struct attribute_value){NULL, 0};
	if (a->of == ATTRIBUTE_THREAD)
		value->number = row->tid;
	else if (a->of == ATTRIBUTE_STATE && row__waited(row))
		value->text = wait__state(row->labels);
	else if (a->of == ATTRIBUTE_SYSCALL && row__waited(row) && row->detail)
		value->text = os__syscall(row->detail - 1);
	return value->text || value->number;
}
