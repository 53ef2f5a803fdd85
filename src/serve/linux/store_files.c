/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/store_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/calendar.h"
#include "serve/linux/directory.h"

#define FUTURE	     CALENDAR_DAY /* seconds that a clock may be set back without consequence */
#define ALWAYS_KEPT  CALENDAR_DAY /* seconds of profiles that do not go by age */
#define FAILURES_MAX 16u	  /* files that cannot be removed, tried at a time */

static struct interval_name file__name(const struct store_file *file, enum interval_kind kind)
{
	return (struct interval_name){
		.began = file->began,
		.seconds = file->seconds,
		.number = file->number,
		.kind = kind,
	};
}

static struct store_list *files__list(struct store_files *all, enum interval_kind kind)
{
	return kind == INTERVAL_INDEX ? &all->indexes : &all->profiles;
}

static uint32_t size__blocks(uint64_t size)
{
	uint64_t blocks = size / STORE_BLOCK + (size % STORE_BLOCK != 0);

	return blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

uint64_t store_files__round(uint64_t size)
{
	return (uint64_t)size__blocks(size) * STORE_BLOCK;
}

uint64_t store_files__size(const struct store_files *all)
{
	return all->blocks * STORE_BLOCK;
}

static int file__compare(const void *a, const void *b)
{
	struct interval_name x = file__name(a, INTERVAL_PROFILE),
			     y = file__name(b, INTERVAL_PROFILE);

	return interval_name__compare(&x, &y);
}

/* The first that is not before @file. */
static size_t list__find(const struct store_list *l, const struct store_file *file)
{
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (file__compare(&l->files[mid], file) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static int list__append(struct store_list *l, const struct store_file *file)
{
	int err = array__room(&l->files, l->n, &l->cap, sizeof(*l->files));

	if (!err)
		l->files[l->n++] = *file;
	return err;
}

/* Those that are gone leave the list. */
static void list__compact(struct store_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!l->files[i].gone)
			l->files[n++] = l->files[i];
	l->n = n;
}

static struct store_file file__of(const struct interval_name *name, uint64_t size)
{
	return (struct store_file){
		.began = name->began,
		.seconds = name->seconds,
		.number = name->number,
		.blocks = size__blocks(size),
	};
}

int store_files__put(struct store_files *all, const struct interval_name *name, uint64_t size)
{
	struct store_list *l = files__list(all, name->kind);
	struct store_file file = file__of(name, size);
	size_t at = list__find(l, &file);
	int err;

	if (at < l->n && !file__compare(&l->files[at], &file)) {
		all->blocks -= l->files[at].blocks;
		l->files[at].blocks = file.blocks;
	} else {
		if (l->n >= STORE_FILES_MAX) {
			all->more = true;
			return 0;
		}
		err = list__append(l, &file);
		if (err)
			return err;
		memmove(&l->files[at + 1], &l->files[at], (l->n - 1 - at) * sizeof(*l->files));
		l->files[at] = file;
	}
	all->blocks += file.blocks;
	return 0;
}

/* A name that readdir() told, if it is ours and a file's.  0 or -ENOMEM. */
static int files__take(struct store_files *all, int dir, const char *text)
{
	struct interval_name name;
	struct store_file file;
	struct store_list *l;
	struct stat st;

	if (!interval_name__parse(text, &name) || fstatat(dir, text, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return 0;
	l = files__list(all, name.kind);
	if (l->n >= STORE_FILES_MAX) {
		all->more = true;
		return 0;
	}
	file = file__of(&name, (uint64_t)st.st_size);
	all->blocks += file.blocks;
	return list__append(l, &file);
}

int store_files__scan(struct store_files *all, int dir)
{
	struct dirent *entry;
	DIR *d;
	int err = directory__entries(dir, &d);

	if (err)
		return err;
	all->profiles.n = all->indexes.n = 0;
	all->blocks = 0;
	all->more = false;
	do {
		errno = 0;
		entry = readdir(d);
		err = entry ? files__take(all, dir, entry->d_name) : -errno;
	} while (entry && !err);
	closedir(d);
	for (int kind = INTERVAL_PROFILE; kind <= INTERVAL_INDEX; kind++) {
		struct store_list *l = files__list(all, (enum interval_kind)kind);

		if (l->n)
			qsort(l->files, l->n, sizeof(*l->files), file__compare);
	}
	return err;
}

/* A removal that is going on. */
struct removal {
	struct store_files *all;
	int dir;
	uint64_t now;	 /* seconds since 1970 */
	uint64_t failed; /* this time */
	struct store_kept *kept;
	struct errmsg *f;
};

/*
 * Remove it.  One that was not there, or is now something other than a file, leaves the list, too.
 */
static void removal__file(struct removal *r, struct store_file *file, enum interval_kind kind)
{
	struct interval_name name = file__name(file, kind);
	char text[INTERVAL_NAME_MAX];
	struct stat st;

	interval_name__print(text, &name);
	/* never of a directory: there the flag would be AT_REMOVEDIR */
	if (!unlinkat(r->dir, text, 0)) {
		r->kept->removed++;
	} else if (errno != ENOENT) {
		r->failed++;
		r->kept->stuck++;
		errmsg__set(r->f, -errno, "--keep cannot remove %s: %s", text, strerror(errno));
		file->stuck =
			!fstatat(r->dir, text, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
	}
	if (file->stuck)
		return;
	file->gone = true;
	r->all->blocks -= file->blocks;
}

/* Is @file to go?  The one that is asked for last is the youngest. */
typedef bool (*removal_goes)(const struct removal *r, const struct store_file *file, uint64_t arg);

/* Remove profiles from number @i to @end, in this order, as long as they are to go. */
static void removal__range(struct removal *r, size_t i, size_t end, removal_goes goes, uint64_t arg)
{
	struct store_list *l = &r->all->profiles;

	for (; i < end && r->failed < FAILURES_MAX && goes(r, &l->files[i], arg); i++)
		if (!l->files[i].stuck && !l->files[i].gone)
			removal__file(r, &l->files[i], INTERVAL_PROFILE);
}

/* Indexes of days without a profile go, but that of @day. */
static void removal__indexes(struct removal *r, uint64_t day)
{
	const struct store_list *profiles = &r->all->profiles;
	struct store_list *l = &r->all->indexes;

	for (size_t i = 0; i < l->n && r->failed < FAILURES_MAX; i++) {
		const struct store_file first = {.began = l->files[i].began};
		size_t at = list__find(profiles, &first);

		if (l->files[i].stuck || first.began == day ||
		    (at < profiles->n && profiles->files[at].began - first.began < CALENDAR_DAY))
			continue;
		removal__file(r, &l->files[i], INTERVAL_INDEX);
	}
	list__compact(l);
}

/* The first profile that begins later than a day from now. */
static size_t removal__future(const struct removal *r)
{
	const struct store_file after = {.began = r->now + FUTURE + 1};

	return list__find(&r->all->profiles, &after);
}

static bool goes__by_age(const struct removal *r, const struct store_file *file, uint64_t age)
{
	return r->now > age && file->began + file->seconds <= r->now - age;
}

static void removal__age(struct removal *r, uint64_t age)
{
	const struct store_list *l = &r->all->profiles;
	uint64_t enough = age < ALWAYS_KEPT ? age : ALWAYS_KEPT, seconds = 0;
	size_t end = removal__future(r);

	/* those before `end` have so much behind them that they may go */
	while (end > 0 && seconds < enough)
		seconds += l->files[--end].seconds;
	removal__range(r, 0, end, goes__by_age, age);
	list__compact(&r->all->profiles);
}

static bool goes__by_size(const struct removal *r, const struct store_file *file, uint64_t most)
{
	(void)file;
	return store_files__size(r->all) > most;
}

static void removal__size(struct removal *r, uint64_t most)
{
	struct store_list *l = &r->all->profiles;
	size_t future = removal__future(r);

	removal__range(r, future, l->n, goes__by_size, most);
	removal__range(r, 0, future, goes__by_size, most);
	list__compact(l);
}

/* The index takes half of the room at most: the oldest of it goes, whatever it is of. */
static void removal__index(struct removal *r, uint64_t half)
{
	struct store_list *l = &r->all->indexes;
	uint64_t blocks = 0;

	for (size_t i = 0; i < l->n; i++)
		blocks += l->files[i].blocks;
	for (size_t i = 0; i < l->n && blocks * STORE_BLOCK > half; i++) {
		if (!l->files[i].stuck)
			removal__file(r, &l->files[i], INTERVAL_INDEX);
		blocks -= l->files[i].blocks;
	}
	list__compact(l);
}

int store_files__keep(struct store_files *all, int dir, const struct store_keep *keep, uint64_t now,
		      uint64_t day, uint64_t more, struct store_kept *kept, struct errmsg *f)
{
	struct removal r = {.all = all, .dir = dir, .now = now, .kept = kept, .f = f};

	if (keep->age)
		removal__age(&r, keep->age);
	if (keep->age || keep->size)
		removal__indexes(&r, day);
	if (!keep->size)
		return 0;
	/* all would go, and it would not help */
	if (more > keep->size)
		return -EDQUOT;
	if (store_files__size(all) + more > keep->size) {
		removal__index(&r, keep->size / 2);
		removal__size(&r, keep->size - more);
		removal__indexes(&r, day);
	}
	return store_files__size(all) + more > keep->size ? -EDQUOT : 0;
}

void store_files__free(struct store_files *all)
{
	free(all->profiles.files);
	free(all->indexes.files);
	*all = (struct store_files){0};
}
