/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "serve/linux/directory.h"

/* Files are 0123456789abcdef.item by their number, ascending; .tmp while they are written. */
#define NUMBER_LEN 16
#define NUMBER_MAX (UINT64_MAX / 2) /* none above it is ours */
#define SUFFIX	   ".item"
#define TEMPORARY  "new.tmp"
#define NAME_SIZE  (NUMBER_LEN + sizeof(SUFFIX))

/* What an item takes on disk at least: so small ones have a limit, too. */
#define BLOCK 4096u

struct entry {
	uint64_t number;
	uint64_t samples;
	uint64_t size;		 /* of the whole file */
	struct spool_item *item; /* where it is in memory; NULL: it is on disk */
};

struct spool {
	int dir; /* locked */
	uint32_t kind;
	uint64_t max;
	struct entry *entries; /* from `first` on, ascending */
	size_t first, end, cap;
	uint64_t next;	    /* number */
	uint64_t taken;	    /* bytes on disk, in blocks */
	uint64_t memory;    /* bytes of items in memory */
	bool held;	    /* the first was given out, */
	void *loaded;	    /* and this is its file; NULL: it is in memory */
	unsigned int tries; /* that failed to read the first */
	struct spool_counts counts;
};

static uint64_t blocks(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

static void name__of(char name[NAME_SIZE], uint64_t number)
{
	snprintf(name, NAME_SIZE, "%016" PRIx64 SUFFIX, number);
}

/* The number that @name stands for.  False: it is none of ours. */
static bool name__number(const char *name, uint64_t *number)
{
	char same[NAME_SIZE];

	if (strlen(name) != NAME_SIZE - 1 || strspn(name, "0123456789abcdef") != NUMBER_LEN)
		return false;
	*number = strtoull(name, NULL, 16);
	name__of(same, *number);
	return !strcmp(name, same);
}

static size_t spool__waiting(const struct spool *s)
{
	return s->end - s->first;
}

/* Take entry @i out, whose file is gone or goes now. */
static void spool__forget(struct spool *s, size_t i)
{
	struct entry *e = &s->entries[i];
	char name[NAME_SIZE];

	if (e->item) {
		s->memory -= e->size;
		s->counts.in_memory--;
	} else {
		name__of(name, e->number);
		unlinkat(s->dir, name, 0);
		s->taken -= blocks(e->size);
	}
	s->counts.wait_size -= e->size;
	free(e->item);
	memmove(&s->entries[s->first + 1], &s->entries[s->first],
		(i - s->first) * sizeof(*s->entries));
	if (++s->first == s->end)
		s->first = s->end = 0;
}

static void spool__count_dropped(struct spool *s, uint64_t samples)
{
	s->counts.dropped++;
	s->counts.dropped_samples += samples;
}

/* Give up the oldest but the one that is out.  False: there is none. */
static bool spool__give_up(struct spool *s)
{
	size_t i = s->first + s->held;

	if (i >= s->end)
		return false;
	spool__count_dropped(s, s->entries[i].samples);
	spool__forget(s, i);
	return true;
}

static int spool__append(struct spool *s, const struct entry *e)
{
	int err;

	if (s->first && s->end == s->cap) {
		memmove(s->entries, &s->entries[s->first], spool__waiting(s) * sizeof(*s->entries));
		s->end -= s->first;
		s->first = 0;
	}
	err = array__room(&s->entries, s->end, &s->cap, sizeof(*s->entries));
	if (err)
		return err;
	s->entries[s->end++] = *e;
	s->counts.wait_size += e->size;
	if (e->item) {
		s->memory += e->size;
		s->counts.in_memory++;
	} else {
		s->taken += blocks(e->size);
	}
	return 0;
}

/* A copy in memory of @item, one allocation. */
static struct spool_item *item__copy(const struct spool_item *item)
{
	const char *name = item->name ? item->name : "";
	size_t name_size = strlen(name) + 1;
	struct spool_item *copy = malloc(sizeof(*copy) + name_size + item->size);
	char *at;

	if (!copy)
		return NULL;
	at = (char *)(copy + 1);
	*copy = *item;
	copy->name = memcpy(at, name, name_size);
	copy->data = item->size ? memcpy(at + name_size, item->data, item->size) : at;
	return copy;
}

static int spool__write(struct spool *s, uint64_t number, const struct spool_item *item)
{
	char name[NAME_SIZE];

	name__of(name, number);
	return spool_file__write(s->dir, TEMPORARY, name, s->kind, item);
}

/* Write what is in memory, in order, as long as that works; but not the one that is out. */
static void spool__settle(struct spool *s)
{
	for (size_t i = s->first + s->held; s->counts.in_memory && i < s->end; i++) {
		struct entry *e = &s->entries[i];

		if (!e->item)
			continue;
		if (spool__write(s, e->number, e->item) < 0)
			return;
		free(e->item);
		e->item = NULL;
		s->memory -= e->size;
		s->counts.in_memory--;
		s->taken += blocks(e->size);
	}
}

static int spool__keep(struct spool *s, struct entry *e, const struct spool_item *item)
{
	int err = spool__write(s, e->number, item);

	if (!err)
		return 0;
	if (err == -EMSGSIZE)
		return err;
	/* full, read-only, gone: it may be better later */
	if (s->memory + e->size > SPOOL_MEMORY)
		return err;
	e->item = item__copy(item);
	return e->item ? 0 : -ENOMEM;
}

int spool__add(struct spool *s, const struct spool_item *item)
{
	struct entry e = {
		.number = s->next,
		.samples = item->samples,
		.size = sizeof(struct spool_head) + strlen(item->name ? item->name : "") +
			item->size,
	};
	char name[NAME_SIZE];
	int err = 0;

	spool__settle(s);
	if (blocks(e.size) > s->max)
		err = -EMSGSIZE;
	while (!err && (s->taken + s->memory + blocks(e.size) > s->max ||
			spool__waiting(s) >= SPOOL_ITEMS_MAX))
		if (!spool__give_up(s))
			err = -EMSGSIZE;
	err = err ? err : spool__keep(s, &e, item);
	if (!err)
		s->next++;
	err = err ? err : spool__append(s, &e);
	if (!err)
		return 0;
	if (s->next > e.number && !e.item) { /* no memory to remember it by */
		name__of(name, e.number);
		unlinkat(s->dir, name, 0);
	}
	free(e.item);
	spool__count_dropped(s, item->samples);
	return err;
}

/* Can the first not be had, as reading it failed with @err?  Damaged, removed, or tried enough. */
static bool spool__is_lost(struct spool *s, int err)
{
	if (err == -EIO || err == -EACCES)
		return ++s->tries >= SPOOL_TRIES;
	return err == -EBADMSG || err == -ENOENT;
}

int spool__first(struct spool *s, struct spool_item *item)
{
	char name[NAME_SIZE];
	struct entry *e;
	int err;

	while (spool__waiting(s)) {
		e = &s->entries[s->first];
		if (e->item) {
			*item = *e->item;
			s->held = true;
			return 1;
		}
		name__of(name, e->number);
		free(s->loaded);
		s->loaded = NULL;
		err = spool_file__read(s->dir, name, s->kind, &s->loaded, item);
		if (!err) {
			s->held = true;
			s->tries = 0;
			return 1;
		}
		if (!spool__is_lost(s, err))
			return err;
		s->counts.damaged++;
		s->held = false;
		s->tries = 0;
		spool__give_up(s);
	}
	return 0;
}

void spool__later(struct spool *s)
{
	free(s->loaded);
	s->loaded = NULL;
	s->held = false;
}

void spool__done(struct spool *s)
{
	if (!s->held)
		return;
	spool__forget(s, s->first);
	spool__later(s);
}

void spool__drop(struct spool *s)
{
	if (!s->held)
		return;
	spool__count_dropped(s, s->entries[s->first].samples);
	spool__done(s);
}

void spool__counts(const struct spool *s, struct spool_counts *counts)
{
	*counts = s->counts;
	counts->waiting = spool__waiting(s);
}

static int entry__order(const void *a, const void *b)
{
	uint64_t x = ((const struct entry *)a)->number, y = ((const struct entry *)b)->number;

	return x < y ? -1 : x > y;
}

/* A file that is there with a name of ours. */
static int spool__found(struct spool *s, const char *name, uint64_t number)
{
	struct entry e = {.number = number};
	struct spool_head head;
	int fd;

	fd = number <= NUMBER_MAX ? spool_file__open(s->dir, name, s->kind, &head) : -EBADMSG;
	if (fd < 0 && fd != -EBADMSG)
		return fd == -ENOENT ? 0 : fd; /* it may be good, and is not ours to judge now */
	if (fd < 0) {
		s->counts.damaged++;
		spool__count_dropped(s, 0);
		unlinkat(s->dir, name, 0);
		return 0;
	}
	close(fd);
	e.samples = head.samples;
	e.size = sizeof(head) + (uint64_t)head.name_len + head.size;
	if (number >= s->next)
		s->next = number + 1;
	return spool__append(s, &e);
}

/* All that is there; more than can be is given up as it is met, whatever its order. */
static int spool__scan(struct spool *s)
{
	const struct dirent *d;
	uint64_t number;
	DIR *all;
	int err = directory__entries(s->dir, &all);

	if (err)
		return err;
	while (!err && (d = readdir(all))) {
		if (!name__number(d->d_name, &number))
			continue;
		err = spool__found(s, d->d_name, number);
		if (spool__waiting(s) > SPOOL_ITEMS_MAX)
			spool__give_up(s);
	}
	closedir(all);
	unlinkat(s->dir, TEMPORARY, 0);
	if (err)
		return err;
	if (s->first < s->end)
		qsort(&s->entries[s->first], spool__waiting(s), sizeof(*s->entries), entry__order);
	while (s->taken > s->max)
		spool__give_up(s);
	return 0;
}

/* Only the user whose profiles these are, or root, may put anything there. */
static int spool__directory(struct spool *s, const char *dir, struct errmsg *f)
{
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return errmsg__set(f, -errno, "cannot create the spool directory %s: %s", dir,
				   strerror(errno));
	s->dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir < 0 || fstat(s->dir, &st) < 0)
		return errmsg__set(f, -errno, "cannot open the spool directory %s: %s", dir,
				   strerror(errno));
	if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & 022))
		return errmsg__set(
			f, -EPERM,
			"%s: others may write there; make this user its owner, with mode 0700",
			dir);
	if (flock(s->dir, LOCK_EX | LOCK_NB) < 0)
		return errmsg__set(
			f, -errno, "%s: %s", dir,
			errno == EWOULDBLOCK
				? "in use by another process; give each server a separate directory"
				: strerror(errno));
	return 0;
}

int spool__open(struct spool **out, const char *dir, uint32_t kind, uint64_t max, struct errmsg *f)
{
	struct spool *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return errmsg__set(f, -ENOMEM, "%s: out of memory", dir);
	s->dir = -1;
	s->kind = kind;
	s->max = max;
	err = spool__directory(s, dir, f);
	if (!err) {
		err = spool__scan(s);
		if (err)
			errmsg__set(f, err, "cannot read the spool directory %s: %s", dir,
				    strerror(-err));
	}
	if (err) {
		spool__close(s);
		return err;
	}
	*out = s;
	return 0;
}

void spool__close(struct spool *s)
{
	if (!s)
		return;
	s->held = false;
	spool__settle(s);
	for (size_t i = s->first; i < s->end; i++)
		free(s->entries[i].item);
	free(s->loaded);
	free(s->entries);
	if (s->dir >= 0)
		close(s->dir);
	free(s);
}
