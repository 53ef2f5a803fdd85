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
#include "output/stream.h"
#include "base/limits.h"

#define STREAM_PATH_MAX 4096		  /* bytes */
#define FLUSH_NS	NS_PER_S	  /* between two profiles that a file is made of */
#define WAIT_NS		(100 * NS_PER_MS) /* from one tick to the next, for room in the queue */
#define OPEN_FIRST_MS	1000 /* for the first file to be open, before anything is sampled */
#define OPEN_MS		20   /* for others */

struct outputs {
	struct outputs_config config;
	struct stream_config streams;
	struct budget queue, files;
	struct output_wait wait;
	struct stats dropped;  /* what the streams that are gone counted, and `refused` */
	const char *directory; /* NULL: all is in `shared` */
	struct stream *shared;
	struct stream *all;
	uint32_t count;	       /* of them */
	struct stream refused; /* stands for those that could not be opened for lack of room */
	struct map own;	       /* in a directory: (serial, 0) to the process' stream */
	uint64_t flushed;      /* when profiles were last written; ns, CLOCK_MONOTONIC */
	uint8_t *pids;	       /* bit set: a file of that pid was made in this run */
	size_t pids_size;
	bool said_refused, said_dropped, said_stacks;
	int err;
	struct errmsg fault;
};

static const char *path__name(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "standard output";
}

/* Keep the first error. */
static int outputs__fail(struct outputs *ss, const struct stream *st, int err)
{
	if (!ss->err) {
		ss->err = err;
		errmsg__set(&ss->fault, err, "cannot write to %s: %s", path__name(st->path),
			    err == -EFBIG ? "the file may not grow any more (ulimit -f)"
					  : os__reason(err));
	}
	return ss->err;
}

/* How long it may wait for room until this is called again. */
static void outputs__time(struct outputs *ss)
{
	ss->wait.ns = ss->config.waits ? UINT64_MAX : WAIT_NS;
}

static void outputs__note(struct outputs *ss, bool *said, const char *line)
{
	if (!*said && ss->config.note)
		ss->config.note(ss->config.note_arg, line);
	*said = true;
}

static void outputs__put(struct outputs *ss, struct stream *st)
{
	st->next = ss->all;
	st->link = &ss->all;
	if (st->next)
		st->next->link = &st->next;
	ss->all = st;
	ss->count++;
}

static void outputs__remove(struct outputs *ss, struct stream *st)
{
	int err;

	*st->link = st->next;
	if (st->next)
		st->next->link = st->link;
	ss->count--;
	err = stream__error(st);
	if (err)
		outputs__fail(ss, st, err);
	stream__free(st, &ss->dropped);
}

static bool path__wants_directory(struct outputs *ss, const char *path, bool several)
{
	size_t len = strlen(path);

	if (!strcmp(path, "-"))
		return false;
	return several || (len && path[len - 1] == '/') ||
	       files__directory(ss->config.files, path, false) == 1;
}

int outputs__new(struct outputs **out, const struct outputs_config *config)
{
	size_t memory = config->memory ? config->memory : LIMIT_MEMORY;
	struct outputs *ss = calloc(1, sizeof(*ss));

	*out = ss;
	if (!ss)
		return -ENOMEM;
	ss->config = *config;
	ss->queue.max = LIMIT_QUEUE(memory);
	ss->files.max = LIMIT_FILES(memory);
	ss->config.writer.files = &ss->files;
	ss->config.writer.cut = &ss->dropped.lines_cut;
	ss->streams = (struct stream_config){
		.format = config->format,
		.writer = ss->config.writer,
		.files = config->files,
		.queue = &ss->queue,
		.wait = &ss->wait,
		.max_file = config->max_file,
		.aggregate = LIMIT_AGGREGATE(memory),
		.waits = config->waits,
	};
	if (config->waits)
		outputs__time(ss);
	return 0;
}

/* Make the directory @path if it is not there. */
static int outputs__directory(struct outputs *ss, const char *path)
{
	int err = files__directory(ss->config.files, path, true);

	if (err < 0)
		ss->err = errmsg__set(&ss->fault, err, "cannot make directory %s: %s", path,
				      os__reason(err));
	else if (!err)
		ss->err = errmsg__set(&ss->fault, -ENOTDIR,
				      "%s is not a directory: several processes need one file each "
				      "in format %s",
				      path, ss->config.format->name);
	return ss->err;
}

static int outputs__begin(void *arg, const struct profile_about *about)
{
	struct outputs *ss = arg;
	const struct writer_ops *format = ss->config.format;
	const char *path = ss->config.path;
	char shared[STREAM_PATH_MAX];

	ss->streams.writer.about = *about;
	if (!about->command)
		ss->streams.writer.about.command = ss->config.writer.about.command;
	if (!about->host)
		ss->streams.writer.about.host = ss->config.writer.about.host;
	snprintf(shared, sizeof(shared), "%s", path);
	if (path__wants_directory(ss, path, ss->config.several && format->per_process)) {
		if (outputs__directory(ss, path))
			return ss->err;
		if (format->per_process)
			ss->directory = path;
		else
			snprintf(shared, sizeof(shared), "%s/profile%s", path, format->suffix);
	}
	if (ss->directory)
		return 0;
	ss->err = stream__open(&ss->shared, &ss->streams, shared, OPEN_FIRST_MS, &ss->fault);
	if (!ss->err)
		outputs__put(ss, ss->shared);
	return ss->err;
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

/* Open the file of a process; one too many for the system is no failure of the others. */
static int outputs__open(struct outputs *ss, const char *path, struct stream **st)
{
	int err = -EMFILE;

	if (ss->count < LIMIT_STREAMS)
		err = stream__open(st, &ss->streams, path, OPEN_MS, &ss->fault);
	if (!err) {
		outputs__put(ss, *st);
	} else if (err == -EMFILE || err == -ENFILE) {
		outputs__note(ss, &ss->said_refused,
			      "too many files are open (ulimit -n): those of some processes are "
			      "not written");
		*st = &ss->refused;
		err = 0;
	}
	return err;
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
	ss->err = seen < 0 ? seen : outputs__open(ss, path, &st);
	if (!ss->err && map__put(&ss->own, p->serial, 0, st))
		ss->err = -ENOMEM;
	if (ss->err == -ENOMEM)
		errmsg__set(&ss->fault, -ENOMEM, "out of memory");
	return ss->err ? NULL : st;
}

static int outputs__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct outputs *ss = arg;
	struct stream *st;
	int err;

	if (event == PROFILE_BEGAN && !outputs__stream(ss, p))
		return ss->err;
	if (ss->shared)
		stream__know(ss->shared, p);
	if (event != PROFILE_ENDED)
		return ss->err;
	st = map__remove(&ss->own, p->serial, 0);
	if (!st || st == &ss->refused)
		return ss->err;
	err = stream__end(st, NULL);
	if (err)
		return outputs__fail(ss, st, err);
	if (stream__done(st))
		outputs__remove(ss, st);
	return ss->err;
}

static int outputs__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct outputs *ss = arg;
	struct stream *st = outputs__stream(ss, p);
	int err;

	if (!st)
		return ss->err;
	if (st == &ss->refused) {
		ss->dropped.unwritten++;
		return 0;
	}
	err = stream__sample(st, p, s);
	if (err == OUTPUT_DROPPED)
		outputs__note(ss, &ss->said_dropped,
			      "samples are dropped: their files are full, or are not written as "
			      "fast as they come");
	if (st->filling && aggregate__dropped(st->filling))
		outputs__note(ss, &ss->said_stacks,
			      "there is no memory for more stacks: they are counted, and shown as "
			      "<no-room> (--max-memory)");
	return err < 0 ? outputs__fail(ss, st, err) : 0;
}

static int outputs__tick(void *arg, uint64_t now)
{
	struct outputs *ss = arg;
	bool profiles = now - ss->flushed >= FLUSH_NS;
	struct stream *st, *next;
	int err;

	if (profiles)
		ss->flushed = now;
	outputs__time(ss);
	for (st = ss->all; st && !ss->err; st = next) {
		next = st->next;
		err = stream__flush(st, profiles);
		if (err)
			outputs__fail(ss, st, err);
		else if (st->ended && stream__done(st))
			outputs__remove(ss, st);
	}
	return ss->err;
}

/* All files are completed, as far as that is done soon enough. */
static void outputs__complete(struct outputs *ss, struct stats *stats)
{
	struct patience patience = patience__begin(ss->config.files);
	struct stream *st, *next;
	int err;

	patience.endless = ss->config.waits;
	for (st = ss->all; st; st = st->next) {
		err = stream__end(st, stats);
		if (err)
			outputs__fail(ss, st, err);
	}
	do {
		for (st = ss->all; st; st = next) {
			next = st->next;
			if (stream__done(st))
				outputs__remove(ss, st);
		}
	} while (ss->all && patience__wait(&patience));
}

static int outputs__finish(void *arg, struct stats *stats)
{
	struct outputs *ss = arg;
	char place[256];
	bool late;

	if (ss->all)
		outputs__complete(ss, stats);
	late = ss->all;
	if (late)
		snprintf(place, sizeof(place), "%s", path__name(ss->config.path));
	while (ss->all)
		outputs__remove(ss, ss->all);
	map__free(&ss->own);
	if (stats) {
		stats->stacks_dropped += ss->dropped.stacks_dropped;
		stats->unwritten += ss->dropped.unwritten;
		stats->lines_cut += ss->dropped.lines_cut;
	}
	if (late && !ss->err)
		ss->err =
			errmsg__set(&ss->fault, -ETIMEDOUT,
				    "cannot write to %s: it takes no more, or too slowly; %" PRIu64
				    " samples were not written",
				    place, ss->dropped.unwritten);
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
