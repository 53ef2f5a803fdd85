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
 * The reader is for images that tools/record_image wrote: what is in none of them it may read as
 * anything.
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

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "layout.h"

#define RECORDED_FN	   static inline __attribute__((unused))
#define RECORDED_TEXT_MAX  (64u << 20) /* bytes of an image's text, and of the memory in it */
#define RECORDED_FILES_MAX 1024u

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
	struct buf text; /* the image; the strings below are parts of it */
	const char *version, *machine;
	struct xr_row row;
	const char *files[RECORDED_FILES_MAX]; /* by R's number; NULL: none */
	struct recorded_read *reads;
	uint8_t *bytes;
	struct recorded_moment *moments;
	uint32_t nreads, nbytes, nmoments;
	size_t cap_reads, cap_bytes, cap_moments;
	struct map last;      /* (address, length) to the last read of that, counted from 1 */
	uint32_t line_number; /* being read, for messages */
	bool ended;
};

/* A member of struct xr_row or struct xr_layout, by name. */
struct recorded_field {
	const char *name;
	uint32_t at, size;
};

#define RECORDED_FIELD(type, name)                                                                 \
	{                                                                                          \
#name, offsetof(struct type, name), sizeof(((struct type *)0)->name)               \
	}
#define ROW_FIELD(name)	   RECORDED_FIELD(xr_row, name)
#define LAYOUT_FIELD(name) RECORDED_FIELD(xr_layout, name)

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

static inline int recorded__field(const struct recorded_field *fields, size_t count, void *to,
				  char *at, int base)
{
	const char *name = strsep(&at, " ");
	uint64_t value = at ? strtoull(at, NULL, base) : 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(fields[i].name, name)) {
			memcpy((char *)to + fields[i].at, &value,
			       fields[i].size); /* little endian */
			return 0;
		}
	return -EBADMSG;
}

static inline void recorded__set_flags(struct recorded *r, char *at)
{
	for (const char *word; (word = strsep(&at, " "));)
		for (size_t i = 0; i < RECORDED_COUNT(recorded_flags); i++)
			if (!strcmp(recorded_flags[i].name, word))
				r->row.flags |= recorded_flags[i].flag;
}

static inline int recorded__hex(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* @what: read, same or fail. */
static inline int recorded__read_line(struct recorded *r, char what, char *at)
{
	const char *kind = strsep(&at, " "), *addr = strsep(&at, " "), *bytes = at;
	struct recorded_read read = {
		.kind = *kind, .at = r->nbytes, .failed = what != 'r' && what != 's'};
	uintptr_t earlier;

	if (!r->nmoments || !bytes)
		return -EBADMSG;
	read.addr = strtoull(addr, NULL, 16);
	read.len = (uint32_t)(what == 'r' ? strlen(bytes) / 2 : strtoul(bytes, NULL, 10));
	if (what == 's') {
		earlier = (uintptr_t)map__get(&r->last, read.addr, read.len);
		if (!earlier)
			return -EBADMSG;
		read.at = r->reads[earlier - 1].at;
	} else if (what == 'r') {
		if (array__room(&r->bytes, r->nbytes + read.len, &r->cap_bytes, 1))
			return -ENOMEM;
		for (; bytes[0] && bytes[1]; bytes += 2)
			r->bytes[r->nbytes++] =
				(uint8_t)(recorded__hex(bytes[0]) << 4 | recorded__hex(bytes[1]));
	}
	if (array__room(&r->reads, r->nreads, &r->cap_reads, sizeof(*r->reads)))
		return -ENOMEM;
	r->reads[r->nreads++] = read;
	r->moments[r->nmoments - 1].count++;
	if (what == 'r')
		return map__put(&r->last, read.addr, read.len, (void *)(uintptr_t)r->nreads);
	return 0;
}

static inline int recorded__file_line(struct recorded *r, char *at)
{
	char *path;
	unsigned long number = strtoul(at, &path, 10);

	if (number >= RECORDED_FILES_MAX || *path != ' ')
		return -EBADMSG;
	r->files[number] = path + 1;
	return 0;
}

/* One line, terminated. */
static inline int recorded__line(struct recorded *r, char *at)
{
	const char *what = strsep(&at, " ");
	struct recorded_moment *m = r->nmoments ? &r->moments[r->nmoments - 1] : NULL;

	if (!strcmp(what, "moment")) {
		if (array__room(&r->moments, r->nmoments, &r->cap_moments, sizeof(*r->moments)))
			return -ENOMEM;
		r->moments[r->nmoments++] =
			(struct recorded_moment){.first = r->nreads, .inner = -1};
	} else if (!strcmp(what, "flags")) {
		recorded__set_flags(r, at);
	} else if (!at) {
		return -EBADMSG;
	} else if (!strcmp(what, "r")) {
		r->version = at;
	} else if (!strcmp(what, "machine")) {
		r->machine = at;
	} else if (!strcmp(what, "row")) {
		return recorded__field(recorded_row, RECORDED_COUNT(recorded_row), &r->row, at, 16);
	} else if (!strcmp(what, "layout")) {
		return recorded__field(recorded_layout, RECORDED_COUNT(recorded_layout),
				       &r->row.layout, at, 10);
	} else if (!strcmp(what, "file")) {
		return recorded__file_line(r, at);
	} else if (m && !strcmp(what, "line")) {
		m->line = at;
	} else if (m && !strcmp(what, "calls")) {
		m->inner = (int)strtol(at, &at, 10);
		m->line = at + 1;
	} else if (!strcmp(what, "end")) {
		r->ended = strtoul(at, NULL, 10) == r->nmoments;
	} else if (strcmp(what, "note")) {
		return recorded__read_line(r, *what, at);
	}
	return 0;
}

RECORDED_FN void recorded__free(struct recorded *r)
{
	buf__free(&r->text);
	free(r->reads);
	free(r->bytes);
	free(r->moments);
	map__free(&r->last);
	memset(r, 0, sizeof(*r));
}

/*
 * recorded__read - read the image in @path into @r.  -EBADMSG: it is not whole, or line
 * r->line_number is not of an image; -ENOMEM.  recorded__free() in any case.
 */
RECORDED_FN int recorded__read(struct recorded *r, const char *path)
{
	gzFile file = gzopen(path, "rb");
	char part[16384], *at, *line;
	int n = -1, err = file ? 0 : -ENOENT;

	memset(r, 0, sizeof(*r));
	r->row.serial = r->row.pid = 1;
	while (!err && (n = gzread(file, part, sizeof(part))) > 0)
		err = buf__add(&r->text, part, (size_t)n);
	if (!err)
		err = buf__add(&r->text, "", 1);
	if (file && gzclose(file) != Z_OK && !err) /* fails if the file was cut */
		err = -EBADMSG;
	for (at = r->text.data; !err && (line = strsep(&at, "\n")) && *line; r->line_number++)
		err = r->line_number		       ? recorded__line(r, line)
		      : strcmp(line, "xrprof-image 1") ? -EBADMSG
						       : 0;
	if (!err && (!r->ended || !r->version || !r->machine || !r->row.head_at))
		err = -EBADMSG;
	for (uint32_t i = 0; i < r->nmoments && !err; i++)
		err = r->moments[i].line && r->moments[i].count ? 0 : -EBADMSG;
	return err;
}

#endif
