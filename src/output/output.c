/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "output/output.h"
#include "os/os.h"

#define OUTPUT_ENOUGH 65536u /* committed bytes that are not kept back any longer */
#define OUTPUT_KEEP   65536u /* bytes of an empty buffer that is not freed */
#define WAIT_MS	      20     /* between two looks at what was written */

struct output {
	const struct output_config config;
	struct file *file;  /* NULL: it goes to `memory` */
	struct buf *memory; /* which is written to at once, and cut at the end */
	size_t whole, most; /* bytes of it that were committed; that there may be, 0: any */
	int error;	    /* the first there was */
	bool over;	    /* the file is as long as it may be */
	struct buf buf;
	uint64_t before;   /* bytes of the file that are not in buf any more: they were written */
	size_t given;	   /* of buf, to be written */
	size_t *ends;	   /* where in buf commits were, ascending */
	uint64_t *samples; /* of each */
	size_t ncommits, cap;
	uint64_t unwritten; /* samples that were dropped */
	bool ending;
};

/* What a piece of @len bytes takes of the queue: it, as much again in store, and its end. */
static size_t piece__cost(size_t len)
{
	return 2 * len + 32;
}

static int output__fail(struct output *o, int err)
{
	if (err && !o->error)
		o->error = err;
	return o->error;
}

int output__open(struct output **out, const struct output_config *config, struct errmsg *f)
{
	uint64_t end = os__now() + (uint64_t)config->wait_ms * NS_PER_MS;
	struct output *o = calloc(1, sizeof(*o));
	int err;

	*out = NULL;
	if (!o)
		return errmsg__set(f, -ENOMEM, "out of memory");
	memcpy((void *)(uintptr_t)&o->config, config, sizeof(*config));
	err = config->number_at
		      ? files__open_new(config->files, &o->file, config->path, config->number_at)
		      : files__open(config->files, &o->file, config->path);
	while (!err && !o->file->opened && os__now() < end)
		files__poll(config->files, WAIT_MS);
	if (!err && !o->file->path)
		err = -ENOMEM;
	err = err ? err : o->file->error;
	if (!err) {
		*out = o;
		return 0;
	}
	file__free(o->file);
	free(o);
	return errmsg__set(f, err, "cannot write to %s: %s; choose another place with -o",
			   strcmp(config->path, "-") != 0 ? config->path : "standard output",
			   os__reason(err));
}

int output__memory(struct output **out, struct buf *to, size_t max)
{
	struct output *o = calloc(1, sizeof(*o));

	*out = o;
	if (!o)
		return -ENOMEM;
	o->memory = to;
	o->whole = to->len;
	o->most = max ? to->len + max : 0;
	return 0;
}

static struct buf *output__buf(struct output *o)
{
	return o->memory ? o->memory : &o->buf;
}

/* Does @len more fit into the memory that it goes to? */
static bool output__fits(const struct output *o, size_t len)
{
	return !o->most || len <= o->most - o->memory->len;
}

int output__write(struct output *o, const char *data, size_t len)
{
	if (o->error)
		return o->error;
	if (!output__fits(o, len))
		return output__fail(o, -EMSGSIZE);
	return output__fail(o, buf__add(output__buf(o), data, len));
}

int output__printf(struct output *o, const char *fmt, ...)
{
	struct buf *buf = output__buf(o);
	size_t len = buf->len;
	va_list ap;
	int err;

	if (o->error)
		return o->error;
	va_start(ap, fmt);
	err = buf__vprintf(buf, fmt, ap);
	va_end(ap);
	if (!err && o->most && buf->len > o->most) {
		buf->len = len;
		err = -EMSGSIZE;
	}
	return output__fail(o, err);
}

/* Bytes at the start of buf that may go. */
static size_t output__committed(const struct output *o)
{
	return o->ncommits ? o->ends[o->ncommits - 1] : 0;
}

/* How many pieces were written. */
static size_t output__written(const struct output *o)
{
	size_t written = (size_t)(o->file->written - o->before), low = 0, high = o->ncommits;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (o->ends[middle] <= written)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Let go the first @n pieces. */
static void output__forget(struct output *o, size_t n)
{
	size_t cut = n ? o->ends[n - 1] : 0, cost = 0;

	for (size_t i = 0; i < n; i++)
		cost += piece__cost(o->ends[i] - (i ? o->ends[i - 1] : 0));
	budget__give(o->config.queue, cost);
	for (size_t i = n; i < o->ncommits; i++) {
		o->ends[i - n] = o->ends[i] - cut;
		o->samples[i - n] = o->samples[i];
	}
	o->ncommits -= n;
	o->before += cut;
	o->given -= cut;
	o->buf.len -= cut;
	if (o->buf.len)
		memmove(o->buf.data, o->buf.data + cut, o->buf.len);
	else if (o->buf.cap > OUTPUT_KEEP)
		buf__free(&o->buf);
}

/* Let go what was written; @all: or only where that is worth moving the rest. */
static void output__settle(struct output *o, bool all)
{
	size_t n = output__written(o);

	if (n && (all || n == o->ncommits || o->ends[n - 1] > o->buf.len / 2))
		output__forget(o, n);
}

/* Take @cost of the queue, if it has that much. */
static bool output__take(struct output *o, size_t cost)
{
	if (budget__take(o->config.queue, cost))
		return true;
	files__poll(o->config.files, 0);
	output__settle(o, true);
	return budget__take(o->config.queue, cost);
}

bool output__room(struct output *o, size_t len)
{
	if (o->memory)
		return output__fits(o, len);
	if (!output__take(o, piece__cost(len)))
		return false;
	budget__give(o->config.queue, piece__cost(len));
	return true;
}

/* The same, but wait for room as long as that is allowed. */
static bool output__take_later(struct output *o, size_t cost)
{
	struct output_wait *wait = o->config.wait;
	uint64_t now, since = os__now();
	bool taken = output__take(o, cost);

	if (taken || !wait || (wait->hangs && wait->news == files__news(o->config.files)))
		return taken;
	wait->news = files__news(o->config.files);
	while (!taken && wait->ns && !output__flush(o)) {
		files__poll(o->config.files, WAIT_MS);
		taken = output__take(o, cost);
		now = os__now();
		wait->ns -= now - since < wait->ns ? now - since : wait->ns;
		since = now;
	}
	wait->hangs = wait->news == files__news(o->config.files);
	return taken;
}

/* Would the file grow longer than it may? */
static bool output__over(struct output *o)
{
	if (o->config.max && o->file->regular && o->before + o->buf.len > o->config.max)
		o->over = true;
	return o->over;
}

/* Now that the file is known to be regular: drop the pieces that do not fit into it. */
static void output__trim(struct output *o)
{
	size_t whole = output__committed(o), keep = 0, end, cost = 0;

	if (!o->config.max || !o->file->regular || o->before + whole <= o->config.max)
		return;
	while (o->before + o->ends[keep] <= o->config.max)
		keep++;
	end = keep ? o->ends[keep - 1] : 0;
	for (size_t i = keep; i < o->ncommits; i++) {
		o->unwritten += o->samples[i];
		cost += piece__cost(o->ends[i] - (i ? o->ends[i - 1] : 0));
	}
	budget__give(o->config.queue, cost);
	memmove(o->buf.data + end, o->buf.data + whole, o->buf.len - whole);
	o->buf.len -= whole - end;
	o->ncommits = keep;
	o->over = true;
}

static int output__commits_room(struct output *o)
{
	size_t cap = o->cap ? o->cap * 2 : 64;
	size_t *ends;
	uint64_t *samples;

	if (o->ncommits < o->cap)
		return 0;
	ends = realloc(o->ends, cap * sizeof(*ends));
	if (ends)
		o->ends = ends;
	samples = realloc(o->samples, cap * sizeof(*samples));
	if (samples)
		o->samples = samples;
	if (!ends || !samples)
		return output__fail(o, -ENOMEM);
	o->cap = cap;
	return 0;
}

int output__commit(struct output *o, uint64_t samples)
{
	size_t whole = output__committed(o), cost = piece__cost(o->buf.len - whole);

	if (o->error) {
		o->unwritten += samples;
		return o->error;
	}
	if (o->memory) {
		o->whole = o->memory->len;
		return 0;
	}
	if (o->buf.len == whole)
		return 0;
	if (output__commits_room(o))
		return o->error;
	if (output__over(o) || (samples && !output__take_later(o, cost))) {
		o->buf.len = output__committed(o);
		o->unwritten += samples;
		return OUTPUT_DROPPED;
	}
	if (!samples)
		budget__owe(o->config.queue, cost);
	o->ends[o->ncommits] = o->buf.len;
	o->samples[o->ncommits++] = samples;
	/* the piece is counted from here on: what fails now is the error of the next call */
	if (o->buf.len - o->given >= OUTPUT_ENOUGH)
		output__flush(o);
	return 0;
}

int output__flush(struct output *o)
{
	size_t whole, first;

	if (o->memory)
		return o->error;
	files__poll(o->config.files, 0);
	output__settle(o, false);
	if (o->file->error)
		output__fail(o, o->file->error);
	if (o->error)
		return o->error;
	if (o->config.max && !o->file->opened)
		return 0;
	output__trim(o);
	whole = output__committed(o);
	first = output__written(o);
	while (first < o->ncommits && o->ends[first] <= o->given)
		first++;
	if (o->given < whole) {
		size_t *ends = o->ends + first, base = o->given;

		for (size_t i = 0; i < o->ncommits - first; i++)
			ends[i] -= base;
		o->given += file__give(o->file, o->buf.data + base, whole - base, ends,
				       o->ncommits - first);
		for (size_t i = 0; i < o->ncommits - first; i++)
			ends[i] += base;
	}
	if (o->ending && o->given == whole)
		file__close(o->file);
	return 0;
}

int output__error(const struct output *o)
{
	return o->error || o->memory ? o->error : o->file->error;
}

bool output__regular(const struct output *o)
{
	return o->file && o->file->opened && o->file->regular;
}

const char *output__path(const struct output *o, bool *numbered)
{
	*numbered = o->file->number;
	return o->file->path;
}

size_t output__waiting(const struct output *o)
{
	size_t written, whole = output__committed(o);

	if (o->memory)
		return 0;
	written = (size_t)(o->file->written - o->before);
	return o->error || written > whole ? 0 : whole - written;
}

bool output__complete(const struct output *o)
{
	return o->file->written && !output__waiting(o) && !output__error(o);
}

void output__end(struct output *o)
{
	o->ending = true;
	output__flush(o);
}

bool output__done(struct output *o)
{
	return output__flush(o) || o->memory || o->file->closed;
}

struct patience patience__begin(struct files *files)
{
	uint64_t now = os__now();

	return (struct patience){
		.files = files,
		.news = files__news(files),
		.since = now,
		.end = now + OUTPUT_END_MS * NS_PER_MS,
	};
}

bool patience__wait(struct patience *p)
{
	uint64_t now;

	files__poll(p->files, WAIT_MS);
	now = os__now();
	if (files__news(p->files) != p->news) {
		p->news = files__news(p->files);
		p->since = now;
	}
	if (p->endless)
		return true;
	return now < p->end &&
	       (now - p->since < OUTPUT_STUCK_MS * NS_PER_MS || files__waits_for_cpu(p->files));
}

int output__finish(struct output *o)
{
	struct patience patience;

	if (o->memory)
		return o->error;
	patience = patience__begin(o->config.files);
	output__end(o);
	while (!output__done(o))
		if (!patience__wait(&patience))
			return output__fail(o, -ETIMEDOUT);
	return output__error(o);
}

/* The memory ends where a commit did. */
static int output__close_memory(struct output *o)
{
	int err = o->error;

	o->memory->len = o->whole;
	free(o);
	return err;
}

int output__close(struct output *o, uint64_t *unwritten)
{
	uint64_t lost;
	int err;

	if (!o)
		return 0;
	if (o->memory)
		return output__close_memory(o);
	files__poll(o->config.files, 0);
	err = output__error(o);
	lost = o->unwritten;
	for (size_t i = output__written(o); i < o->ncommits; i++)
		lost += o->samples[i];
	if (unwritten && err != -EPIPE)
		*unwritten += lost;
	output__forget(o, o->ncommits);
	file__free(o->file);
	buf__free(&o->buf);
	free(o->ends);
	free(o->samples);
	free(o);
	return err;
}
