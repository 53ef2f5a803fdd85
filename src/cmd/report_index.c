/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/report_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/log.h"
#include "os/os.h"

#define LINE_MAX_SIZE (256u << 10) /* bytes of a line; a longer one is bad */
#define PENDING_MAX   (64u << 20)  /* bytes of the lines of a profile */

/* A file that is being read. */
struct index_file {
	gzFile gz;
	report_index_take take;
	void *arg;
	struct report_index_read *read;
	struct interval_name of; /* the profile that `pending` is of */
	bool spoiled;		 /* one of its lines is bad: they are left out */
	bool bad;		 /* the last line is not an index line */
	struct buf pending;	 /* its lines, each terminated */
	struct buf line, copy;
};

/* All lines of a profile are there. */
static int index__give(struct index_file *in)
{
	struct index_line line;
	size_t at = 0;
	int err = 0;

	while (at < in->pending.len && !err) {
		char *text = in->pending.data + at;

		at += strlen(text) + 1;
		if (!index_line__parse(&line, text))
			err = in->take(in->arg, &line);
	}
	in->pending.len = 0;
	return err;
}

/* A line: it waits until all of its profile are there. */
static int index__line(struct index_file *in)
{
	struct index_line line;
	int err;

	/* it is changed by being looked at */
	in->copy.len = 0;
	err = buf__add(&in->copy, in->line.data, in->line.len);
	if (err)
		return err;
	if (memchr(in->line.data, '\0', in->line.len - 1) ||
	    index_line__parse(&line, in->copy.data)) {
		/* of the profile before it, or of the one that follows */
		in->read->bad++;
		in->pending.len = 0;
		in->spoiled = in->bad = true;
		return 0;
	}
	if (interval_name__compare(&line.file, &in->of) != 0) {
		err = index__give(in);
		in->spoiled = in->bad;
		in->of = line.file;
	}
	in->bad = false;
	if (!err && in->pending.len > PENDING_MAX)
		err = index__give(in);
	return err || in->spoiled ? err : buf__add(&in->pending, in->line.data, in->line.len);
}

/* The next line into `line`, terminated, without its end.  1; 0: there is no whole one. */
static int index__next(struct index_file *in)
{
	char piece[4096];
	size_t len;
	int err;

	in->line.len = 0;
	while (gzgets(in->gz, piece, sizeof(piece))) {
		len = strlen(piece);
		if (!len)
			return 0;
		err = in->line.len > LINE_MAX_SIZE ? 0 : buf__add(&in->line, piece, len);
		if (err)
			return err;
		if (piece[len - 1] == '\n') {
			in->line.data[in->line.len - 1] = '\0';
			return 1;
		}
	}
	return 0;
}

int report_index__read(const char *path, report_index_take take, void *arg,
		       struct report_index_read *read, struct errmsg *f)
{
	struct index_file in = {.take = take, .arg = arg, .read = read};
	int fd = os__open(path, OS_ENTRY), err = fd < 0 ? fd : 0, more = 0, zerr = Z_OK;

	*read = (struct report_index_read){0};
	if (err)
		return errmsg__set(f, err, "cannot read %s: %s", path, os__reason(err));
	in.gz = gzdopen(fd, "rb");
	if (!in.gz) {
		os__close(fd);
		return errmsg__set(f, -ENOMEM, "out of memory");
	}
	while (!err && (more = index__next(&in)) > 0)
		err = index__line(&in);
	err = err ? err : more;
	gzerror(in.gz, &zerr);
	read->damaged = !err && (zerr != Z_OK || !gzeof(in.gz) || in.line.len);
	if (!err && !read->damaged)
		err = index__give(&in);
	/* what zlib finds at the very end: a sum that is wrong, or that is not there */
	if (gzclose_r(in.gz) != Z_OK)
		read->damaged = true;
	buf__free(&in.pending);
	buf__free(&in.line);
	buf__free(&in.copy);
	return err == -ENOMEM ? errmsg__set(f, err, "out of memory") : err;
}

/* --- of a span --- */

struct indexes {
	const struct report_index_span *span;
	struct interval_name first, last; /* the indexes of the first and the last profile */
	struct errmsg *f;
};

/* The name in a path of ours. */
static void path__name(const char *path, struct interval_name *name)
{
	const char *slash = strrchr(path, '/');

	interval_name__parse(slash ? slash + 1 : path, name);
}

static int by_name(const void *key, const void *file)
{
	struct interval_name name;

	path__name(*(const char *const *)file, &name);
	return interval_name__compare(key, &name);
}

/* A line, perhaps of a profile that is not of the span. */
static int indexes__line(void *arg, const struct index_line *line)
{
	const struct report_index_span *span = ((struct indexes *)arg)->span;
	const char *const *file =
		bsearch(&line->file, span->files, span->n, sizeof(*span->files), by_name);

	return file ? span->take(span->arg, (size_t)(file - span->files), line) : 0;
}

/* A file of the directory. */
static int indexes__file(void *arg, const char *text)
{
	struct indexes *indexes = arg;
	const char *lost = indexes->span->lost;
	struct report_index_read read;
	struct interval_name name;
	struct buf path = {0};
	int err;

	if (!interval_name__parse(text, &name) || name.kind != INTERVAL_INDEX ||
	    name.began < indexes->first.began || name.began > indexes->last.began)
		return 0;
	err = buf__printf(&path, "%s/%s", indexes->span->dir, text);
	err = err ? err : buf__add(&path, "", 1);
	if (!err) {
		err = report_index__read(path.data, indexes__line, indexes, &read, indexes->f);
		/* its profiles are there */
		if (err && err != -ENOMEM) {
			if (lost)
				log__line("%s", indexes->f->text);
			indexes->f->text[0] = '\0';
			err = 0;
		} else if (lost && (read.bad || read.damaged)) {
			log__line("%s is damaged: %s", path.data, lost);
		}
	}
	buf__free(&path);
	return err;
}

int report_index__span(const struct report_index_span *span, struct errmsg *f)
{
	struct indexes indexes = {.span = span, .f = f};
	struct interval_name name;
	int err;

	path__name(span->files[0], &name);
	indexes.first = interval_name__index(&name);
	path__name(span->files[span->n - 1], &name);
	indexes.last = interval_name__index(&name);
	err = os__list(span->dir, indexes__file, &indexes);
	if (err && !*f->text)
		errmsg__set(f, err, "cannot read the directory %s: %s", span->dir, os__reason(err));
	return err;
}
