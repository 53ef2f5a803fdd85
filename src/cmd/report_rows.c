/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the stacks of a profile come to, by function, line or package. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "cmd/report.h"
#include "profile/fold.h"

#define UNKNOWN "<unknown>"

struct label_key {
	const char *text;
	size_t len;
};

static bool row__same(const void *record, const void *arg)
{
	const struct report_row *row = record;
	const struct label_key *key = arg;

	return row->len == key->len && !memcmp(row->label, key->text, key->len);
}

static uint64_t label__hash(const char *text, size_t len)
{
	return map__hash(map__hash_bytes(text, len), len);
}

/* What the row of @frame is called. */
static int frame__label(struct buf *b, const struct frame *frame, enum report_by by)
{
	int err;

	b->len = 0;
	if (by == REPORT_PACKAGES && frame->kind != FRAME_MARK)
		return frame->package ? buf__add(b, frame->package->safe, frame->package->safe_len)
				      : buf__str(b, UNKNOWN);
	err = writer__label(b, frame, WRITER_SAFE);
	if (err || by != REPORT_LINES || !frame->place.file)
		return err;
	err = buf__str(b, " (");
	err = err ? err : buf__add(b, frame->place.file->safe, frame->place.file->safe_len);
	return err ? err : buf__printf(b, ":%d)", (int32_t)frame->place.line);
}

/* The row of these bytes, made if it is new; NULL: no memory. */
static struct report_row *rows__get(struct report_rows *rows, const char *text, size_t len)
{
	const struct label_key key = {text, len};
	uint64_t hash = label__hash(text, len);
	struct report_row *row = table__find(&rows->table, hash, row__same, &key);

	if (row)
		return row;
	row = arena__alloc(&rows->arena, sizeof(*row) + len + 1);
	if (!row)
		return NULL;
	*row = (struct report_row){.hash = hash, .len = len};
	memcpy(row->label, text, len);
	row->label[len] = '\0';
	return table__add(&rows->table, row) ? NULL : row;
}

/* The rows of frames, which are few where stacks are many. */
struct frame_rows {
	struct report_rows *rows;
	enum report_by by;
	struct map map; /* (address of a frame, 0) to its row */
	struct buf label;
};

static struct report_row *frame__row(struct frame_rows *f, const struct frame *frame)
{
	struct report_row *row = map__get(&f->map, (uintptr_t)frame, 0);

	if (row)
		return row;
	if (frame__label(&f->label, frame, f->by))
		return NULL;
	row = rows__get(f->rows, f->label.data ? f->label.data : "", f->label.len);
	return row && !map__put(&f->map, (uintptr_t)frame, 0, row) ? row : NULL;
}

/* Count @value for the stack number @stamp; @self: its innermost frame is this one. */
static int frame__count(struct frame_rows *f, const struct frame *frame, uint64_t value,
			size_t stamp, bool self)
{
	struct report_row *row = frame__row(f, frame);

	if (!row)
		return -ENOMEM;
	if (self)
		row->self += value;
	if (row->stamp != stamp)
		row->total += value;
	row->stamp = stamp;
	return 0;
}

/*
 * Of a function that called itself only the innermost call counts: is @frame, of the stack number
 * @stamp, another one?  Negative: -ENOMEM.
 */
static int frame__is_again(struct frame_rows *functions, const struct frame *frame, size_t stamp)
{
	struct report_row *row;
	bool again;

	if (!functions || !fold__recurs(frame))
		return 0;
	row = frame__row(functions, frame);
	if (!row)
		return -ENOMEM;
	again = row->stamp == stamp;
	row->stamp = stamp;
	return again;
}

static int stack__count(struct frame_rows *f, struct frame_rows *functions,
			const struct aggregate_row *of, size_t stamp)
{
	const struct stack *stack = of->stack;
	uint64_t value = of->value;
	int err = 0;

	for (uint32_t i = 0; i < stack->nframes && !err; i++) {
		int again = frame__is_again(functions, stack->frames[i], stamp);

		if (again <= 0)
			err = again ? again : frame__count(f, stack->frames[i], value, stamp, !i);
	}
	if (!err && stack__is_toplevel(stack))
		err = frame__count(f, &mark_toplevel, value, stamp, !stack->nframes);
	f->rows->samples += value;
	return err;
}

int report_rows__make(struct report_rows *rows, const struct aggregate *a, const struct report *r,
		      uint32_t type)
{
	struct report_rows met = {0};
	struct frame_rows functions = {.rows = &met, .by = REPORT_FUNCTIONS};
	struct frame_rows f = {.rows = rows, .by = report__by(r)};
	const bool merge = r->recursion && r->lines;
	const struct aggregate_row *of;
	int err = 0;
	size_t n;

	of = aggregate__rows(a, &n);
	for (size_t i = 0; i < n && !err; i++)
		if (of[i].type == type)
			err = stack__count(&f, merge ? &functions : NULL, &of[i], i + 1);
	map__free(&functions.map);
	buf__free(&functions.label);
	report_rows__free(&met);
	map__free(&f.map);
	buf__free(&f.label);
	if (!err && rows->table.count) {
		rows->rows = calloc(rows->table.count, sizeof(*rows->rows));
		err = rows->rows ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < rows->table.cap && !err; i++)
		if (rows->table.records[i])
			rows->rows[rows->n++] = rows->table.records[i];
	return err;
}

const struct report_row *report_rows__find(const struct report_rows *rows,
					   const struct report_row *like)
{
	const struct label_key key = {like->label, like->len};

	return table__find(&rows->table, like->hash, row__same, &key);
}

void report_rows__free(struct report_rows *rows)
{
	free(rows->rows);
	table__free(&rows->table);
	arena__free(&rows->arena);
	*rows = (struct report_rows){0};
}
