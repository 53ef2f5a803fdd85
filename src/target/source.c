/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/source.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/page_cache.h"
#include "values/locals.h"

#define LINES_MAX (1u << 20)
#define LINE_MAX  (64u << 20)
#define READS_MAX (8u * LINES_MAX)

/* The variables of a srcfile that are read. */
enum { FILENAME, WD, TIMESTAMP, LINES, ORIGINAL, VARIABLES };

struct srcfile {
	struct object value[VARIABLES]; /* type HEAP_NIL: there is none */
};

static int srcfile__read(struct heap *h, uint64_t env, struct srcfile *f)
{
	static const char *const names[] = {
		[FILENAME] = "filename", [WD] = "wd", [TIMESTAMP] = "timestamp", [LINES] = "lines",
		[ORIGINAL] = "original",
	};
	struct object o;

	if (!heap__object(h, env, &o) || o.type != HEAP_ENVIRONMENT ||
	    !value__inherits(h, &o, "srcfile"))
		return h->err ? h->err : -EILSEQ;
	for (unsigned int i = 0; i < VARIABLES; i++)
		if (!locals__find(h, env, names[i], &f->value[i]))
			f->value[i] = (struct object){0};
	return h->err;
}

/* What stands behind the variable @o, a vector of @type. */
static int source__vector(struct heap *h, const struct object *o, unsigned int type,
			  struct object *vector)
{
	*vector = *o;
	return o->type == type && heap__plain(h, vector) ? 0 : h->err ? h->err : -EILSEQ;
}

/* Append the bytes of element @i of the character vector @o, at most @max, as they are. */
static int source__string(struct heap *h, const struct object *o, uint64_t i, struct buf *to,
			  size_t max)
{
	struct object chars;
	uint64_t at;
	char some[4096];
	size_t n;
	int err = 0;

	if (!heap__word(h, o, i, &at) || !heap__object(h, at, &chars) || chars.type != HEAP_CHAR)
		return h->err ? h->err : -EILSEQ;
	if (chars.length > max)
		return -E2BIG;
	for (at += h->vector_data; chars.length && !err; chars.length -= n, at += n) {
		n = chars.length < sizeof(some) ? chars.length : sizeof(some);
		if (!heap__read(h, at, some, n))
			return h->err;
		err = memchr(some, '\0', n) ? -EILSEQ : buf__add(to, some, n);
	}
	return err;
}

/* Lines, as they come: all of them, or those of a file that was put together with others. */
struct taking {
	struct buf *text;
	size_t max;
	const struct buf *part; /* the name of that file; NULL: all */
	bool on;
	uint64_t next; /* the number of the line that comes, of that file */
};

/* `#line 12 "R/a.R"`: its number, and the file; 0: it is not such a line. */
static uint64_t line__directive(const char *line, size_t len, const char **file, size_t *file_len)
{
	static const char begin[] = "#line ";
	size_t at = sizeof(begin) - 1;
	uint64_t number = 0;

	if (len < at || memcmp(line, begin, at) != 0)
		return 0;
	for (; at < len && line[at] >= '0' && line[at] <= '9' && number < LINES_MAX; at++)
		number = number * 10 + (uint64_t)(line[at] - '0');
	if (at + 3 > len || line[at] != ' ' || line[at + 1] != '"' || line[len - 1] != '"')
		return 0;
	*file = line + at + 2;
	*file_len = len - 1 - (at + 2);
	return number;
}

static int taking__line(struct taking *t, const char *line, size_t len)
{
	const char *file;
	size_t file_len;
	uint64_t number = t->part ? line__directive(line, len, &file, &file_len) : 0;
	int err = 0;

	if (number) {
		t->on = file_len == t->part->len && !memcmp(file, t->part->data, file_len);
		for (; t->on && t->next < number && !err; t->next++)
			err = t->text->len < t->max ? buf__add(t->text, "\n", 1) : -E2BIG;
		return err;
	}
	if (t->part && !t->on)
		return 0;
	t->next++;
	if (t->text->len + len + 1 > t->max)
		return -E2BIG;
	if (len)
		err = buf__add(t->text, line, len);
	return err ? err : buf__add(t->text, "\n", 1);
}

static int source__lines(struct heap *h, const struct object *variable, struct taking *t)
{
	struct object lines;
	struct buf line = {0};
	int err = source__vector(h, variable, HEAP_STRING, &lines);

	if (!err && lines.length > LINES_MAX)
		err = -E2BIG;
	for (uint64_t i = 0; !err && i < lines.length; i++) {
		line.len = 0;
		err = source__string(h, &lines, i, &line, LINE_MAX);
		err = err ? err : taking__line(t, line.data, line.len);
	}
	buf__free(&line);
	return err;
}

static int source__time(struct heap *h, const struct object *variable, double *time)
{
	struct object o;

	/* NA: the file was not there */
	if (source__vector(h, variable, HEAP_REAL, &o) || !heap__real(h, &o, 0, time) ||
	    !isfinite(*time))
		*time = 0;
	return h->err;
}

/* The text of the srcfile @f. */
static int source__text(struct heap *h, const struct srcfile *f, struct source_found *s, size_t max)
{
	struct taking t = {.text = &s->text, .max = max, .next = 1};
	struct srcfile original;
	int err;

	if (f->value[LINES].type) {
		err = source__lines(h, &f->value[LINES], &t);
		s->has_text = !err;
		return err;
	}
	if (!f->value[ORIGINAL].type)
		return 0;
	err = srcfile__read(h, f->value[ORIGINAL].at, &original);
	if (err || !original.value[LINES].type)
		return err;
	t.part = &s->name;
	err = source__lines(h, &original.value[LINES], &t);
	s->has_text = !err && s->text.len;
	return err;
}

static int source__find(struct source_found *s, struct heap *h, uint64_t env, struct srcfile *f,
			size_t max)
{
	struct object o;
	int err = srcfile__read(h, env, f);

	err = err ? err : source__vector(h, &f->value[FILENAME], HEAP_STRING, &o);
	err = err ? err : source__string(h, &o, 0, &s->name, SOURCE_NAME_MAX);
	if (!err && f->value[WD].type) {
		err = source__vector(h, &f->value[WD], HEAP_STRING, &o);
		err = err ? err : source__string(h, &o, 0, &s->directory, SOURCE_NAME_MAX);
	}
	err = err ? err : source__time(h, &f->value[TIMESTAMP], &s->time);
	return err ? err : source__text(h, f, s, max);
}

int source__read(struct source_found *s, const struct xr_row *row, const struct mem_reader *m,
		 uint64_t env, size_t max)
{
	struct page_cache cache;
	struct mem_reader cached;
	struct srcfile f, again;
	struct heap h;
	int err = page_cache__open(&cache, m);

	if (err)
		return err;
	cached = page_cache__reader(&cache);
	heap__init(&h, &cached, row, READS_MAX);
	err = source__find(s, &h, env, &f, max);
	page_cache__close(&cache);
	/* R may have freed it meanwhile */
	heap__init(&h, m, row, READS_MAX);
	err = err ? err : srcfile__read(&h, env, &again);
	for (unsigned int i = 0; i < VARIABLES && !err; i++)
		err = f.value[i].at == again.value[i].at ? 0 : -EILSEQ;
	return err;
}

void source__free(struct source_found *s)
{
	buf__free(&s->name);
	buf__free(&s->directory);
	buf__free(&s->text);
	*s = (struct source_found){0};
}
