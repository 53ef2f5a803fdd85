/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What files say of how they were made. */
#include <string.h>

#include "base/escape.h"
#include "profile/read_parts.h"

/* Keep @text in @to if all files so far have said it; one that is too long is not kept. */
static const char *made__text(struct reader *reader, char *to, size_t size,
			      const struct read_text *text)
{
	struct buf *name = &reader->name;
	const bool first = reader->types->made.files == 1;

	name->len = 0;
	if (escape__undo(name, text->text, text->len) || name->len >= size ||
	    (name->len && memchr(name->data, '\0', name->len)))
		name->len = 0;
	if (first && name->len)
		memcpy(to, name->data, name->len);
	if (first)
		to[name->len] = '\0';
	else if (strlen(to) != name->len || memcmp(to, name->data ? name->data : "", name->len))
		*to = '\0';
	return *to ? to : NULL;
}

/* Keep a gap in place of the shortest one. */
static void made__gap(struct read_made *made, uint64_t from, uint64_t to)
{
	struct read_gap *least = made->gaps;

	for (struct read_gap *g = made->gaps; g < made->gaps + READ_GAPS; g++)
		if (g->to - g->from < least->to - least->from)
			least = g;
	if (to > from && to - from > least->to - least->from)
		*least = (struct read_gap){from, to};
}

/* How much of the gaps a span fills. */
static uint64_t made__fill(struct read_made *made, uint64_t began, uint64_t end)
{
	uint64_t filled = 0;

	for (struct read_gap *g = made->gaps; g < made->gaps + READ_GAPS; g++) {
		const struct read_gap old = *g;
		const uint64_t from = began > old.from ? began : old.from;
		const uint64_t to = end < old.to ? end : old.to;

		if (from >= to)
			continue;
		filled += to - from;
		g->to = from;
		made__gap(made, to, old.to);
	}
	return filled;
}

/* The file's time is one more span of @made: spans come in any order, and may overlap. */
static void made__time(struct read_made *made, uint64_t began, uint64_t duration)
{
	const uint64_t end = began + duration;
	const bool known = made->files == 1 || made->duration_ns;

	if (!known || !began || !duration || end < began) {
		made->began = made->end = made->duration_ns = 0;
		return;
	}
	if (made->files == 1) {
		made->began = began;
		made->end = end;
		made->duration_ns = duration;
		return;
	}
	made__gap(made, made->end, began);
	made__gap(made, end, made->began);
	made->duration_ns += made__fill(made, began, end);
	if (began < made->began)
		made->duration_ns += (end < made->began ? end : made->began) - began;
	if (end > made->end)
		made->duration_ns += end - (began > made->end ? began : made->end);
	made->began = began < made->began ? began : made->began;
	made->end = end > made->end ? end : made->end;
}

void reading__made(struct reading *r, const struct read_says_made *says)
{
	struct reader *reader = r->reader;
	struct read_made *made = &reader->types->made;
	struct profile_about *about = &reader->types->about;
	const char *command;

	made->files++;
	command = made__text(reader, made->command, sizeof(made->command), &says->command);
	about->command = command ? command : reader->config.command;
	about->host = made__text(reader, made->host, sizeof(made->host), &says->host);
	about->engine = made__text(reader, made->engine, sizeof(made->engine), &says->engine);
	about->event = made__text(reader, made->event, sizeof(made->event), &says->event);
	made__text(reader, made->series, sizeof(made->series), &says->series);
	made__time(made, r->result->began, r->result->duration_ns);
	about->began_real = made->began;
	made->lost += says->lost;
	made->truncated += says->truncated;
	made->unreadable += says->unreadable;
}
