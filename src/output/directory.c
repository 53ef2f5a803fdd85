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

/* Copy @s.  -ENOSPC: the budget or the memory is used up. */
static int kept__add(struct kept *h, const struct sample *s, struct budget *budget)
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

static void kept__free(struct kept *h)
{
	if (h->cap)
		stacks__free(&h->stacks);
	free(h->samples);
	*h = (struct kept){0};
}

/* No more is written to its file. */
void entry__complete(struct entry *entry)
{
	bool numbered;

	if (!entry->st)
		return;
	free(entry->path);
	entry->path = strdup(output__path(entry->st->out, &numbered));
	entry->st = NULL;
}

/* --- the index: a line for each file of a process, in the order in which they were completed ---
 */

/* Write all of the index and close it.  Returns its first error. */
static int outputs__close_index(struct outputs *ss)
{
	int err = ss->index ? output__finish(ss->index) : 0;

	output__close(ss->index, NULL);
	ss->index = NULL;
	return err;
}

/* After an error, report it and close the index: the files are useful without it. */
static void outputs__lose_index(struct outputs *ss, int err)
{
	if (!err)
		return;
	outputs__note(ss, NULL, "cannot write the index of %s: %s", ss->config.path,
		      error__reason(err));
	outputs__close_index(ss);
}

int directory__open_index(struct outputs *ss)
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

/* Make the second part of its line. */
static void entry__describe(struct outputs *ss, struct entry *entry,
			    const struct profile_process *p)
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
	entry->about.len = 0;
	outputs__lose_index(ss, json__end(&j, &entry->about));
}

/* Write its line.  The file is named without its directory, which may be moved. */
static int entry__line(struct outputs *ss, const struct entry *entry)
{
	const char *slash = entry->path ? strrchr(entry->path, '/') : NULL;
	struct buf line = {0};
	struct json j;
	int err;

	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "file", slash ? slash + 1 : entry->path);
	json__u64(&j, "samples", entry->samples);
	json__close(&j);
	err = json__end(&j, &line);
	if (!err) { /* `{...}` and `{...}` become one object */
		line.len -= strlen("}\n");
		err = buf__str(&line, ", ");
	}
	if (!err && entry->about.len < 2)
		err = -EINVAL;
	if (!err)
		err = buf__add(&line, entry->about.data + 1, entry->about.len - 1);
	if (!err)
		err = output__write(ss->index, line.data, line.len);
	if (!err)
		err = output__commit(ss->index, 0);
	buf__free(&line);
	return err == OUTPUT_DROPPED ? -EFBIG : err;
}

/* --- */

void entry__known(struct outputs *ss, const struct profile_process *p)
{
	struct entry *entry = map__get(&ss->entries, p->serial, 0);

	if (entry && entry->st)
		entry__describe(ss, entry, p);
}

/* Write a line of the index if the file of a process is complete. */
static void outputs__index(struct outputs *ss, struct entry *entry)
{
	if (ss->index && (entry->path || entry->refused) && !entry->indexed)
		outputs__lose_index(ss, entry__line(ss, entry));
	free(entry->path);
	entry->path = NULL;
	entry->samples = 0;
}

/*
 * Open the file of a process.  An error on it does not stop the others, unless it is the first
 * file and the error is not about its name: then none can be written there.  0 and NULL: it has
 * none.
 */
static int outputs__open(struct outputs *ss, const char *path, size_t number_at, struct stream **st)
{
	int err = -EMFILE;

	*st = NULL;
	if (ss->count < LIMIT_STREAMS)
		err = stream__open(st, ss, path, number_at, OPEN_MS);
	if (!err) {
		ss->made++;
		outputs__put(ss, *st);
	} else if (err != -ENOMEM && err != -EMFILE && err != -ENFILE &&
		   (ss->made || err == -OS_NAMES_TAKEN) && !files__error(ss->config.files)) {
		ss->made++;
		outputs__file_failed(ss, path, err);
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

/* The entry of process @p; NULL: ss->err. */
static struct entry *outputs__entry(struct outputs *ss, const struct profile_process *p)
{
	struct entry *entry = map__get(&ss->entries, p->serial, 0);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (entry)
		entry->pid = p->pid;
	if (entry && !map__put(&ss->entries, p->serial, 0, entry))
		return entry;
	free(entry);
	ss->err = errmsg__set(&ss->fault, -ENOMEM, "out of memory");
	return NULL;
}

/* The stream of process @p, opened if there is none yet; NULL: ss->err, or it is refused. */
static struct stream *entry__stream(struct outputs *ss, struct entry *entry,
				    const struct profile_process *p)
{
	char path[STREAM_PATH_MAX];
	int len;

	if (entry->st || entry->refused)
		return entry->st;
	entry__describe(ss, entry, p);
	len = snprintf(path, sizeof(path), "%.*s/Rprof.%" PRIu32 ".out", path__stem(ss->directory),
		       ss->directory, p->pid);
	if (len >= (int)sizeof(path)) {
		ss->err = errmsg__set(&ss->fault, -ENAMETOOLONG, "%s: the name is too long",
				      ss->directory);
		return NULL;
	}
	ss->err = outputs__open(ss, path, (size_t)len - strlen(".out"), &entry->st);
	if (ss->err == -ENOMEM)
		errmsg__set(&ss->fault, -ENOMEM, "out of memory");
	entry->refused = !entry->st;
	if (entry->st)
		entry->st->serial = p->serial;
	return entry->st;
}

/* Write its kept samples to @st. */
static void entry__pour(struct outputs *ss, struct entry *entry, struct stream *st,
			const struct profile_process *p)
{
	for (size_t i = 0; i < entry->kept.n; i++) {
		if (!st || st->failed)
			ss->dropped.unwritten += entry->kept.samples[i].weight;
		else if (!outputs__give(ss, st, p, &entry->kept.samples[i]))
			entry->samples += entry->kept.samples[i].weight;
	}
	kept__free(&entry->kept);
}

/* The file of processes with few samples, opened if there is none yet; NULL: there is none. */
static struct stream *directory__others(struct outputs *ss)
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

/* It has no more samples, and too few for a separate file. */
static void entry__settle(struct outputs *ss, struct entry *entry, const struct profile_process *p)
{
	struct stream *st;
	bool numbered;

	if (!entry->kept.n)
		return;
	st = directory__others(ss);
	ss->few++;
	ss->few_samples += entry->kept.n;
	entry__pour(ss, entry, st, p);
	if (st)
		entry->path = strdup(output__path(st->out, &numbered));
}

static void entry__free(struct entry *entry)
{
	kept__free(&entry->kept);
	buf__free(&entry->about);
	free(entry->path);
	free(entry);
}

int entry__begin(struct outputs *ss, const struct profile_process *p)
{
	struct entry *entry = outputs__entry(ss, p);

	if (!entry)
		return ss->err;
	entry->named = true;
	entry__stream(ss, entry, p);
	return ss->err;
}

int entry__sample(struct outputs *ss, const struct profile_process *p, const struct sample *s)
{
	struct entry *entry = outputs__entry(ss, p);
	struct stream *st;
	int err;

	if (!entry)
		return ss->err;
	if (!entry->st && !entry->refused && !entry->named &&
	    entry->kept.n + 1 < ss->config.least && !kept__add(&entry->kept, s, &ss->kept))
		return 0;
	entry->named = true; /* after SIGHUP, too */
	st = entry__stream(ss, entry, p);
	if (ss->err)
		return ss->err;
	entry__pour(ss, entry, st, p);
	if (!st || st->failed) {
		ss->dropped.unwritten += s->weight;
		return ss->err;
	}
	err = outputs__give(ss, st, p, s);
	entry->samples += err ? 0 : s->weight;
	return ss->err;
}

int entry__ended(struct outputs *ss, const struct profile_process *p)
{
	struct entry *entry = map__get(&ss->entries, p->serial, 0);
	struct stream *st = entry ? entry->st : NULL;
	int err;

	if (!entry)
		return ss->err;
	err = st ? stream__end(st, NULL) : 0;
	if (err)
		outputs__trouble(ss, st, err);
	entry__complete(entry);
	entry__settle(ss, entry, p);
	entry__describe(ss, entry, p);
	outputs__index(ss, entry);
	map__remove(&ss->entries, p->serial, 0);
	entry__free(entry);
	if (st && (st->failed || (!ss->err && stream__done(st))))
		outputs__remove(ss, st);
	return ss->err;
}

int entry__stopped(struct outputs *ss, const struct profile_process *p)
{
	struct entry *entry = map__get(&ss->entries, p->serial, 0);
	struct stream *st = entry ? entry->st : NULL;

	if (!entry)
		return ss->err;
	entry__complete(entry);
	entry__settle(ss, entry, p);
	entry__describe(ss, entry, p);
	outputs__index(ss, entry);
	entry->st = st;
	entry->indexed = true;
	return ss->err;
}

void directory__tick(struct outputs *ss)
{
	if (ss->index)
		outputs__lose_index(ss, output__flush(ss->index));
}

int directory__reopen(struct outputs *ss)
{
	ss->others = NULL; /* it was completed with the others */
	for (size_t i = 0; i < ss->entries.cap; i++) {
		struct entry *entry = ss->entries.entries[i].value;

		if (!entry)
			continue;
		entry__complete(entry);
		/* another process may get that name from now on */
		if (entry->path)
			outputs__index(ss, entry);
		entry->refused = false;
	}
	if (!ss->index)
		return ss->err;
	outputs__lose_index(ss, outputs__close_index(ss));
	return directory__open_index(ss);
}

void directory__settle(struct outputs *ss)
{
	for (size_t i = 0; i < ss->entries.cap; i++) {
		struct entry *entry = ss->entries.entries[i].value;
		const struct profile_process p = {
			.serial = (uint32_t)ss->entries.entries[i].a,
			.pid = entry ? entry->pid : 0,
		};

		if (entry)
			entry__settle(ss, entry, &p);
	}
}

void directory__free(struct outputs *ss)
{
	for (size_t i = 0; i < ss->entries.cap; i++)
		if (ss->entries.entries[i].value)
			entry__free(ss->entries.entries[i].value);
	map__free(&ss->entries);
	outputs__lose_index(ss, outputs__close_index(ss));
	if (!ss->few)
		return;
	outputs__note(ss, NULL,
		      "Rprof.others.out has the %" PRIu64 " %s of %" PRIu64
		      " %s with fewer than %u (--min-samples)",
		      ss->few_samples, count__word(ss->few_samples, "sample", "samples"), ss->few,
		      count__word(ss->few, "process", "processes"), ss->config.least);
	ss->few = 0;
}
