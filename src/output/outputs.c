/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "output/outputs.h"

#define STREAM_PATH_MAX 4096 /* bytes */

struct stream {
	struct stream *next, **link; /* in streams.all */
	struct output *out;
	struct writer *writer;
	char *path;
	bool dirty; /* written to since the last flush */
};

struct outputs {
	const struct writer_ops *format;
	struct writer_config config;
	const char *directory; /* NULL: all is in `shared` */
	struct stream *shared;
	struct stream *all;
	uint8_t *pids; /* bit set: a file of that pid was made in this run */
	size_t pids_size;
	int err;
	struct errmsg fault;
};

/* Keep the first error. */
static int outputs__fail(struct outputs *ss, const struct stream *st, int err)
{
	if (!ss->err) {
		ss->err = err;
		errmsg__set(&ss->fault, err, "cannot write %s: %s",
			    strcmp(st->path, "-") != 0 ? st->path : "to standard output",
			    strerror(-err));
	}
	return ss->err;
}

/* Unlink from the list, close and free: the error of that, which was not there before. */
static int stream__close(struct outputs *ss, struct stream *st)
{
	int err = 0, out_err;

	if (st->writer)
		err = ss->format->close(st->writer);
	out_err = output__close(st->out);
	err = err ? err : out_err;
	if (err)
		outputs__fail(ss, st, err);
	if (st->link) {
		*st->link = st->next;
		if (st->next)
			st->next->link = st->link;
	}
	free(st->path);
	free(st);
	return err;
}

static int stream__open(struct outputs *ss, const char *path, struct stream **out)
{
	struct stream *st;
	int err = -ENOMEM;

	st = calloc(1, sizeof(*st));
	if (!st)
		goto failed;
	st->path = strdup(path);
	if (!st->path)
		goto failed;
	err = output__open(&st->out, path, &ss->fault);
	if (err) {
		ss->err = err;
		goto failed;
	}
	err = ss->format->open(&st->writer, st->out, &ss->config);
	if (err) {
		outputs__fail(ss, st, err);
		goto failed;
	}
	st->dirty = true;
	st->next = ss->all;
	st->link = &ss->all;
	if (st->next)
		st->next->link = &st->next;
	ss->all = st;
	*out = st;
	return 0;
failed:
	if (st) {
		output__close(st->out);
		free(st->path);
		free(st);
	}
	if (!ss->err)
		ss->err = errmsg__set(&ss->fault, err, "cannot write %s: %s", path, strerror(-err));
	return ss->err;
}

static bool path__wants_directory(const char *path, bool several)
{
	size_t len = strlen(path);

	if (!strcmp(path, "-"))
		return false;
	return several || (len && path[len - 1] == '/') || os__is_directory(path);
}

int outputs__open(struct outputs **out, const struct writer_ops *format,
		  const struct writer_config *config, const char *path, bool several,
		  struct errmsg *f)
{
	char shared[STREAM_PATH_MAX];
	struct outputs *ss;
	int err;

	ss = calloc(1, sizeof(*ss));
	if (!ss)
		return errmsg__set(f, -ENOMEM, "out of memory");
	ss->format = format;
	ss->config = *config;
	snprintf(shared, sizeof(shared), "%s", path);
	if (path__wants_directory(path, several && format->per_process)) {
		err = os__mkdir(path);
		if (err && err != -EEXIST) {
			errmsg__set(f, err, "cannot make directory %s: %s", path, strerror(-err));
			goto failed;
		}
		if (!os__is_directory(path)) {
			err = errmsg__set(f, -ENOTDIR,
					  "%s is not a directory: several processes need one "
					  "file each in format %s",
					  path, format->name);
			goto failed;
		}
		if (format->per_process)
			ss->directory = path;
		else
			snprintf(shared, sizeof(shared), "%s/profile.%s", path, format->name);
	}
	if (!ss->directory) {
		err = stream__open(ss, shared, &ss->shared);
		if (err) {
			*f = ss->fault;
			goto failed;
		}
	}
	*out = ss;
	return 0;
failed:
	free(ss);
	return err;
}

bool outputs__per_process(const struct outputs *ss)
{
	return ss->directory;
}

/* Was a file of @pid made before in this run?  From now on, yes. */
static int pid__seen(struct outputs *ss, uint32_t pid)
{
	size_t byte = pid / 8, size;
	uint8_t bit = (uint8_t)(1u << (pid % 8)), *grown;
	int seen;

	if (byte >= ss->pids_size) {
		size = byte + byte / 2 + 64;
		grown = realloc(ss->pids, size);
		if (!grown)
			return -ENOMEM;
		memset(grown + ss->pids_size, 0, size - ss->pids_size);
		ss->pids = grown;
		ss->pids_size = size;
	}
	seen = (ss->pids[byte] & bit) != 0;
	ss->pids[byte] |= bit;
	return seen;
}

int outputs__ready(struct outputs *ss, struct stream **slot, const struct writer_process *p)
{
	char path[STREAM_PATH_MAX], serial[16] = "";
	int seen;

	if (ss->err || *slot)
		return ss->err;
	if (!ss->directory) {
		*slot = ss->shared;
		return 0;
	}
	seen = pid__seen(ss, p->pid);
	if (seen < 0) {
		ss->err = errmsg__set(&ss->fault, seen, "out of memory");
		return ss->err;
	}
	if (seen)
		snprintf(serial, sizeof(serial), ".%" PRIu32, p->serial);
	if (snprintf(path, sizeof(path), "%s/Rprof.%" PRIu32 "%s.out", ss->directory, p->pid,
		     serial) >= (int)sizeof(path)) {
		ss->err = errmsg__set(&ss->fault, -ENAMETOOLONG, "%s: the name is too long",
				      ss->directory);
		return ss->err;
	}
	return stream__open(ss, path, slot);
}

int outputs__sample(struct outputs *ss, struct stream **slot, const struct writer_process *p,
		    const struct sample *s)
{
	struct stream *st;
	int err;

	err = outputs__ready(ss, slot, p);
	if (err)
		return err;
	st = *slot;
	st->dirty = true;
	err = ss->format->sample(st->writer, p, s);
	return err ? outputs__fail(ss, st, err) : 0;
}

int outputs__end(struct outputs *ss, struct stream **slot)
{
	struct stream *st = *slot;

	*slot = NULL;
	if (!st || st == ss->shared)
		return ss->err;
	stream__close(ss, st);
	return ss->err;
}

int outputs__flush(struct outputs *ss, bool writers)
{
	int err;

	for (struct stream *st = ss->all; st && !ss->err; st = st->next) {
		if (!st->dirty)
			continue;
		err = 0;
		if (writers && ss->format->flush)
			err = ss->format->flush(st->writer);
		if (!err)
			err = output__flush(st->out);
		if (err)
			outputs__fail(ss, st, err);
		st->dirty = ss->format->flush && !writers;
	}
	return ss->err;
}

const struct errmsg *outputs__fault(const struct outputs *ss)
{
	return &ss->fault;
}

int outputs__close(struct outputs *ss, struct errmsg *f)
{
	int err;

	if (!ss)
		return 0;
	while (ss->all)
		stream__close(ss, ss->all);
	err = ss->err;
	if (f)
		*f = ss->fault;
	free(ss->pids);
	free(ss);
	return err;
}
