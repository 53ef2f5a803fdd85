/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recorded images of real R: what a walk read of a live process, and the stack that R itself gave
 * for that very moment.  This is the format and its reader; tools/record_image writes it.
 *
 * An image is text, one item a line, mostly compressed by gzip:
 *
 *   xrprof-image 1
 *   r 4.2.2
 *   machine x86_64              as uname(1) has it; the system is Linux
 *   note ...                    any number of them, for people
 *   row NAME HEX                struct xr_row, a line for each member that is not 0
 *   layout NAME DECIMAL         struct xr_layout, the same
 *   flags lines gc filter bc    those that are set: XR_ROW_LINES, ...
 *   file NUMBER PATH            R's number of a source file
 *   moment                      any number of moments of the same process, each:
 *   line STACK                    as R's profiler wrote it, or
 *   calls INNER STACK             as sys.calls() gave it, in the form of a line of the profiler.
 *                                 Contexts of builtins are not in it, and where the INNER innermost
 *                                 frames were called from is not known
 *   read KIND ADDRESS BYTES       a read, in order.  KIND is of enum read_kind: o object,
 *                                 c context, g global, x collector, p place in byte code.
 *                                 BYTES are hexadecimal, low address first
 *   same KIND ADDRESS LENGTH      the bytes are those of the last read of that place before
 *   fail KIND ADDRESS LENGTH      a read that failed
 *   end MOMENTS                 the last line
 *
 * An image may come from anywhere: each length is checked, and there are limits.
 */
#ifndef XR_TEST_RECORDED_H
#define XR_TEST_RECORDED_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/map.h"
#include "layout.h"

#define RECORDED_FN	   static inline __attribute__((unused))
#define RECORDED_TEXT_MAX  (64u << 20) /* bytes of an image's text, and of the memory in it */
#define RECORDED_READS_MAX (1u << 20)
#define RECORDED_READ_MAX  16384u /* bytes of one read: no text is longer */
#define RECORDED_FILES_MAX 1024u
#define RECORDED_KINDS	   "ocgxp" /* object, context, global, collector, pc */

struct recorded_read {
	uint64_t addr;
	uint32_t len;
	uint32_t at; /* its bytes in recorded.bytes */
	char kind;
	bool failed;
};

struct recorded_moment {
	uint32_t first, count; /* of recorded.reads */
	int inner;	       /* -1: `line` is of R's profiler; else of sys.calls() */
	const char *line;
};

struct recorded {
	char *text; /* the image; the strings below are parts of it */
	const char *version, *machine;
	struct xr_row row;
	const char *files[RECORDED_FILES_MAX]; /* by R's number; NULL: none */
	struct recorded_read *reads;
	uint32_t nreads, cap_reads;
	uint8_t *bytes;
	uint32_t nbytes, cap_bytes;
	struct recorded_moment *moments;
	uint32_t nmoments, cap_moments;
	struct map last;      /* (address, length) to the last read of that, counted from 1 */
	uint32_t line_number; /* being read, for messages */
	const char *why;      /* what is wrong, when it is */
};

/* A member of struct xr_row or struct xr_layout, by name. */
struct recorded_field {
	const char *name;
	uint32_t at, size;
};

#define ROW_FIELD(name)                                                                            \
	{                                                                                          \
#name, offsetof(struct xr_row, name), sizeof(((struct xr_row *)0)->name)           \
	}
#define LAYOUT_FIELD(name)                                                                         \
	{                                                                                          \
#name, offsetof(struct xr_layout, name), sizeof(((struct xr_layout *)0)->name)     \
	}

static const struct recorded_field recorded_row[] = {
	ROW_FIELD(head_at),    ROW_FIELD(nil),	    ROW_FIELD(sym_colon2),  ROW_FIELD(sym_colon3),
	ROW_FIELD(sym_dollar), ROW_FIELD(sym_item), ROW_FIELD(sym_srcfile), ROW_FIELD(sym_class),
	ROW_FIELD(eval_fun),   ROW_FIELD(in_bc),    ROW_FIELD(srcref_at),   ROW_FIELD(bc_body_at),
	ROW_FIELD(bc_pc_at),   ROW_FIELD(gc_at),    ROW_FIELD(gc_count_at), ROW_FIELD(gc_begin),
	ROW_FIELD(gc_end),     ROW_FIELD(gc_size),
};
static const struct recorded_field recorded_layout[] = {
	LAYOUT_FIELD(read_plain), LAYOUT_FIELD(read_lines), LAYOUT_FIELD(nextcontext),
	LAYOUT_FIELD(callflag),	  LAYOUT_FIELD(sysparent),  LAYOUT_FIELD(call),
	LAYOUT_FIELD(cloenv),	  LAYOUT_FIELD(bcbody),	    LAYOUT_FIELD(bcpc),
	LAYOUT_FIELD(relpc),	  LAYOUT_FIELD(srcref),	    LAYOUT_FIELD(vector_data),
	LAYOUT_FIELD(has_altrep), LAYOUT_FIELD(callfun),    LAYOUT_FIELD(real_whole),
};
static const struct {
	const char *name;
	uint32_t flag;
} recorded_flags[] = {
	{"lines", XR_ROW_LINES},
	{"gc", XR_ROW_GC},
	{"filter", XR_ROW_FILTER},
	{"bc", XR_ROW_BC},
};
#define RECORDED_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline int recorded__bad(struct recorded *r, const char *why)
{
	r->why = why;
	return -EBADMSG;
}

/* Make room for @more of @size bytes each after @n; *cap: how many there is room for. */
static inline int recorded__grow(void **items, uint32_t *cap, uint64_t n, uint64_t more,
				 size_t size)
{
	uint64_t want = n + more, room = *cap ? *cap : 64;
	void *grown;

	if (want <= *cap)
		return 0;
	while (room < want)
		room *= 2;
	grown = realloc(*items, room * size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*cap = (uint32_t)room;
	return 0;
}

/* The next word of *@at, terminated in place; NULL: there is none. */
static inline char *recorded__word(char **at)
{
	char *word = *at, *end;

	if (!word || !*word)
		return NULL;
	end = strchr(word, ' ');
	if (end)
		*end++ = '\0';
	*at = end;
	return *word ? word : NULL;
}

/* A number and nothing else.  0 or -EBADMSG. */
static inline int recorded__number(const char *word, int base, uint64_t max, uint64_t *value)
{
	char *end;

	if (!word || !((*word >= '0' && *word <= '9') || (*word >= 'a' && *word <= 'f')))
		return -EBADMSG;
	errno = 0;
	*value = strtoull(word, &end, base);
	return errno || *end || *value > max ? -EBADMSG : 0;
}

static inline int recorded__hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline int recorded__field(struct recorded *r, const struct recorded_field *fields,
				  size_t count, void *to, char *at, int base)
{
	const char *name = recorded__word(&at);
	uint64_t value;

	for (size_t i = 0; name && i < count; i++) {
		if (strcmp(fields[i].name, name))
			continue;
		if (recorded__number(recorded__word(&at), base,
				     fields[i].size == 8 ? UINT64_MAX
							 : (1ull << 8 * fields[i].size) - 1,
				     &value))
			return recorded__bad(r, "not a value of that member");
		memcpy((char *)to + fields[i].at, &value, fields[i].size); /* little endian */
		return 0;
	}
	return recorded__bad(r, "no such member");
}

static inline int recorded__set_flags(struct recorded *r, char *at)
{
	const char *word;

	while ((word = recorded__word(&at))) {
		size_t i = 0;

		while (i < RECORDED_COUNT(recorded_flags) && strcmp(recorded_flags[i].name, word))
			i++;
		if (i == RECORDED_COUNT(recorded_flags))
			return recorded__bad(r, "no such flag");
		r->row.flags |= recorded_flags[i].flag;
	}
	return 0;
}

static inline int recorded__read_line(struct recorded *r, char what, char *at)
{
	const char *kind = recorded__word(&at), *addr = recorded__word(&at);
	uintptr_t earlier;
	struct recorded_read read = {.failed = what == 'f'};
	const char *bytes = recorded__word(&at);
	uint64_t len = 0;

	if (!r->nmoments)
		return recorded__bad(r, "a read outside of any moment");
	if (!kind || !strchr(RECORDED_KINDS, *kind) || kind[1] || !bytes ||
	    recorded__number(addr, 16, UINT64_MAX, &read.addr))
		return recorded__bad(r, "not a read");
	read.kind = *kind;
	if (what == 'r') {
		len = strlen(bytes) / 2;
		if (strlen(bytes) % 2)
			return recorded__bad(r, "half a byte");
	} else if (recorded__number(bytes, 10, RECORDED_READ_MAX, &len)) {
		return recorded__bad(r, "not a length");
	}
	if (!len || len > RECORDED_READ_MAX || read.addr > UINT64_MAX - len)
		return recorded__bad(r, "a read of no or of too many bytes");
	if (r->nreads >= RECORDED_READS_MAX || r->nbytes + len > RECORDED_TEXT_MAX)
		return recorded__bad(r, "more reads than there can be");
	read.len = (uint32_t)len;
	read.at = r->nbytes;
	if (what == 's') {
		earlier = (uintptr_t)map__get(&r->last, read.addr, read.len);
		if (!earlier)
			return recorded__bad(r, "no earlier read of the same place");
		read.at = r->reads[earlier - 1].at;
	} else if (what == 'r') {
		if (recorded__grow((void **)&r->bytes, &r->cap_bytes, r->nbytes, len, 1))
			return -ENOMEM;
		for (uint64_t i = 0; i < len; i++) {
			int high = recorded__hex(bytes[2 * i]),
			    low = recorded__hex(bytes[2 * i + 1]);

			if (high < 0 || low < 0)
				return recorded__bad(r, "not a hexadecimal digit");
			r->bytes[r->nbytes++] = (uint8_t)(high << 4 | low);
		}
	}
	if (recorded__grow((void **)&r->reads, &r->cap_reads, r->nreads, 1, sizeof(*r->reads)))
		return -ENOMEM;
	r->reads[r->nreads++] = read;
	if (what == 'r' && map__put(&r->last, read.addr, read.len, (void *)(uintptr_t)r->nreads))
		return -ENOMEM;
	r->moments[r->nmoments - 1].count++;
	return 0;
}

static inline int recorded__moment_line(struct recorded *r, bool calls, char *at)
{
	struct recorded_moment *m = r->nmoments ? &r->moments[r->nmoments - 1] : NULL;
	uint64_t inner;

	if (!m || m->line)
		return recorded__bad(r, "a stack where none can be");
	if (calls) {
		if (recorded__number(recorded__word(&at), 10, 1000, &inner))
			return recorded__bad(r, "not a number of frames");
		m->inner = (int)inner;
	}
	if (!at || !*at)
		return recorded__bad(r, "no stack");
	m->line = at;
	return 0;
}

static inline int recorded__file_line(struct recorded *r, char *at)
{
	uint64_t number;

	if (recorded__number(recorded__word(&at), 10, RECORDED_FILES_MAX - 1, &number) || !at)
		return recorded__bad(r, "not a file");
	r->files[number] = at;
	return 0;
}

/* One line, terminated; *@ended: it was the last. */
static inline int recorded__line(struct recorded *r, char *at, bool *ended)
{
	const char *word = recorded__word(&at);
	uint64_t moments;

	if (!word)
		return recorded__bad(r, "an empty line");
	if (!strcmp(word, "r") && at)
		r->version = at;
	else if (!strcmp(word, "machine") && at)
		r->machine = at;
	else if (!strcmp(word, "row"))
		return recorded__field(r, recorded_row, RECORDED_COUNT(recorded_row), &r->row, at,
				       16);
	else if (!strcmp(word, "layout"))
		return recorded__field(r, recorded_layout, RECORDED_COUNT(recorded_layout),
				       &r->row.layout, at, 10);
	else if (!strcmp(word, "flags"))
		return recorded__set_flags(r, at);
	else if (!strcmp(word, "file"))
		return recorded__file_line(r, at);
	else if (!strcmp(word, "line") || !strcmp(word, "calls"))
		return recorded__moment_line(r, *word == 'c', at);
	else if (!strcmp(word, "read") || !strcmp(word, "same") || !strcmp(word, "fail"))
		return recorded__read_line(r, *word, at);
	else if (!strcmp(word, "moment")) {
		if (recorded__grow((void **)&r->moments, &r->cap_moments, r->nmoments, 1,
				   sizeof(*r->moments)))
			return -ENOMEM;
		r->moments[r->nmoments++] =
			(struct recorded_moment){.first = r->nreads, .inner = -1};
	} else if (!strcmp(word, "end")) {
		*ended = true;
		if (recorded__number(recorded__word(&at), 10, UINT32_MAX, &moments) ||
		    moments != r->nmoments)
			return recorded__bad(r, "moments are missing");
	} else if (strcmp(word, "note")) {
		return recorded__bad(r, "no such item");
	}
	return 0;
}

RECORDED_FN void recorded__free(struct recorded *r)
{
	free(r->text);
	free(r->reads);
	free(r->bytes);
	free(r->moments);
	map__free(&r->last);
	memset(r, 0, sizeof(*r));
}

/* What every image must have. */
static inline int recorded__check(struct recorded *r)
{
	const struct xr_layout *l = &r->row.layout;

	if (!r->version || !r->machine || !r->nmoments || !r->row.head_at)
		return recorded__bad(r, "version, machine, row or moments are missing");
	if (!l->read_plain || l->read_plain >= XR_CONTEXT_MAX || l->read_lines >= XR_CONTEXT_MAX ||
	    !l->vector_data)
		return recorded__bad(r, "not a layout");
	for (uint32_t i = 0; i < r->nmoments; i++)
		if (!r->moments[i].line || !r->moments[i].count)
			return recorded__bad(r, "a moment without a stack or without reads");
	return 0;
}

/*
 * recorded__parse - read the image of @len bytes at @data, which are copied, into @r.  -EBADMSG:
 * r->why says what is wrong with line r->line_number; -ENOMEM.  Then there is nothing to free.
 */
RECORDED_FN int recorded__parse(struct recorded *r, const char *data, size_t len)
{
	static const char magic[] = "xrprof-image 1\n";
	const char *why;
	uint32_t number;
	bool ended = false;
	char *at, *end;
	int err = 0;

	memset(r, 0, sizeof(*r));
	if (len > RECORDED_TEXT_MAX)
		return recorded__bad(r, "too large");
	r->line_number = 1;
	if (len < sizeof(magic) - 1 || memcmp(data, magic, sizeof(magic) - 1))
		return recorded__bad(r, "not an image of this version");
	if (memchr(data, '\0', len))
		return recorded__bad(r, "not text");
	r->text = malloc(len + 1);
	if (!r->text)
		return -ENOMEM;
	memcpy(r->text, data, len);
	r->text[len] = '\0';
	r->row.serial = r->row.pid = 1;
	for (at = r->text + sizeof(magic) - 1; !err && *at; at = end + 1) {
		r->line_number++;
		end = strchr(at, '\n');
		if (!end || ended) {
			err = recorded__bad(r, end ? "something after the end" : "half a line");
			break;
		}
		*end = '\0';
		err = recorded__line(r, at, &ended);
	}
	if (!err && !ended)
		err = recorded__bad(r, "the end is missing");
	if (!err)
		err = recorded__check(r);
	if (!err)
		return 0;
	why = r->why;
	number = r->line_number;
	recorded__free(r);
	r->why = why;
	r->line_number = number;
	return err;
}

/*
 * recorded__text - the text of the image in @path, to be freed; *@len bytes.  NULL: it cannot be
 * read, is damaged, or is too large.
 */
RECORDED_FN char *recorded__text(const char *path, size_t *len)
{
	gzFile file = gzopen(path, "rb");
	char *text = NULL, *grown;
	size_t cap = 0;
	int got = 0;

	*len = 0;
	if (!file)
		return NULL;
	do {
		if (*len == cap) {
			cap = cap ? cap * 2 : 1 << 16;
			grown = cap <= 2 * (size_t)RECORDED_TEXT_MAX ? realloc(text, cap) : NULL;
			if (!grown)
				goto cleanup;
			text = grown;
		}
		got = gzread(file, text + *len, (unsigned int)(cap - *len));
		if (got < 0)
			goto cleanup;
		*len += (size_t)got;
	} while (got);
	if (gzclose(file) == Z_OK) /* fails if the file was cut */
		return text;
	free(text);
	return NULL;

cleanup:
	gzclose(file);
	free(text);
	return NULL;
}

#endif
