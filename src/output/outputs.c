/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "os/os.h"
#include "output/outputs.h"
#include "profile/limits.h"

#define STREAM_PATH_MAX 4096	 /* bytes */
#define FLUSH_NS	NS_PER_S /* between two profiles that a file is made of */

struct stream {
	struct stream *next, **link; /* in outputs.all */
	struct output *out;
	struct writer *writer;
	struct aggregate *aggregate; /* for a format that wants it; NULL: none */
	char *path;
	bool dirty; /* samples came since the last flush */
};

struct outputs {
	struct outputs_config config;
	const char *directory; /* NULL: all is in `shared` */
	struct stream *shared;
	struct stream *all;
	struct map own;	  /* in a directory: (serial, 0) to the process' stream */
	uint64_t flushed; /* when profiles were last written; ns, CLOCK_MONOTONIC */
	uint64_t dropped; /* samples whose stack found no room in an aggregate */
	uint8_t *pids;	  /* bit set: a file of that pid was made in this run */
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

/* Have what was added up written. */
static int stream__profile(struct outputs *ss, struct stream *st, const struct stats *stats)
{
	int err = ss->config.format->profile(st->writer, st->aggregate, stats);

	ss->dropped += aggregate__dropped(st->aggregate);
	aggregate__clear(st->aggregate);
	return err;
}

static void stream__free(struct stream *st)
{
	aggregate__free(st->aggregate);
	free(st->path);
	free(st);
}

/*
 * Complete its file, unlink from the list, close and free: the error of that, which was not there
 * before.  @stats: of the run, NULL if it goes on.
 */
static int stream__close(struct outputs *ss, struct stream *st, const struct stats *stats)
{
	int err = 0, other;

	if (st->aggregate && !ss->err)
		err = stream__profile(ss, st, stats);
	other = ss->config.format->close(st->writer);
	err = err ? err : other;
	other = output__close(st->out);
	err = err ? err : other;
	if (err)
		outputs__fail(ss, st, err);
	*st->link = st->next;
	if (st->next)
		st->next->link = st->link;
	stream__free(st);
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
	if (ss->config.format->profile)
		err = aggregate__new(&st->aggregate, LIMIT_AGGREGATE, ss->config.format->labels);
	else
		err = 0;
	if (err)
		goto failed;
	err = output__open(&st->out, path, &ss->fault);
	if (err) {
		ss->err = err;
		goto failed;
	}
	err = ss->config.format->open(&st->writer, st->out, &ss->config.writer);
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
		stream__free(st);
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

int outputs__new(struct outputs **out, const struct outputs_config *config)
{
	struct outputs *ss = calloc(1, sizeof(*ss));

	*out = ss;
	if (!ss)
		return -ENOMEM;
	ss->config = *config;
	return 0;
}

/* Make the directory @path if it is not there. */
static int outputs__directory(struct outputs *ss, const char *path)
{
	int err = os__mkdir(path);

	if (err && err != -EEXIST)
		ss->err = errmsg__set(&ss->fault, err, "cannot make directory %s: %s", path,
				      strerror(-err));
	else if (!os__is_directory(path))
		ss->err = errmsg__set(&ss->fault, -ENOTDIR,
				      "%s is not a directory: several processes need one file each "
				      "in format %s",
				      path, ss->config.format->name);
	return ss->err;
}

static int outputs__begin(void *arg, uint32_t freq)
{
	struct outputs *ss = arg;
	const struct writer_ops *format = ss->config.format;
	const char *path = ss->config.path;
	char shared[STREAM_PATH_MAX];

	ss->config.writer.freq = freq;
	snprintf(shared, sizeof(shared), "%s", path);
	if (path__wants_directory(path, ss->config.several && format->per_process)) {
		if (outputs__directory(ss, path))
			return ss->err;
		if (format->per_process)
			ss->directory = path;
		else
			snprintf(shared, sizeof(shared), "%s/profile.%s", path, format->name);
	}
	return ss->directory ? 0 : stream__open(ss, shared, &ss->shared);
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

/* The stream of process @p, made if there is none yet; NULL: ss->err. */
static struct stream *outputs__stream(struct outputs *ss, const struct profile_process *p)
{
	char path[STREAM_PATH_MAX], serial[16] = "";
	struct stream *st;
	int seen;

	if (ss->err)
		return NULL;
	st = ss->directory ? map__get(&ss->own, p->serial, 0) : ss->shared;
	if (st)
		return st;
	seen = pid__seen(ss, p->pid);
	if (seen > 0)
		snprintf(serial, sizeof(serial), ".%" PRIu32, p->serial);
	if (snprintf(path, sizeof(path), "%s/Rprof.%" PRIu32 "%s.out", ss->directory, p->pid,
		     serial) >= (int)sizeof(path)) {
		ss->err = errmsg__set(&ss->fault, -ENAMETOOLONG, "%s: the name is too long",
				      ss->directory);
		return NULL;
	}
	if (seen < 0 || stream__open(ss, path, &st))
		goto failed;
	if (!map__put(&ss->own, p->serial, 0, st))
		return st;
failed:
	if (!ss->err)
		ss->err = errmsg__set(&ss->fault, -ENOMEM, "out of memory");
	return NULL;
}

static int outputs__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct outputs *ss = arg;
	struct stream *st;

	if (event == PROFILE_BEGAN)
		return outputs__stream(ss, p) ? 0 : ss->err;
	st = map__remove(&ss->own, p->serial, 0);
	if (st)
		stream__close(ss, st, NULL); /* its file is complete */
	return ss->err;
}

/* Add a sample to the profile of @st, which is written if there is no room for more. */
static int stream__add(struct outputs *ss, struct stream *st, const struct profile_process *p,
		       const struct sample *s)
{
	bool pieces = ss->config.format->pieces;
	int err = 0;

	if (pieces && aggregate__size(st->aggregate) > LIMIT_PIECE)
		err = stream__profile(ss, st, NULL);
	if (!err)
		err = aggregate__add(st->aggregate, p, s);
	if (err == -ENOSPC) {
		aggregate__drop(st->aggregate, p, s);
		err = 0;
	}
	return err;
}

static int outputs__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct outputs *ss = arg;
	struct stream *st = outputs__stream(ss, p);
	int err;

	if (!st)
		return ss->err;
	st->dirty = true;
	if (st->aggregate)
		err = stream__add(ss, st, p, s);
	else
		err = ss->config.format->sample(st->writer, p, s);
	return err ? outputs__fail(ss, st, err) : 0;
}

static int outputs__tick(void *arg, uint64_t now)
{
	struct outputs *ss = arg;
	const struct writer_ops *format = ss->config.format;
	bool profiles = format->profile && format->pieces && now - ss->flushed >= FLUSH_NS;
	int err;

	if (profiles)
		ss->flushed = now;
	for (struct stream *st = ss->all; st && !ss->err; st = st->next) {
		if (!st->dirty)
			continue;
		err = profiles ? stream__profile(ss, st, NULL) : 0;
		if (!err)
			err = output__flush(st->out);
		if (err)
			outputs__fail(ss, st, err);
		st->dirty = format->profile && !profiles;
	}
	return ss->err;
}

static int outputs__finish(void *arg, struct stats *stats)
{
	struct outputs *ss = arg;

	while (ss->all)
		stream__close(ss, ss->all, stats);
	map__free(&ss->own);
	if (stats)
		stats->stacks_dropped += ss->dropped;
	return ss->err;
}

static const struct errmsg *outputs__why(void *arg)
{
	struct outputs *ss = arg;

	return &ss->fault;
}

struct sink outputs__sink(struct outputs *ss)
{
	static const struct sink_ops ops = {
		.begin = outputs__begin,
		.process = outputs__process,
		.sample = outputs__sample,
		.tick = outputs__tick,
		.finish = outputs__finish,
		.why = outputs__why,
	};

	return (struct sink){&ops, ss};
}

void outputs__free(struct outputs *ss)
{
	if (!ss)
		return;
	outputs__finish(ss, NULL);
	free(ss->pids);
	free(ss);
}
