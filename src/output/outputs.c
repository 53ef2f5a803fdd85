/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "os/os.h"
#include "output/outputs_parts.h"
#include "base/limits.h"

#define FLUSH_NS	NS_PER_S	  /* between two profiles written to a pipe */
#define WAIT_NS		(100 * NS_PER_MS) /* wait for room in the queue, from one tick to the next */
#define FAILED_REPORTED 3		  /* files that cannot be written and are named */

static const char *path__name(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "standard output";
}

const char *error__reason(int err)
{
	return err == -EFBIG ? "the file reached its size limit (--max-file, ulimit -f)"
			     : os__reason(err);
}

int path__stem(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return (int)len;
}

/* Keep the first error. */
static int outputs__fail(struct outputs *ss, const struct stream *st, int err)
{
	if (!ss->err) {
		ss->err = err;
		errmsg__set(&ss->fault, err, "cannot write to %s: %s", path__name(st->path),
			    error__reason(err));
	}
	return ss->err;
}

/* Refill the time for waiting. */
static void outputs__time(struct outputs *ss)
{
	ss->wait.ns = ss->config.waits ? UINT64_MAX : WAIT_NS;
}

void outputs__note(struct outputs *ss, bool *said, const char *fmt, ...)
{
	char line[2 * STREAM_PATH_MAX];
	va_list ap;

	if (said && *said)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (ss->config.note)
		ss->config.note(ss->config.note_arg, line);
	if (said)
		*said = true;
}

void outputs__file_failed(struct outputs *ss, const char *path, int err)
{
	if (ss->failed++ >= FAILED_REPORTED)
		return;
	outputs__note(
		ss, NULL,
		"cannot write to %s: %s; samples of this process are counted, other files are "
		"still written%s",
		path, error__reason(err),
		ss->failed == FAILED_REPORTED ? "; no more such files are reported" : "");
}

int outputs__trouble(struct outputs *ss, struct stream *st, int err)
{
	struct entry *entry = map__get(&ss->entries, st->serial, 0);
	bool numbered;

	if (st->failed)
		return ss->err;
	if (!ss->directory || err == -ENOMEM || files__error(ss->config.files))
		return outputs__fail(ss, st, err);
	st->failed = true;
	if (entry && entry->st == st) {
		entry__complete(entry);
		entry->refused = true;
	}
	outputs__file_failed(ss, output__path(st->out, &numbered), err);
	return ss->err;
}

/* Report if its name was taken, so that it is written by another one. */
static void outputs__look_at_name(struct outputs *ss, const struct stream *st)
{
	bool numbered;
	const char *path = output__path(st->out, &numbered);

	if (numbered)
		outputs__note(ss, &ss->said_taken,
			      "%s already exists and is kept: writing %s instead", st->path, path);
}

void outputs__put(struct outputs *ss, struct stream *st)
{
	st->next = ss->all;
	st->link = &ss->all;
	if (st->next)
		st->next->link = &st->next;
	ss->all = st;
	ss->count++;
}

void outputs__remove(struct outputs *ss, struct stream *st)
{
	int err;

	*st->link = st->next;
	if (st->next)
		st->next->link = st->link;
	ss->count--;
	if (st == ss->others)
		ss->others = NULL;
	err = output__error(st->out);
	outputs__look_at_name(ss, st);
	if (err)
		outputs__trouble(ss, st, err);
	stream__free(st, &ss->dropped);
}

static bool path__wants_directory(struct files *files, const char *path, bool several)
{
	size_t len = strlen(path);

	if (!strcmp(path, "-"))
		return false;
	return several || (len && path[len - 1] == '/') ||
	       files__directory(files, path, false) == 1;
}

int outputs__file(struct files *files, const char *path, const struct writer_ops *format,
		  bool several, char to[STREAM_PATH_MAX], size_t *number_at, struct errmsg *f)
{
	int err;

	several = several && format->per_process;
	*number_at = 0;
	snprintf(to, STREAM_PATH_MAX, "%s", path);
	if (!path__wants_directory(files, path, several))
		return 0;
	err = files__directory(files, path, true);
	if (err < 0)
		return errmsg__set(f, err, "cannot create directory %s: %s", path, os__reason(err));
	if (!err && several)
		return errmsg__set(f, -ENOTDIR,
				   "%s is not a directory: several processes need one file each "
				   "in format %s",
				   path, format->name);
	if (!err)
		return errmsg__set(f, -ENOTDIR, "%s is not a directory", path);
	if (format->per_process)
		return 1;
	*number_at = (size_t)snprintf(to, STREAM_PATH_MAX, "%.*s/profile%s", path__stem(path), path,
				      format->suffix) -
		     strlen(format->suffix);
	return 0;
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
	/* a format with a file for each process has no aggregate */
	ss->kept.max = LIMIT_AGGREGATE(memory);
	ss->config.writer.files = &ss->files;
	ss->config.writer.cut = &ss->dropped.lines_cut;
	ss->config.writer.sources = &ss->sources;
	ss->aggregate = LIMIT_AGGREGATE(memory);
	if (config->waits)
		outputs__time(ss);
	return 0;
}

static int outputs__begin(void *arg, const struct profile_about *about)
{
	struct outputs *ss = arg;
	const struct profile_about own = ss->config.writer.about;
	const char *path = ss->config.path;
	char shared[STREAM_PATH_MAX];
	size_t number_at = 0;

	ss->config.writer.about = *about;
	if (!about->command)
		ss->config.writer.about.command = own.command;
	if (!about->host)
		ss->config.writer.about.host = own.host;
	ss->err = outputs__file(ss->config.files, path, ss->config.format, ss->config.several,
				shared, &number_at, &ss->fault);
	if (ss->err == 1) {
		ss->directory = path;
		ss->err = 0;
		return directory__open_index(ss);
	}
	if (ss->err)
		return ss->err;
	ss->err = stream__open(&ss->shared, ss, shared, number_at, OPEN_FIRST_MS);
	if (!ss->err)
		outputs__put(ss, ss->shared);
	return ss->err;
}

/* Where a number goes in a name that is taken: before the suffix of the format. */
static size_t path__number_at(const char *path, const struct writer_ops *format)
{
	size_t len = strlen(path), suffix = strlen(format->suffix);
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	if (len > suffix && !strcmp(path + len - suffix, format->suffix))
		return len - suffix;
	if (dot && dot > path && (!slash || dot > slash + 1))
		return (size_t)(dot - path);
	return len;
}

int outputs__reopen(struct outputs *ss)
{
	struct stream *st, *old = ss->shared;
	const char *path = old ? old->path : NULL;
	int err;

	if (ss->err || (old && !output__regular(old->out)))
		return ss->err;
	for (st = ss->all; st; st = st->next) {
		err = stream__end(st, NULL);
		if (err)
			outputs__trouble(ss, st, err);
	}
	if (!old && directory__reopen(ss))
		return ss->err;
	ss->config.writer.about.began = os__now();
	ss->config.writer.about.began_real = os__real_time();
	if (!old || ss->err)
		return ss->err;
	/* the old stream stays in the list until all of it is written */
	ss->err = stream__open(&ss->shared, ss, path, path__number_at(path, ss->config.format),
			       OPEN_FIRST_MS);
	if (!ss->err)
		outputs__put(ss, ss->shared);
	else
		ss->shared = NULL;
	return ss->err;
}

bool outputs__per_process(const struct outputs *ss)
{
	const struct writer_ops *format = ss->config.format;

	return ss->directory ||
	       (format->per_process &&
		path__wants_directory(ss->config.files, ss->config.path, ss->config.several));
}

static int outputs__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct outputs *ss = arg;

	if (ss->err)
		return ss->err;
	if (ss->shared)
		stream__know(ss->shared, p);
	if (!ss->directory)
		return 0;
	if (event == PROFILE_KNOWN) {
		entry__known(ss, p);
		return 0;
	}
	return event == PROFILE_BEGAN	? entry__begin(ss, p)
	       : event == PROFILE_ENDED ? entry__ended(ss, p)
					: entry__stopped(ss, p);
}

int outputs__give(struct outputs *ss, struct stream *st, const struct profile_process *p,
		  const struct sample *s)
{
	int err = st->filling ? stream__add(st, p, s) : ss->config.format->sample(st->writer, p, s);

	if (err == OUTPUT_DROPPED)
		outputs__note(ss, &ss->said_dropped,
			      "samples are dropped: their files are full, or cannot be written "
			      "fast enough");
	if (st->filling && aggregate__dropped(st->filling))
		outputs__note(ss, &ss->said_stacks,
			      "memory is full: more stacks are counted, and shown as <no-room> "
			      "(--max-memory)");
	if (st->filling && aggregate__uncalled(st->filling))
		outputs__note(ss, &ss->said_calls,
			      "memory is full of calls: samples of further ones are counted "
			      "without their call (--max-memory)");
	if (st->filling && aggregate__unlabelled(st->filling))
		outputs__note(ss, &ss->said_labels,
			      "R sets more than 1,000 different labels (option xrprof.labels): "
			      "samples with further ones have none");
	if (err == -ENOMEM && !st->filling && !output__error(st->out))
		ss->dropped.unwritten += s->weight; /* it came to no output__commit() */
	if (err < 0)
		outputs__trouble(ss, st, err);
	return err;
}

static int outputs__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct outputs *ss = arg;

	if (ss->err)
		return ss->err;
	if (ss->directory)
		return entry__sample(ss, p, s);
	outputs__give(ss, ss->shared, p, s);
	return ss->err;
}

/* The formats with calls have one file. */
static int outputs__call(void *arg, const struct profile_process *p,
			 const struct profile_call *call)
{
	struct outputs *ss = arg;

	(void)p;
	if (ss->shared)
		stream__learn(ss->shared, call);
	return ss->err;
}

static int outputs__source(void *arg, uint32_t serial, const struct profile_source *source)
{
	struct outputs *ss = arg;

	if (!ss->err && source_texts__add(&ss->sources, serial, source))
		ss->err = errmsg__set(&ss->fault, -ENOMEM, "out of memory");
	return ss->err;
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
		outputs__look_at_name(ss, st);
		if (err)
			outputs__trouble(ss, st, err);
		if (!ss->err && (st->failed || (st->ended && stream__done(st))))
			outputs__remove(ss, st);
	}
	directory__tick(ss);
	return ss->err;
}

/* Complete all files, as far as the limits of time allow. */
static void outputs__complete(struct outputs *ss, struct stats *stats)
{
	struct patience patience = patience__begin(ss->config.files);
	struct stream *st, *next;
	int err;

	patience.endless = ss->config.waits;
	for (st = ss->all; st; st = st->next) {
		err = stream__end(st, stats);
		if (err)
			outputs__trouble(ss, st, err);
	}
	do {
		for (st = ss->all; st; st = next) {
			next = st->next;
			if (st->failed || stream__done(st))
				outputs__remove(ss, st);
		}
	} while (ss->all && patience__wait(&patience));
}

static int outputs__finish(void *arg, struct stats *stats)
{
	struct outputs *ss = arg;
	char place[256];
	bool late;

	directory__settle(ss);
	if (ss->all)
		outputs__complete(ss, stats);
	if (ss->sources.without)
		outputs__note(ss, &ss->said_sources, "%s", ss->sources.why);
	late = ss->all;
	if (late)
		snprintf(place, sizeof(place), "%s", path__name(ss->config.path));
	while (ss->all)
		outputs__remove(ss, ss->all);
	directory__free(ss);
	if (stats) {
		stats->stacks_dropped += ss->dropped.stacks_dropped;
		stats->unwritten += ss->dropped.unwritten;
		stats->lines_cut += ss->dropped.lines_cut;
	}
	if (late && !ss->err)
		ss->err = errmsg__set(
			&ss->fault, -ETIMEDOUT,
			"cannot write to %s: it is full or too slow; %" PRIu64 " %s not written",
			place, ss->dropped.unwritten,
			count__word(ss->dropped.unwritten, "sample was", "samples were"));
	if (ss->failed && !ss->err)
		ss->err = errmsg__set(
			&ss->fault, -EIO,
			"%" PRIu64 " of %" PRIu64
			" %s in %s could not be written completely; %" PRIu64 " %s not written",
			ss->failed, ss->made, count__word(ss->made, "file", "files"),
			ss->config.path, ss->dropped.unwritten,
			count__word(ss->dropped.unwritten, "sample was", "samples were"));
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
		.call = outputs__call,
		.source = outputs__source,
		.tick = outputs__tick,
		.finish = outputs__finish,
		.why = outputs__why,
	};

	return (struct sink){.ops = &ops, .arg = ss};
}

void outputs__free(struct outputs *ss)
{
	if (!ss)
		return;
	outputs__finish(ss, NULL);
	source_texts__free(&ss->sources);
	free(ss);
}
