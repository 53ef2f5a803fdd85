/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "serve/linux/directory.h"
#include "serve/linux/store_write.h"

#define TEMPORARY "new.tmp"
#define NAME_SIZE (INTERVAL_NAME_MAX + 64)
#define BLOCK	  4096u /* bytes that a profile takes at least: small ones have a limit, too */

struct queue {
	int dir; /* locked */
	uint64_t max;
	struct queue_entry *entries; /* from `first` on, ascending */
	size_t first, end, cap;
	uint64_t next;		/* number */
	uint64_t taken, memory; /* bytes of all, in blocks; of those in memory */
	char late[NAME_SIZE];	/* what the oldest file is still called if a rename failed; or "" */
	struct queue_counts counts;
};

static uint64_t blocks(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* --- names --- */

static void name__print(char text[NAME_SIZE], const struct queue_entry *e)
{
	char profile[INTERVAL_NAME_MAX];

	interval_name__print(profile, &e->name);
	snprintf(text, NAME_SIZE, "%016" PRIx64 "-%" PRIu32 "-%" PRIu64 "-%s", e->number,
		 e->requests, e->samples, profile);
}

static bool name__parse(const char *text, struct queue_entry *e)
{
	char again[NAME_SIZE];
	int at = 0;

	*e = (struct queue_entry){0};
	if (strlen(text) >= NAME_SIZE ||
	    sscanf(text, "%16" SCNx64 "-%9" SCNu32 "-%18" SCNu64 "-%n", &e->number, &e->requests,
		   &e->samples, &at) != 3 ||
	    !at || !interval_name__parse(text + at, &e->name) || e->name.kind != INTERVAL_PROFILE)
		return false;
	/* a name has one spelling */
	name__print(again, e);
	return e->number < UINT64_MAX / 2 && !strcmp(text, again);
}

/* --- the list --- */

static size_t queue__waiting(const struct queue *q)
{
	return q->end - q->first;
}

const struct queue_entry *queue__at(const struct queue *q, size_t i)
{
	return i < queue__waiting(q) ? &q->entries[q->first + i] : NULL;
}

static int queue__append(struct queue *q, const struct queue_entry *e)
{
	int err;

	if (q->first && q->end == q->cap) {
		memmove(q->entries, &q->entries[q->first], queue__waiting(q) * sizeof(*e));
		q->end -= q->first;
		q->first = 0;
	}
	err = array__room(&q->entries, q->end, &q->cap, sizeof(*e));
	if (err)
		return err;
	q->entries[q->end++] = *e;
	q->taken += blocks(e->size);
	q->counts.wait_size += e->size;
	q->memory += e->data ? e->size : 0;
	if (e->number >= q->next)
		q->next = e->number + 1;
	return 0;
}

/* The name that its file has. */
static void queue__name(const struct queue *q, const struct queue_entry *e, char name[NAME_SIZE])
{
	if (*q->late && e == &q->entries[q->first])
		strcpy(name, q->late);
	else
		name__print(name, e);
}

void queue__done(struct queue *q)
{
	struct queue_entry *e = &q->entries[q->first];
	char name[NAME_SIZE];

	queue__name(q, e, name);
	*q->late = '\0';
	if (!e->data)
		unlinkat(q->dir, name, 0);
	q->taken -= blocks(e->size);
	q->counts.wait_size -= e->size;
	q->memory -= e->data ? e->size : 0;
	free((void *)(uintptr_t)e->data);
	if (++q->first == q->end)
		q->first = q->end = 0;
}

static void queue__count_dropped(struct queue *q, uint64_t samples)
{
	q->counts.dropped++;
	q->counts.dropped_samples += samples;
}

void queue__drop(struct queue *q)
{
	queue__count_dropped(q, q->entries[q->first].samples);
	queue__done(q);
}

void queue__progress(struct queue *q, uint32_t requests, uint64_t samples)
{
	struct queue_entry *e = &q->entries[q->first];
	char before[NAME_SIZE], after[NAME_SIZE];

	queue__name(q, e, before);
	e->requests += requests;
	e->samples -= samples < e->samples ? samples : e->samples;
	name__print(after, e);
	if (!e->data)
		strcpy(q->late, renameat(q->dir, before, q->dir, after) ? before : "");
}

int queue__read(const struct queue *q, const struct queue_entry *e, struct buf *out)
{
	char name[NAME_SIZE], piece[16384];
	struct stat st;
	ssize_t n = 1;
	int fd, err = 0;

	if (e->data)
		return buf__add(out, e->data, (size_t)e->size);
	queue__name(q, e, name);
	/* do not wait for a process that writes into a pipe */
	fd = openat(q->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != e->size)
		err = -EINVAL;
	while (!err && n) {
		n = read(fd, piece, sizeof(piece));
		err = n < 0 ? -errno : buf__add(out, piece, (size_t)n);
	}
	close(fd);
	return err;
}

/* --- new ones --- */

static int queue__write(const struct queue *q, const char *name, const struct queue_entry *e)
{
	int fd = openat(q->dir, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			STORE_MODE);
	int err = fd < 0 ? -errno : store_write__all(fd, e->data, (size_t)e->size, 0);

	if (!err && fsync(fd))
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && renameat(q->dir, TEMPORARY, q->dir, name))
		err = -errno;
	if (err)
		unlinkat(q->dir, TEMPORARY, 0);
	return err;
}

/* Have the bytes of @e in its file. */
static int queue__save(const struct queue *q, const struct queue_entry *e, const char *file)
{
	char name[NAME_SIZE];
	int err = 0;

	name__print(name, e);
	if (!file || linkat(AT_FDCWD, file, q->dir, name, 0))
		err = queue__write(q, name, e);
	/* where a file system cannot sync it, it does what it can */
	if (!err)
		fsync(q->dir);
	return err;
}

/* Write what is in memory, in order, as long as that works. */
static void queue__settle(struct queue *q)
{
	for (size_t i = q->first; q->memory && i < q->end; i++) {
		struct queue_entry *e = &q->entries[i];

		if (!e->data)
			continue;
		if (queue__save(q, e, NULL))
			return;
		free((void *)(uintptr_t)e->data);
		e->data = NULL;
		q->memory -= e->size;
	}
}

/* On disk, or else in memory. */
static int queue__keep(struct queue *q, struct queue_entry *e, const char *file)
{
	void *copy;
	int err = queue__save(q, e, file);

	if (!err) {
		e->data = NULL;
		return 0;
	}
	/* full, read-only, gone: it may be better later */
	if (q->memory + e->size > QUEUE_MEMORY)
		return err;
	copy = malloc((size_t)e->size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, e->data, (size_t)e->size);
	e->data = copy;
	return 0;
}

int queue__add(struct queue *q, const struct queue_entry *entry, const char *file)
{
	struct queue_entry e = *entry;
	int err = blocks(e.size) > q->max ? -EMSGSIZE : 0;

	queue__settle(q);
	while (!err && queue__waiting(q) &&
	       (q->taken + blocks(e.size) > q->max || queue__waiting(q) >= QUEUE_MAX))
		queue__drop(q);
	e.number = q->next;
	err = err ? err : queue__keep(q, &e, file);
	if (!err) {
		err = queue__append(q, &e);
		if (err)
			free((void *)(uintptr_t)e.data);
	}
	if (err)
		queue__count_dropped(q, e.samples);
	return err;
}

/* --- the whole --- */

static int entry__order(const void *a, const void *b)
{
	uint64_t x = ((const struct queue_entry *)a)->number;
	uint64_t y = ((const struct queue_entry *)b)->number;

	return x < y ? -1 : x > y;
}

/* All that the directory has; more than may wait is dropped. */
static int queue__scan(struct queue *q)
{
	const struct dirent *d;
	struct queue_entry e;
	struct stat st;
	DIR *all;
	int err = directory__entries(q->dir, &all);

	if (err)
		return err;
	while (!err && (d = readdir(all))) {
		if (!name__parse(d->d_name, &e) ||
		    fstatat(q->dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		e.size = (uint64_t)st.st_size;
		err = queue__append(q, &e);
	}
	closedir(all);
	unlinkat(q->dir, TEMPORARY, 0);
	if (queue__waiting(q))
		qsort(&q->entries[q->first], queue__waiting(q), sizeof(e), entry__order);
	while (!err && (q->taken > q->max || queue__waiting(q) > QUEUE_MAX))
		queue__drop(q);
	return err;
}

int queue__open(struct queue **out, const char *dir, uint64_t max, struct errmsg *f)
{
	struct queue *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return errmsg__set(f, -ENOMEM, "%s: out of memory", dir);
	q->max = max;
	q->dir = err = directory__lock(dir, f);
	if (err >= 0) {
		err = queue__scan(q);
		if (err)
			errmsg__set(f, err, "cannot read the spool directory %s: %s", dir,
				    strerror(-err));
	}
	if (err) {
		queue__close(q);
		return err;
	}
	*out = q;
	return 0;
}

void queue__end(struct queue *q)
{
	queue__settle(q);
	for (size_t i = q->first; q->memory && i < q->end; i++)
		if (q->entries[i].data)
			queue__count_dropped(q, q->entries[i].samples);
}

void queue__counts(const struct queue *q, struct queue_counts *counts)
{
	*counts = q->counts;
	counts->waiting = queue__waiting(q);
}

void queue__close(struct queue *q)
{
	if (!q)
		return;
	for (size_t i = q->first; i < q->end; i++)
		free((void *)(uintptr_t)q->entries[i].data);
	free(q->entries);
	if (q->dir >= 0)
		close(q->dir);
	free(q);
}
