/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A directory for the tests of the store, profiles for it, and what is found there afterwards: what
 * zlib reads, not our own readers.
 */
#ifndef STORE_SCENE_H
#define STORE_SCENE_H

#include <dirent.h>

#include "base/clock.h"
#include "gzip.h"
#include "serve/linux/store.h"
#include "serve/interval_name.h"
#include "tap.h"

#define SCENE_FN static __attribute__((unused))

#define SCENE_NS   NS_PER_S
#define SCENE_DAY  UINT64_C(86400)
#define SCENE_TIME UINT64_C(1795313400) /* 2026-11-22 02:10:00 UTC */

static char scene_dir[128];

/* scene__path - of a file in the directory; valid until the next call. */
SCENE_FN const char *scene__path(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", scene_dir, name);
	return path;
}

/* scene__each - call @each with the name of each file. */
SCENE_FN void scene__each(void (*each)(const char *name, void *arg), void *arg)
{
	DIR *d = opendir(scene_dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			each(entry->d_name, arg);
	if (d)
		closedir(d);
}

static void scene__unlink(const char *name, void *arg)
{
	if (unlink(scene__path(name)))
		rmdir(scene__path(name));
}

/*
 * scene__begin - a new, empty directory; @memory: where nothing waits for a disk, if there is that,
 * and it is the caller's to remove it.
 */
SCENE_FN void scene__begin(bool memory)
{
	snprintf(scene_dir, sizeof(scene_dir), "%s/store-XXXXXX",
		 memory && !access("/dev/shm", W_OK | X_OK) ? "/dev/shm" : tap__folder());
	tap__bail_if(!mkdtemp(scene_dir), "no directory");
	signal(SIGXFSZ, SIG_IGN);
}

SCENE_FN void scene__empty(void)
{
	scene__each(scene__unlink, NULL);
}

/* scene__put - store__add, and what failed in @f. */
SCENE_FN int scene__put(struct store *st, const struct store_interval *w, struct errmsg *f)
{
	struct interval_name name;
	struct way_status s;
	int err = store__add(st, w, &name);

	store__status(st, &s);
	strcpy(f->text, s.error);
	return err;
}

/* scene__add - the profile of the minute that begins at @began, seconds, with an index of a line.
 */
SCENE_FN int scene__add(struct store *st, uint64_t began, uint32_t seconds, size_t size,
			struct errmsg *f)
{
	static const char line[] = "\"pid\":17,\"samples\":3}\n";
	struct buf text = {0}, file = {0};
	struct store_interval w = {
		.began = began * SCENE_NS,
		.ended = (began + seconds) * SCENE_NS,
		.samples = 3,
		.index = line,
		.index_len = strlen(line),
	};
	uint32_t random = (uint32_t)began;
	int err;

	/* so that it does not become smaller */
	for (size_t i = 0; i < size; i++) {
		random = random * 1664525 + 1013904223;
		buf__add(&text, &(char){(char)(random >> 24)}, 1);
	}
	gzip__pack(&file, text.data, text.len);
	w.data = file.data;
	w.size = file.len;
	err = scene__put(st, &w, f);
	buf__free(&text);
	buf__free(&file);
	return err;
}

/* scene__unpack - all of the gzip file @name, added to @out; false: it is not whole. */
SCENE_FN bool scene__unpack(const char *name, struct buf *out)
{
	struct stat about;
	const char *packed;
	size_t len = 0;

	if (lstat(scene__path(name), &about) || !S_ISREG(about.st_mode))
		return false;
	packed = tap__read(scene__path(name), &len);
	return packed && gzip__unpack(out, packed, len);
}

/* What a directory holds. */
struct scene_found {
	size_t profiles, indexes, temporary, others;
	size_t torn_profiles, torn_indexes;
	size_t lines;	 /* of the indexes, whole ones */
	size_t bad;	 /* malformed ones */
	size_t unlinked; /* of them, those whose profile is not there */
};

static void scene__line(const char *line, struct scene_found *found)
{
	static const char head[] = "{\"file\":\"", tail[] = "\"pid\":17,\"samples\":3}";
	const char *end = strchr(line, '\0');
	char name[INTERVAL_NAME_MAX];

	found->lines++;
	if (strncmp(line, head, strlen(head)) != 0 || (size_t)(end - line) < strlen(tail) ||
	    strcmp(end - strlen(tail), tail) != 0) {
		found->bad++;
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line + strlen(head), "\""),
		 line + strlen(head));
	found->unlinked += access(scene__path(name), F_OK) != 0;
}

/* The lines of an index, as far as it can be read. */
static void scene__index(const char *name, struct scene_found *found)
{
	struct buf text = {0};
	char *line, *end;

	found->torn_indexes += !scene__unpack(name, &text);
	buf__add(&text, "", 1);
	for (line = text.data; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		scene__line(line, found);
	}
	buf__free(&text);
}

static void scene__look(const char *text, void *arg)
{
	struct scene_found *found = arg;
	struct interval_name name;
	struct buf unused = {0};

	if (interval_name__is_temporary(text)) {
		found->temporary++;
	} else if (!interval_name__parse(text, &name)) {
		found->others++;
	} else if (name.kind == INTERVAL_INDEX) {
		found->indexes++;
		scene__index(text, found);
	} else {
		found->profiles++;
		found->torn_profiles += !scene__unpack(text, &unused);
		buf__free(&unused);
	}
}

SCENE_FN struct scene_found scene__found(void)
{
	struct scene_found found = {0};

	scene__each(scene__look, &found);
	return found;
}

#endif
