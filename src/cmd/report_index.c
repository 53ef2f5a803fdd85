/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/report_index.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "os/os.h"

#define LINE_MAX_SIZE (256u << 10) /* bytes of a line; a longer one is none */
#define PENDING_MAX   (64u << 20)  /* bytes of the lines of a profile */

/* A file that is being read. */
struct index_file {
	gzFile gz;
	report_index_take take;
	void *arg;
	struct report_index_read *read;
	struct window_name of; /* the profile that `pending` is of */
	bool spoiled;	       /* one of its lines is none: they are left out */
	bool bad;	       /* the last line is none */
	struct buf pending;    /* its lines, each terminated */
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
	if (window_name__compare(&line.file, &in->of) != 0) {
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
	int fd = os__open(path), err = fd < 0 ? fd : 0, more = 0, zerr = Z_OK;

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
