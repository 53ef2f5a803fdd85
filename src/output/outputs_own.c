/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In a directory: a file for each process, one for those with few samples, and an index. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/limits.h"
#include "os/os.h"
#include "output/outputs_parts.h"
#include "profile/attributes.h"

/* Copy @s.  -ENOSPC: there is no room, or no memory. */
static int held__add(struct held *h, const struct sample *s, struct budget *budget)
{
	const struct stack *stack;

	if (!h->n)
		stacks__init(&h->stacks, budget, &h->last_id);
	if (array__room(&h->samples, h->n, &h->cap, sizeof(*h->samples)))
		return -ENOSPC;
	stack = stacks__copy(&h->stacks, s->stack);
	if (!stack)
		return -ENOSPC;
	h->samples[h->n] = *s;
	h->samples[h->n++].stack = stack;
	return 0;
}

static void held__free(struct held *h)
{
	if (h->cap)
		stacks__free(&h->stacks);
	free(h->samples);
	*h = (struct held){0};
}

/* Its stream is complete, or as much of it as will ever be. */
void own__complete(struct own *own)
{
	bool numbered;

	if (!own->st)
		return;
	free(own->path);
	own->path = strdup(output__path(own->st->out, &numbered));
	own->st = NULL;
}

/* --- the index: a line for each file of a process, in the order in which they were completed ---
 */

/* The first error of the index; it is closed once all is written, or abandoned. */
static int outputs__close_index(struct outputs *ss)
{
	int err = ss->index ? output__finish(ss->index) : 0;

	output__close(ss->index, NULL);
	ss->index = NULL;
	return err;
}

/* The files are of use without it: a failure is reported, and no more. */
static void outputs__lose_index(struct outputs *ss, int err)
{
	char line[STREAM_PATH_MAX + 256];
	bool said = false;

	if (!err)
		return;
	snprintf(line, sizeof(line), "cannot write the index of %s: %s", ss->config.path,
		 error__reason(err));
	outputs__note(ss, &said, line);
	outputs__close_index(ss);
}

int owns__open_index(struct outputs *ss)
{
	char path[STREAM_PATH_MAX];
	struct output_config to = {
		.files = ss->config.files,
		.path = path,
		.queue = &ss->queue,
		.max = ss->config.max_file,
		.wait_ms = OPEN_FIRST_MS,
	};
	int len;

	if (!ss->config.index)
		return 0;
	len = snprintf(path, sizeof(path), "%.*s/index.jsonl", path__stem(ss->directory),
		       ss->directory);
	to.number_at = (size_t)len - strlen(".jsonl");
	ss->err = len < (int)sizeof(path) ? output__open(&ss->index, &to, &ss->fault)
					  : errmsg__set(&ss->fault, -ENAMETOOLONG,
							"%s: the name is too long", ss->directory);
	return ss->err;
}

/* What its line will say of @p, with the brace that ends it. */
static void own__describe(struct outputs *ss, struct own *own, const struct profile_process *p)
{
	struct json j;

	if (!ss->index)
		return;
	json__begin(&j);
	json__object(&j, NULL);
	attributes__json(&j, p, NULL);
	json__object(&j, "labels");
	for (size_t i = 0; i < p->nlabels; i++)
		json__str(&j, p->labels[i].key, p->labels[i].value);
	json__close(&j);
	json__close(&j);
	own->about.len = 0;
	outputs__lose_index(ss, json__end(&j, &own->about));
}

/* The name of its file in the directory, which may be moved as a whole, and what is in it. */
static int own__line(struct outputs *ss, const struct own *own)
{
	const char *slash = own->path ? strrchr(own->path, '/') : NULL;
	struct buf line = {0};
	struct json j;
	int err;

	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "file", slash ? slash + 1 : own->path);
	json__u64(&j, "samples", own->samples);
	json__close(&j);
	err = json__end(&j, &line);
	if (!err) { /* `{...}` and `{...}` become one object */
		line.len -= strlen("}\n");
		err = buf__str(&line, ", ");
	}
	if (!err && own->about.len < 2)
		err = -EINVAL;
	if (!err)
		err = buf__add(&line, own->about.data + 1, own->about.len - 1);
	if (!err)
		err = output__write(ss->index, line.data, line.len);
	if (!err)
		err = output__commit(ss->index, 0);
	buf__free(&line);
	return err == OUTPUT_DROPPED ? -EFBIG : err;
}

/* --- */

void own__known(struct outputs *ss, const struct profile_process *p)
{
	struct own *own = map__get(&ss->own, p->serial, 0);

	if (own && own->st)
		own__describe(ss, own, p);
}

/* Put what a process has into the index, if it is complete. */
static void outputs__index(struct outputs *ss, struct own *own)
{
	if (ss->index && (own->path || own->refused) && !own->told)
		outputs__lose_index(ss, own__line(ss, own));
	free(own->path);
	own->path = NULL;
	own->samples = 0;
}

/*
 * Open the file of a process; what it fails by is no failure of the others, unless it is the first:
 * then none can be written there.  0 and NULL: it has none.
 */
static int outputs__open(struct outputs *ss, const char *path, size_t number_at, struct stream **st)
{
	int err = -EMFILE;

	*st = NULL;
	if (ss->count < LIMIT_STREAMS)
		err = stream__open(st, &ss->streams, path, number_at, OPEN_MS, &ss->fault);
	if (!err) {
		ss->made++;
		outputs__put(ss, *st);
	} else if (err != -ENOMEM && err != -EMFILE && err != -ENFILE && ss->made &&
		   !files__error(ss->config.files)) {
		ss->made++;
		outputs__spoil(ss, path, err);
		*st = NULL;
		err = 0;
	} else if (err == -EMFILE || err == -ENFILE) {
		outputs__note(ss, &ss->said_refused,
			      "too many files are open (ulimit -n): the files of some processes "
			      "are not written");
		*st = NULL;
		err = 0;
	}
	return err;
}

/* What process @p has; NULL: ss->err. */
static struct own *outputs__own(struct outputs *ss, const struct profile_process *p)
{
	struct own *own = map__get(&ss->own, p->serial, 0);

	if (own)
		return own;
	own = calloc(1, sizeof(*own));
	if (own)
		own->pid = p->pid;
	if (own && !map__put(&ss->own, p->serial, 0, own))
		return own;
	free(own);
	ss->err = errmsg__set(&ss->fault, -ENOMEM, "out of memory");
	return NULL;
}

/* The stream of process @p, made if there is none yet; NULL: ss->err, or it can have none. */
static struct stream *own__stream(struct outputs *ss, struct own *own,
				  const struct profile_process *p)
{
	char path[STREAM_PATH_MAX];
	int len;

	if (own->st || own->refused)
		return own->st;
	own__describe(ss, own, p);
	len = snprintf(path, sizeof(path), "%.*s/Rprof.%" PRIu32 ".out", path__stem(ss->directory),
		       ss->directory, p->pid);
	if (len >= (int)sizeof(path)) {
		ss->err = errmsg__set(&ss->fault, -ENAMETOOLONG, "%s: the name is too long",
				      ss->directory);
		return NULL;
	}
	ss->err = outputs__open(ss, path, (size_t)len - strlen(".out"), &own->st);
	if (ss->err == -ENOMEM)
		errmsg__set(&ss->fault, -ENOMEM, "out of memory");
	own->refused = !own->st;
	if (own->st)
		own->st->serial = p->serial;
	return own->st;
}

/* What is kept back goes to @st. */
static void own__pour(struct outputs *ss, struct own *own, struct stream *st,
		      const struct profile_process *p)
{
	for (size_t i = 0; i < own->held.n; i++) {
		if (!st || st->spoiled)
			ss->dropped.unwritten++;
		else if (!outputs__give(ss, st, p, &own->held.samples[i]))
			own->samples++;
	}
	held__free(&own->held);
}

/* The file of those that have few samples, made if there is none yet; NULL: there is none. */
static struct stream *owns__others(struct outputs *ss)
{
	char path[STREAM_PATH_MAX];
	int len;

	if (ss->others || ss->err)
		return ss->others;
	len = snprintf(path, sizeof(path), "%.*s/Rprof.others.out", path__stem(ss->directory),
		       ss->directory);
	if (len >= (int)sizeof(path))
		return NULL;
	ss->err = outputs__open(ss, path, (size_t)len - strlen(".out"), &ss->others);
	return ss->others;
}

/* No more comes, and it has not had enough for a file of its own. */
static void own__settle(struct outputs *ss, struct own *own, const struct profile_process *p)
{
	struct stream *st;
	bool numbered;

	if (!own->held.n)
		return;
	st = owns__others(ss);
	ss->few++;
	ss->few_samples += own->held.n;
	own__pour(ss, own, st, p);
	if (st)
		own->path = strdup(output__path(st->out, &numbered));
}

static void own__free(struct own *own)
{
	held__free(&own->held);
	buf__free(&own->about);
	free(own->path);
	free(own);
}

int own__begin(struct outputs *ss, const struct profile_process *p)
{
	struct own *own = outputs__own(ss, p);

	if (!own)
		return ss->err;
	own->named = true;
	own__stream(ss, own, p);
	return ss->err;
}

int own__sample(struct outputs *ss, const struct profile_process *p, const struct sample *s)
{
	struct own *own = outputs__own(ss, p);
	struct stream *st;
	int err;

	if (!own)
		return ss->err;
	if (!own->st && !own->refused && !own->named && own->held.n + 1 < ss->config.least &&
	    !held__add(&own->held, s, &ss->held))
		return 0;
	own->named = true; /* after SIGHUP, too */
	st = own__stream(ss, own, p);
	if (ss->err)
		return ss->err;
	own__pour(ss, own, st, p);
	if (!st || st->spoiled) {
		ss->dropped.unwritten++;
		return ss->err;
	}
	err = outputs__give(ss, st, p, s);
	own->samples += !err;
	return ss->err;
}

int own__ended(struct outputs *ss, const struct profile_process *p)
{
	struct own *own = map__get(&ss->own, p->serial, 0);
	struct stream *st = own ? own->st : NULL;
	int err;

	if (!own)
		return ss->err;
	err = st ? stream__end(st, NULL) : 0;
	if (err)
		outputs__trouble(ss, st, err);
	own__complete(own);
	own__settle(ss, own, p);
	own__describe(ss, own, p);
	outputs__index(ss, own);
	map__remove(&ss->own, p->serial, 0);
	own__free(own);
	if (st && (st->spoiled || (!ss->err && stream__done(st))))
		outputs__remove(ss, st);
	return ss->err;
}

int own__stopped(struct outputs *ss, const struct profile_process *p)
{
	struct own *own = map__get(&ss->own, p->serial, 0);
	struct stream *st = own ? own->st : NULL;

	if (!own)
		return ss->err;
	own__complete(own);
	own__settle(ss, own, p);
	own__describe(ss, own, p);
	outputs__index(ss, own);
	own->st = st;
	own->told = true;
	return ss->err;
}

void owns__tick(struct outputs *ss)
{
	if (ss->index)
		outputs__lose_index(ss, output__flush(ss->index));
}

int owns__reopen(struct outputs *ss)
{
	ss->others = NULL; /* it was completed with all */
	for (size_t i = 0; i < ss->own.cap; i++) {
		struct own *own = ss->own.entries[i].value;

		if (!own)
			continue;
		own__complete(own);
		/* by names that others may have from now on */
		if (own->path)
			outputs__index(ss, own);
		own->refused = false;
	}
	if (!ss->index)
		return ss->err;
	outputs__lose_index(ss, outputs__close_index(ss));
	return owns__open_index(ss);
}

void owns__settle(struct outputs *ss)
{
	for (size_t i = 0; i < ss->own.cap; i++) {
		struct own *own = ss->own.entries[i].value;
		const struct profile_process p = {
			.serial = (uint32_t)ss->own.entries[i].a,
			.pid = own ? own->pid : 0,
		};

		if (own)
			own__settle(ss, own, &p);
	}
}

void owns__free(struct outputs *ss)
{
	char line[256];
	bool said = false;

	for (size_t i = 0; i < ss->own.cap; i++)
		if (ss->own.entries[i].value)
			own__free(ss->own.entries[i].value);
	map__free(&ss->own);
	outputs__lose_index(ss, outputs__close_index(ss));
	if (!ss->few)
		return;
	snprintf(line, sizeof(line),
		 "Rprof.others.out has the %" PRIu64 " samples of %" PRIu64
		 " processes with fewer than %u (--min-samples)",
		 ss->few_samples, ss->few, ss->config.least);
	outputs__note(ss, &said, line);
	ss->few = 0;
}
