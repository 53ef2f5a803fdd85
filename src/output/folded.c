/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks, what flamegraph.pl, speedscope and many others read: one line a stack, frames
 * joined by `;`, outermost first, then a space and how often it was seen.
 *
 *   R-4711;main (script.R:20);work (script.R:12);<GC> 17
 *
 * Root: `comm-pid` when several processes share the output.  `<toplevel>` stands for a stack
 * without R functions, `<GC>` is innermost while the collector runs, `<truncated>` outermost
 * where frames were cut.
 *
 * With lines, `(file:line)` is the place being executed in that frame: of the innermost, the
 * place of the sample; of any other, the place where it called the next one in.  (Rprof() puts the
 * place of the call after the name of the one called; its reader has to shift them as is done
 * here.)  Where a frame's place is not known it stands alone.
 *
 * Equal stacks are added up between two flushes only, so memory is bounded and `| tee` follows
 * along; readers of the format add up equal lines themselves.  A `;` in a name becomes \x3b; the
 * rest is escaped as in the rprof format, so that the two agree.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "layout.h"
#include "profile/names.h"
#include "output/writer.h"

#define FOLDED_ENOUGH (1u << 20) /* bytes of stacks after which they are written unasked */

/* A stack seen since the last flush. */
struct folded_row {
	size_t at, len; /* in writer.text */
	uint64_t count;
	size_t next; /* index + 1 of the next row of the same hash, 0: none */
};

struct writer {
	struct output *out;
	bool lines, gc, roots;
	struct buf text; /* the rows' stacks, and after them the one being made */
	struct folded_row *rows;
	size_t nrows, cap;
	struct map index; /* (hash, length) to index + 1 of the newest row, as a pointer */
};

static int folded__open(struct writer **out, struct output *output,
			const struct writer_config *config)
{
	struct writer *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return -ENOMEM;
	w->out = output;
	w->lines = config->capture & XR_ROW_LINES;
	w->gc = config->capture & XR_ROW_GC;
	w->roots = config->roots;
	return 0;
}

static int folded__flush(struct writer *w)
{
	int err = 0;

	for (size_t i = 0; i < w->nrows && !err; i++) {
		const struct folded_row *r = &w->rows[i];

		err = output__write(w->out, w->text.data + r->at, r->len);
		if (!err)
			err = output__printf(w->out, " %" PRIu64, r->count);
		if (!err)
			err = output__end_line(w->out);
	}
	w->nrows = 0;
	w->text.len = 0;
	map__free(&w->index);
	return err;
}

/* Add a frame to the stack that begins at @start. */
static int folded__frame(struct writer *w, size_t start, const char *name, const char *file,
			 uint32_t line)
{
	int err = 0;

	if (w->text.len > start)
		err = buf__str(&w->text, ";");
	if (!err)
		err = name__escape(&w->text, name, "\";");
	if (err || !w->lines || !file)
		return err;
	err = buf__str(&w->text, " (");
	if (!err)
		err = name__escape(&w->text, file, ";");
	return err ? err : buf__printf(&w->text, ":%d)", (int32_t)line);
}

/* Add frame number @i of @s (0: innermost) as @name, with the place being executed in it. */
static int folded__place(struct writer *w, size_t start, const char *name, const struct sample *s,
			 uint32_t i)
{
	if (!i)
		return folded__frame(w, start, name, s->file, s->line);
	return folded__frame(w, start, name, s->frames[i - 1].file, s->frames[i - 1].line);
}

static int folded__root(struct writer *w, size_t start, const struct profile_process *p)
{
	struct buf name = {0};
	int err;

	err = buf__printf(&name, "%s-%" PRIu32, p->comm && *p->comm ? p->comm : "unknown", p->pid);
	if (!err)
		err = buf__add(&name, "", 1);
	if (!err)
		err = folded__frame(w, start, name.data, NULL, 0);
	buf__free(&name);
	return err;
}

/* Count the stack that begins at @start for @count; a new one keeps its place in text. */
static int folded__count(struct writer *w, size_t start, uint64_t count)
{
	const char *stack = w->text.data + start;
	size_t len = w->text.len - start;
	uint64_t hash = map__hash_bytes(stack, len);
	size_t first = (size_t)(uintptr_t)map__get(&w->index, hash, len);

	for (size_t i = first; i; i = w->rows[i - 1].next) {
		struct folded_row *r = &w->rows[i - 1];

		if (memcmp(w->text.data + r->at, stack, len))
			continue;
		r->count += count;
		w->text.len = start;
		return 0;
	}
	if (w->nrows == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 64;
		struct folded_row *rows = realloc(w->rows, (size_t)cap * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		w->rows = rows;
		w->cap = cap;
	}
	if (map__put(&w->index, hash, len, (void *)(uintptr_t)(w->nrows + 1)))
		return -ENOMEM;
	w->rows[w->nrows++] = (struct folded_row){start, len, count, first};
	return 0;
}

static int folded__sample(struct writer *w, const struct profile_process *p, const struct sample *s)
{
	size_t start = w->text.len;
	int err = 0;

	if (w->roots)
		err = folded__root(w, start, p);
	if (!err && s->flags & XR_F_TRUNCATED)
		err = folded__place(w, start, "<truncated>", s, s->nframes);
	if (!err && !s->nframes)
		err = folded__place(w, start, "<toplevel>", s, 0);
	for (uint32_t i = s->nframes; i > 0 && !err; i--)
		err = folded__place(w, start, s->frames[i - 1].name, s, i - 1);
	if (!err && w->gc && s->flags & XR_F_GC)
		err = folded__frame(w, start, "<GC>", NULL, 0);
	if (!err)
		err = folded__count(w, start, s->weight);
	if (err)
		w->text.len = start;
	else if (w->text.len > FOLDED_ENOUGH)
		err = folded__flush(w);
	return err;
}

static int folded__close(struct writer *w)
{
	int err;

	if (!w)
		return 0;
	err = folded__flush(w);
	buf__free(&w->text);
	free(w->rows);
	free(w);
	return err;
}

const struct writer_ops writer_folded = {
	.name = "folded",
	.help = "one line a stack, `outer;inner count`, for flamegraph.pl and the like",
	.open = folded__open,
	.sample = folded__sample,
	.flush = folded__flush,
	.close = folded__close,
};
