/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/timeline.h"

static int timeline__rows(struct timeline *t, uint32_t row)
{
	const size_t before = t->rows;

	if (array__room(&t->last, row, &t->rows, sizeof(*t->last)))
		return -ENOMEM;
	memset(t->last + before, 0, (t->rows - before) * sizeof(*t->last));
	return 0;
}

/* There is room for the entry, or none was needed. */
static void timeline__count(struct timeline *t, uint32_t span, uint32_t row, uint64_t value)
{
	struct timeline_entry *e;

	if (t->last[row]) {
		e = &t->entries[t->last[row] - 1];
		if (e->span == span) {
			e->value += value;
			return;
		}
	}
	t->entries[t->n++] = (struct timeline_entry){.span = span, .row = row, .value = value};
	t->last[row] = (uint32_t)t->n;
}

/* Each two spans become one. */
static void timeline__widen(struct timeline *t)
{
	size_t n = t->n;

	t->width *= 2;
	t->n = 0;
	if (t->rows)
		memset(t->last, 0, t->rows * sizeof(*t->last));
	for (size_t i = 0; i < n; i++) {
		struct timeline_entry e = t->entries[i];

		timeline__count(t, e.span / 2, e.row, e.value);
	}
}

/* From here on there is a span for @time; *@time: as early as the first. */
static void timeline__reach(struct timeline *t, uint64_t *time)
{
	if (!t->width) {
		t->begin = *time;
		t->width = t->least ? t->least : TIMELINE_WIDTH;
	}
	if (*time < t->begin)
		*time = t->begin;
	while ((*time - t->begin) / t->width >= TIMELINE_SPANS)
		timeline__widen(t);
}

int timeline__add(struct timeline *t, uint32_t row, uint64_t time, uint64_t value)
{
	int err;

	err = timeline__rows(t, row);
	if (!err)
		err = array__room(&t->entries, t->n, &t->cap, sizeof(*t->entries));
	if (err)
		return err;
	timeline__reach(t, &time);
	timeline__count(t, (uint32_t)((time - t->begin) / t->width), row, value);
	/* with one span there is one entry for each row */
	while (t->n > TIMELINE_ENTRIES && t->n > t->rows && timeline__spans(t) > 1)
		timeline__widen(t);
	return 0;
}

int timeline__spread(struct timeline *t, uint32_t row, uint64_t begin, uint64_t end, uint64_t value)
{
	uint64_t given = 0, at, next, piece;
	int err = 0;

	if (begin >= end || (t->width && end <= t->begin))
		return timeline__add(t, row, end, value);
	timeline__reach(t, &begin);
	timeline__reach(t, &end);
	piece = (end - begin) / TIMELINE_PIECES;
	piece = piece > t->width ? piece : t->width;
	for (at = begin; at < end && !err; at = next) {
		uint64_t until = value;

		next = end - at > piece ? at + piece : end;
		if (next < end)
			until = (uint64_t)((double)value * (double)(next - begin) /
					   (double)(end - begin));
		if (until > value)
			until = value;
		if (until > given)
			err = timeline__add(t, row, at + (next - at) / 2, until - given);
		given = until > given ? until : given;
	}
	return err;
}

uint32_t timeline__spans(const struct timeline *t)
{
	uint32_t spans = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->entries[i].span >= spans)
			spans = t->entries[i].span + 1;
	return spans;
}

void timeline__free(struct timeline *t)
{
	free(t->entries);
	free(t->last);
	*t = (struct timeline){0};
}
