/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "output/output.h"
#include "os/os.h"

#define OUTPUT_ENOUGH  65536u	  /* committed bytes that are not kept back any longer */
#define OUTPUT_AT_ONCE (1u << 30) /* bytes in one write */

struct output {
	int fd;
	bool ours;    /* close it */
	bool regular; /* a file that can be truncated */
	int error;    /* the first there was */
	struct buf buf;
	size_t *commits; /* where in buf they were, ascending; those of nothing new left out */
	size_t ncommits, cap;
};

int output__open(struct output **out, const char *path, struct errmsg *f)
{
	struct output *o;
	struct stat st;
	int err;

	*out = NULL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return errmsg__set(f, -ENOMEM, "out of memory");
	o->ours = strcmp(path, "-") != 0;
	o->fd = o->ours ? os__create(path) : STDOUT_FILENO;
	if (o->fd < 0 || fstat(o->fd, &st)) {
		err = o->fd < 0 ? o->fd : -errno;
		errmsg__set(f, err, "cannot write to %s: %s; give another place with -o",
			    o->ours ? path : "standard output", strerror(-err));
		if (o->ours && o->fd >= 0)
			close(o->fd);
		free(o);
		return err;
	}
	o->regular = S_ISREG(st.st_mode);
	*out = o;
	return 0;
}

static int output__fail(struct output *o, int err)
{
	if (err && !o->error)
		o->error = err;
	return err;
}

int output__write(struct output *o, const char *data, size_t len)
{
	if (o->error)
		return o->error;
	return output__fail(o, buf__add(&o->buf, data, len));
}

int output__printf(struct output *o, const char *fmt, ...)
{
	va_list ap;
	int err;

	if (o->error)
		return o->error;
	va_start(ap, fmt);
	err = buf__vprintf(&o->buf, fmt, ap);
	va_end(ap);
	return output__fail(o, err);
}

/* Bytes at the start of buf that may go. */
static size_t output__committed(const struct output *o)
{
	return o->ncommits ? o->commits[o->ncommits - 1] : 0;
}

int output__commit(struct output *o)
{
	if (o->error)
		return o->error;
	if (o->buf.len == output__committed(o))
		return 0;
	if (o->ncommits == o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 64;
		size_t *commits = realloc(o->commits, cap * sizeof(*commits));

		if (!commits)
			return output__fail(o, -ENOMEM);
		o->commits = commits;
		o->cap = cap;
	}
	o->commits[o->ncommits++] = o->buf.len;
	return o->buf.len >= OUTPUT_ENOUGH ? output__flush(o) : 0;
}

/*
 * @done bytes were written before the failure: take what came after the last whole commit back out
 * of a regular file.  Only if it is still at the file's end: stdout may be shared.
 */
static void output__trim(struct output *o, size_t done)
{
	size_t whole = 0, tail;
	struct stat st;
	off_t end;

	for (size_t i = 0; i < o->ncommits && o->commits[i] <= done; i++)
		whole = o->commits[i];
	tail = done - whole;
	if (!o->regular || !tail)
		return;
	end = lseek(o->fd, 0, SEEK_CUR);
	if (end < (off_t)tail || fstat(o->fd, &st) || st.st_size != end)
		return;
	if (!ftruncate(o->fd, end - (off_t)tail))
		lseek(o->fd, end - (off_t)tail, SEEK_SET);
}

/* As much of @left bytes as is written at once. */
static unsigned int output__portion(size_t left)
{
	return left < OUTPUT_AT_ONCE ? (unsigned int)left : OUTPUT_AT_ONCE;
}

int output__flush(struct output *o)
{
	size_t whole = output__committed(o), done = 0;

	if (o->error)
		return o->error;
	while (done < whole) {
		int n = os__write(o->fd, o->buf.data + done, output__portion(whole - done));

		if (n > 0) {
			done += (size_t)n;
		} else if (n == -EAGAIN) {
			/* somebody made the pipe or terminal non-blocking */
			os__wait_writable(o->fd);
		} else if (n != -EINTR) {
			output__fail(o, n ? n : -EIO);
			output__trim(o, done);
			return o->error;
		}
	}
	if (done) {
		o->buf.len -= done;
		memmove(o->buf.data, o->buf.data + done, o->buf.len);
		o->ncommits = 0;
	}
	return 0;
}

int output__close(struct output *o)
{
	int err;

	if (!o)
		return 0;
	output__flush(o);
	if (o->ours && close(o->fd) && errno != EINTR)
		output__fail(o, -errno);
	err = o->error;
	buf__free(&o->buf);
	free(o->commits);
	free(o);
	return err;
}
