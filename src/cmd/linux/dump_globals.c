/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_show.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "cmd/value_text.h"
#include "os/os.h"

#define OBJECTS_MAX 20000000u
#define SECONDS_MAX 60u

int dump_globals__read(const struct mem_reader *reader, const struct xr_row *row,
		       uint64_t namespaces, struct globals *g)
{
	const struct globals_limits limits = {
		.objects = OBJECTS_MAX, .ns = SECONDS_MAX * NS_PER_S, .now = os__now};

	return globals__find(reader, row, namespaces, &limits, g);
}

static int row__text(struct buf *b, const struct global_row *r, uint64_t whole)
{
	char size[VALUE_TEXT], type[128];
	struct buf escaped = {0};
	int err;

	snprintf(type, sizeof(type), "%s%s%s%s", r->type, *r->class ? " (" : "", r->class,
		 *r->class ? ")" : "");
	value__text(size, PROFILE_BYTES, r->bytes);
	err = dump_show__escaped(&escaped, type);
	err = err ? err : buf__add(&escaped, "", 1);
	if (!err)
		err = buf__printf(b, "    %10s  %5.1f %%  %11" PRIu64 "  %-22s  ", size,
				  100.0 * (double)r->bytes / (double)whole, r->length,
				  escaped.data);
	err = err ? err : dump_show__escaped(b, r->path);
	buf__free(&escaped);
	return err ? err : buf__str(b, "\n");
}

int dump_globals__text(struct buf *b, const struct globals *g, const char *how)
{
	char size[VALUE_TEXT];
	int err;

	value__text(size, PROFILE_BYTES, g->bytes);
	err = buf__printf(b, "  %s in %" PRIu64 " %s, %s\n", size, g->objects,
			  count__word(g->objects, "object", "objects"), how);
	if (!err && g->n)
		err = buf__printf(b, "    %10s  %7s  %11s  %-22s  %s\n", "size", "share", "length",
				  "type", "path");
	for (size_t i = 0; i < g->n && !err; i++)
		err = row__text(b, &g->rows[i], g->bytes);
	if (!err && g->unreadable)
		err = buf__printf(
			b, "    ... %" PRIu64 " %s, completely or in part, could not be read\n",
			g->unreadable, count__word(g->unreadable, "object", "objects"));
	if (!err && g->stopped)
		err = buf__printf(b,
				  "    ... and others: the limit of %s was reached (%u objects, "
				  "%u s)\n",
				  g->stopped, OBJECTS_MAX, SECONDS_MAX);
	return err;
}

void dump_globals__json(struct json *j, const struct globals *g)
{
	json__array(j, "objects");
	for (size_t i = 0; i < g->n; i++) {
		json__object(j, NULL);
		json__str(j, "path", g->rows[i].path);
		json__str(j, "type", g->rows[i].type);
		json__str(j, "class", *g->rows[i].class ? g->rows[i].class : NULL);
		json__u64(j, "length", g->rows[i].length);
		json__u64(j, "bytes", g->rows[i].bytes);
		json__close(j);
	}
	json__close(j);
	json__object(j, "objects_all");
	json__u64(j, "bytes", g->bytes);
	json__u64(j, "count", g->objects);
	json__u64(j, "unreadable", g->unreadable);
	json__str(j, "stopped", g->stopped);
	json__close(j);
}
