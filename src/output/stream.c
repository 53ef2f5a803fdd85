/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One file of a profile: its writer, what is added up for it, and its output. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "os/os.h"
#include "output/encode.h"
#include "output/outputs_parts.h"

#define WAIT_MS 20 /* between two checks for room */

static bool format__adds_up(const struct writer_ops *format)
{
	return format->row || format->profile;
}

/* A format with `row` has two, which are filled in turn. */
static int stream__aggregates(struct stream *st)
{
	const struct writer_ops *format = st->of->config.format;
	struct aggregate_config config = format->keeps;
	int err = 0;

	config.max = format->row ? st->of->aggregate / 2 : st->of->aggregate;
	config.width = st->of->config.timeline;
	config.interval_ns = about__interval(&st->of->config.writer.about);
	if (format__adds_up(format))
		err = aggregate__new(&st->filling, &config);
	if (!err && format->row)
		err = aggregate__new(&st->leaving, &config);
	return err;
}

int stream__open(struct stream **out, struct outputs *ss, const char *path, size_t number_at,
		 int wait_ms)
{
	const struct writer_ops *format = ss->config.format;
	struct stream *st = calloc(1, sizeof(*st));
	struct errmsg *f = &ss->fault;
	struct output_config to = {
		.files = ss->config.files,
		.queue = &ss->queue,
		.wait = &ss->wait,
		.number_at = number_at,
		.max = ss->config.max_file,
		.wait_ms = wait_ms,
	};
	int err;

	*out = NULL;
	if (!st)
		return errmsg__set(f, -ENOMEM, "out of memory");
	st->of = ss;
	st->path = strdup(path);
	err = st->path ? stream__aggregates(st) : -ENOMEM;
	if (err) {
		errmsg__set(f, err, "out of memory");
		goto failed;
	}
	to.path = st->path;
	err = output__open(&st->out, &to, f);
	if (err)
		goto failed;
	if (format->open)
		err = format->open(&st->writer, st->out, &ss->config.writer);
	if (err) {
		errmsg__set(f, err, "cannot write %s: %s", path, os__reason(err));
		goto failed;
	}
	*out = st;
	return 0;
failed:
	stream__free(st, NULL);
	return err;
}

/* Write as many rows of the leaving profile as fit now. */
static int stream__pour(struct stream *st)
{
	const struct aggregate_row *rows;
	int err = 0;
	size_t n;

	rows = aggregate__rows(st->leaving, &n);
	if (!n)
		return 0;
	while (err >= 0 && st->row < n && output__room(st->out, LIMIT_LINE)) {
		err = st->of->config.format->row(st->writer, st->leaving, &rows[st->row]);
		st->row += err >= 0;
	}
	if (err >= 0 && st->row == n) {
		aggregate__clear(st->leaving);
		st->row = 0;
	}
	return err < 0 ? err : 0;
}

/* Start writing what was added up, if all before it has been written. */
static int stream__turn(struct stream *st)
{
	struct aggregate *full = st->filling;
	int err = stream__pour(st);
	size_t n;

	aggregate__rows(st->leaving, &n);
	if (err || n)
		return err;
	st->filling = st->leaving;
	st->leaving = full;
	return stream__pour(st);
}

int stream__add(struct stream *st, const struct profile_process *p, const struct sample *s)
{
	int err = 0, taken;

	if (st->leaving && aggregate__size(st->filling) > st->of->aggregate / 4)
		err = stream__turn(st);
	/* not all of the leaving profile fits */
	while (!err && st->leaving && st->of->config.waits &&
	       aggregate__size(st->filling) > st->of->aggregate / 4) {
		err = output__flush(st->out);
		files__poll(st->of->config.files, WAIT_MS);
		err = err ? err : stream__turn(st);
	}
	/* one that cannot be written is counted with those that are in it */
	taken = aggregate__take(st->filling, p, s);
	return err ? err : taken;
}

void stream__know(struct stream *st, const struct profile_process *p)
{
	if (st->filling && st->of->config.format->profile)
		aggregate__know(st->filling, p);
}

void stream__learn(struct stream *st, const struct profile_call *call)
{
	if (st->filling)
		aggregate__learn(st->filling, call);
}

int stream__flush(struct stream *st, bool profile)
{
	int err = 0;

	/* a file is read when it is complete: each stack is in it once, if there are not too many
	 */
	if (st->leaving)
		err = (profile && !output__regular(st->out)) || st->ended ? stream__turn(st)
									  : stream__pour(st);
	return err ? err : output__flush(st->out);
}

int stream__end(struct stream *st, const struct stats *stats)
{
	int err = 0;

	if (st->ended)
		return 0;
	st->ended = true;
	if (st->filling && !st->leaving)
		err = st->of->config.format->profile(st->out, &st->of->config.writer, st->filling,
						     stats);
	if (!err)
		err = stream__flush(st, true);
	return err < 0 ? err : 0;
}

/* Has the writer passed on everything? */
static bool stream__poured(const struct stream *st)
{
	size_t filling, leaving;

	if (!st->leaving)
		return true;
	aggregate__rows(st->filling, &filling);
	aggregate__rows(st->leaving, &leaving);
	return !filling && !leaving;
}

bool stream__done(struct stream *st)
{
	if (stream__flush(st, true))
		return true;
	if (!stream__poured(st))
		return false;
	if (st->writer)
		st->of->config.format->close(st->writer);
	st->writer = NULL;
	output__end(st->out);
	return output__done(st->out);
}

/* Samples of the rows from @row on. */
static uint64_t aggregate__samples(const struct aggregate *a, size_t row)
{
	const struct aggregate_row *rows;
	uint64_t samples = 0;
	size_t n;

	if (!a)
		return 0;
	rows = aggregate__rows(a, &n);
	for (; row < n; row++)
		samples += row__samples(&rows[row]);
	return samples;
}

/* Samples of the aggregates that are not in the file. */
static uint64_t stream__unwritten(const struct stream *st)
{
	if (st->leaving)
		return aggregate__samples(st->filling, 0) +
		       aggregate__samples(st->leaving, st->row);
	/* a profile is in the file completely, or not at all */
	return output__complete(st->out) ? 0 : aggregate__samples(st->filling, 0);
}

int stream__free(struct stream *st, struct stats *stats)
{
	uint64_t unwritten, dropped;
	int err;

	if (!st)
		return 0;
	unwritten = st->out ? stream__unwritten(st) : 0;
	dropped = st->filling ? aggregate__dropped(st->filling) : 0;
	dropped += st->leaving ? aggregate__dropped(st->leaving) : 0;
	if (st->writer)
		st->of->config.format->close(st->writer);
	err = output__close(st->out, &unwritten);
	if (stats) {
		stats->stacks_dropped += dropped;
		if (err != -EPIPE)
			stats->unwritten += unwritten;
	}
	aggregate__free(st->filling);
	aggregate__free(st->leaving);
	free(st->path);
	free(st);
	return err;
}
