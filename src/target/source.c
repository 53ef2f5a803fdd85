/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sexp.h"

#define BUCKETS_MAX  4096u /* of an environment's table, */
#define BINDINGS_MAX 256u  /* and its variables: R makes some ten */
#define CLASSES_MAX  8u
#define LINES_MAX    (1u << 20)
#define ORIGINAL_MAX (64u << 20) /* bytes of lines that are looked through for a part of them */
#define AT_ONCE	     256u

/* What is read of. */
struct memory {
	const struct xr_row *row;
	const struct mem_reader *m;
};

/* The values of an environment's variables; 0: there is none. */
struct variables {
	uint64_t filename, wd, timestamp, lines, original;
};

static int memory__cell(const struct memory *mem, uint64_t at, uint64_t cell[R_CELL_WORDS])
{
	if (!at || at == mem->row->nil || at & 7)
		return -EILSEQ;
	return mem_reader__read(mem->m, at, cell, R_CELL_BYTES);
}

static unsigned int cell__type(const uint64_t *cell)
{
	return cell[0] & R_TYPE_MASK;
}

static uint64_t memory__length(const struct memory *mem, const uint64_t *cell)
{
	return mem->row->layout.vector_data < 48 ? cell[R_CAR] & 0xffffffff : cell[R_CAR];
}

/*
 * The vector at *@at, of @type, and its length.  R wraps a vector of which only attributes change
 * in another, ALTREP, whose first word is the vector (altclasses.c).
 */
static int memory__vector(const struct memory *mem, uint64_t *at, unsigned int type, uint64_t *len)
{
	uint64_t cell[R_CELL_WORDS];
	int err = 0;

	for (int i = 0; i < 4; i++) {
		err = memory__cell(mem, *at, cell);
		if (err || cell__type(cell) != type)
			return err ? err : -EILSEQ;
		if (!mem->row->layout.has_altrep || !(cell[0] & R_ALTREP_BIT)) {
			*len = memory__length(mem, cell);
			return 0;
		}
		*at = cell[R_CAR];
	}
	return -EILSEQ;
}

/* Append the bytes of the CHARSXP at @at, at most @max. */
static int memory__chars(const struct memory *mem, uint64_t at, struct buf *to, size_t max)
{
	uint64_t cell[R_CELL_WORDS], len;
	char *room;
	int err = memory__cell(mem, at, cell);

	if (err || cell__type(cell) != R_CHARSXP)
		return err ? err : -EILSEQ;
	len = memory__length(mem, cell);
	if (len > max)
		return -E2BIG;
	if (!len)
		return 0;
	room = malloc(len);
	if (!room)
		return -ENOMEM;
	err = mem_reader__read(mem->m, at + mem->row->layout.vector_data, room, len);
	if (!err && memchr(room, '\0', len))
		err = -EILSEQ;
	if (!err)
		err = buf__add(to, room, len);
	free(room);
	return err;
}

/* Element @i of the character vector at @at. */
static int memory__string(const struct memory *mem, uint64_t at, uint64_t i, struct buf *to)
{
	uint64_t len = 0, element = 0;
	int err = memory__vector(mem, &at, R_STRSXP, &len);

	if (!err && i >= len)
		err = -EILSEQ;
	if (!err)
		err = mem_reader__read(mem->m, at + mem->row->layout.vector_data + 8 * i, &element,
				       sizeof(element));
	return err ? err : memory__chars(mem, element, to, SOURCE_NAME_MAX);
}

/* Is the class of what has attributes @attrib "srcfile" among others? */
static int memory__is_srcfile(const struct memory *mem, uint64_t attrib)
{
	uint64_t cell[R_CELL_WORDS];
	struct buf class = {0};
	int err = 0;

	for (int i = 0; i < R_ATTRIBS; i++) {
		err = memory__cell(mem, attrib, cell);
		if (err || cell[R_TAG] == mem->row->sym_class)
			break;
		attrib = cell[R_CDR];
	}
	if (!err && cell[R_TAG] != mem->row->sym_class)
		err = -EILSEQ;
	for (uint64_t i = 0; i < CLASSES_MAX && !err; i++) {
		class.len = 0;
		err = memory__string(mem, cell[R_CAR], i, &class);
		if (!err && class.len == 7 && !memcmp(class.data, "srcfile", 7))
			break;
	}
	buf__free(&class);
	return err;
}

/* The variables of the list of bindings at @list; *@left: how many may come. */
static int memory__bindings(const struct memory *mem, uint64_t list, struct variables *v,
			    unsigned int *left)
{
	const struct {
		const char *name;
		uint64_t *value;
	} known[] = {{"filename", &v->filename},
		     {"wd", &v->wd},
		     {"timestamp", &v->timestamp},
		     {"lines", &v->lines},
		     {"original", &v->original}};
	uint64_t cell[R_CELL_WORDS], symbol[R_CELL_WORDS];
	struct buf name = {0};
	int err = 0;

	for (; list && list != mem->row->nil && !err; list = cell[R_CDR]) {
		err = *left ? memory__cell(mem, list, cell) : -EILSEQ;
		if (!err)
			err = memory__cell(mem, cell[R_TAG], symbol);
		if (!err && cell__type(symbol) != R_SYMSXP)
			err = -EILSEQ;
		if (err)
			break;
		--*left;
		name.len = 0;
		err = memory__chars(mem, symbol[R_CAR], &name, SOURCE_NAME_MAX);
		/* not a function, nor a number kept in the cell itself */
		if (err || cell[0] & R_ACTIVE_BINDING ||
		    (mem->row->layout.has_altrep && cell[0] >> 48))
			continue;
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (name.len == strlen(known[i].name) &&
			    !memcmp(name.data, known[i].name, name.len))
				*known[i].value = cell[R_CAR];
	}
	buf__free(&name);
	return err;
}

static int memory__variables(const struct memory *mem, uint64_t env, struct variables *v)
{
	uint64_t cell[R_CELL_WORDS], table, n, list = 0;
	unsigned int left = BINDINGS_MAX;
	int err = memory__cell(mem, env, cell);

	*v = (struct variables){0};
	if (err || cell__type(cell) != R_ENVSXP)
		return err ? err : -EILSEQ;
	err = memory__is_srcfile(mem, cell[1]);
	if (err)
		return err;
	table = cell[R_TAG];
	if (!table || table == mem->row->nil)
		return memory__bindings(mem, cell[R_CAR], v, &left);
	err = memory__vector(mem, &table, R_VECSXP, &n);
	if (!err && n > BUCKETS_MAX)
		err = -EILSEQ;
	for (uint64_t i = 0; i < n && !err; i++) {
		err = mem_reader__read(mem->m, table + mem->row->layout.vector_data + 8 * i, &list,
				       sizeof(list));
		err = err ? err : memory__bindings(mem, list, v, &left);
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

/* Up to AT_ONCE lines, CHARSXPs at @at: their lengths first, then their bytes. */
static int memory__some_lines(const struct memory *mem, const uint64_t *at, uint32_t n,
			      struct taking *t)
{
	uint64_t(*cells)[R_CELL_WORDS] = calloc(n, sizeof(*cells));
	struct mem_span spans[AT_ONCE];
	char *bytes = NULL, *to;
	size_t sum = 0, len;
	int err = cells ? 0 : -ENOMEM, got;

	for (uint32_t i = 0; i < n && !err; i++) {
		spans[i] = (struct mem_span){at[i], cells[i], R_CELL_BYTES};
		err = !at[i] || at[i] & 7 ? -EILSEQ : 0;
	}
	if (!err) {
		got = mem_reader__read_spans(mem->m, spans, n);
		err = got == (int)n ? 0 : got < 0 ? got : -EFAULT;
	}
	for (uint32_t i = 0; i < n && !err; i++) {
		len = memory__length(mem, cells[i]);
		if (cell__type(cells[i]) != R_CHARSXP || len > ORIGINAL_MAX)
			err = -EILSEQ;
		sum += len;
	}
	if (!err)
		err = sum > ORIGINAL_MAX ? -E2BIG : 0;
	to = bytes = err ? NULL : malloc(sum + 1);
	if (!err && !bytes)
		err = -ENOMEM;
	for (uint32_t i = 0; i < n && !err; i++) {
		len = memory__length(mem, cells[i]);
		if (len)
			err = mem_reader__read(mem->m, at[i] + mem->row->layout.vector_data, to,
					       len);
		if (!err && len && memchr(to, '\0', len))
			err = -EILSEQ;
		if (!err)
			err = taking__line(t, to, len);
		to += len;
	}
	free(bytes);
	free(cells);
	return err;
}

static int memory__lines(const struct memory *mem, uint64_t lines, struct taking *t)
{
	uint64_t at[AT_ONCE], n;
	int err = memory__vector(mem, &lines, R_STRSXP, &n);

	if (!err && n > LINES_MAX)
		err = -E2BIG;
	for (uint64_t i = 0; i < n && !err; i += AT_ONCE) {
		uint32_t some = n - i < AT_ONCE ? (uint32_t)(n - i) : AT_ONCE;

		err = mem_reader__read(mem->m, lines + mem->row->layout.vector_data + 8 * i, at,
				       8 * (size_t)some);
		err = err ? err : memory__some_lines(mem, at, some, t);
	}
	return err;
}

static int memory__time(const struct memory *mem, uint64_t at, double *time)
{
	uint64_t len;
	int err = memory__vector(mem, &at, R_REALSXP, &len);

	if (!err && len)
		err = mem_reader__read(mem->m, at + mem->row->layout.vector_data, time,
				       sizeof(*time));
	if (err || !isfinite(*time)) /* NA: the file was not there */
		*time = 0;
	return err == -EILSEQ ? 0 : err;
}

/* The text of the srcfile with variables @v. */
static int memory__text(const struct memory *mem, const struct variables *v, struct source_found *s,
			size_t max)
{
	struct taking t = {.text = &s->text, .max = max, .next = 1};
	struct variables original;
	int err;

	if (v->lines) {
		err = memory__lines(mem, v->lines, &t);
		s->has_text = !err;
		return err;
	}
	if (!v->original)
		return 0;
	err = memory__variables(mem, v->original, &original);
	if (err || !original.lines)
		return err;
	t.part = &s->name;
	err = memory__lines(mem, original.lines, &t);
	s->has_text = !err && s->text.len;
	return err;
}

int source__read(struct source_found *s, const struct xr_row *row, const struct mem_reader *m,
		 uint64_t env, size_t max)
{
	const struct memory mem = {row, m};
	struct variables v, again;
	int err = memory__variables(&mem, env, &v);

	if (!err)
		err = v.filename ? memory__string(&mem, v.filename, 0, &s->name) : -EILSEQ;
	if (!err && v.wd)
		err = memory__string(&mem, v.wd, 0, &s->directory);
	if (!err && v.timestamp)
		err = memory__time(&mem, v.timestamp, &s->time);
	if (!err)
		err = memory__text(&mem, &v, s, max);
	/* R may have freed it meanwhile */
	if (!err)
		err = memory__variables(&mem, env, &again);
	if (!err && memcmp(&v, &again, sizeof(v)) != 0)
		err = -EILSEQ;
	return err;
}

void source__free(struct source_found *s)
{
	buf__free(&s->name);
	buf__free(&s->directory);
	buf__free(&s->text);
	*s = (struct source_found){0};
}
