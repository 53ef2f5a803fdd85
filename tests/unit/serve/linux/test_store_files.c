/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What --keep keeps: by size, by age, with a clock that steps, with files that stay. */
#include "serve/linux/store_files.h"

#include <sys/syscall.h>

#include "store_scene.h"
#include "system_calls.h"

#define MINUTE 60u

/* The beginning of the day that tests begin with. */
static const uint64_t day = SCENE_TIME - SCENE_TIME % SCENE_DAY;

static int dir;
static size_t left[2]; /* profiles and indexes, after keep() */
static struct store_kept kept;

static void file__make(uint64_t began, uint32_t seconds, enum interval_kind kind, off_t size)
{
	struct interval_name name = {.began = began, .seconds = seconds, .kind = kind};
	char text[INTERVAL_NAME_MAX];
	int fd;

	interval_name__print(text, &name);
	fd = openat(dir, text, O_WRONLY | O_CREAT, 0600);
	tap__bail_if(fd < 0 || (size && ftruncate(fd, size)), "%s", text);
	close(fd);
}

/* @n profiles of a minute each from @began on, and an index for each day. */
static void files__make(uint64_t began, uint64_t n)
{
	uint64_t day = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = began + i * MINUTE;

		if (day != at / SCENE_DAY)
			file__make(at - at % SCENE_DAY, 0, INTERVAL_INDEX, 100);
		day = at / SCENE_DAY;
		file__make(at, MINUTE, INTERVAL_PROFILE, 100);
	}
}

static void count(const char *name, void *arg)
{
	size_t *n = arg;

	n[strncmp(name, "index", 5) == 0]++;
}

/* Have what is there looked at, and @what kept at @now, with room for @more bytes. */
static int keep(const struct store_keep *what, uint64_t now, uint64_t more)
{
	struct store_files all = {0};
	struct errmsg f = {""};
	size_t n[2] = {0};
	int err;

	kept = (struct store_kept){0};
	err = store_files__scan(&all, dir);
	if (err)
		tap__bail("scan: %s", strerror(-err));
	err = store_files__keep(&all, dir, what, now, now - now % SCENE_DAY, more, &kept, &f);
	scene__each(count, n);
	if (all.profiles.n != n[0] || all.indexes.n != n[1])
		tap__ok(false, "it knows of %zu and %zu, there are %zu and %zu", all.profiles.n,
			all.indexes.n, n[0], n[1]);
	memcpy(left, n, sizeof(n));
	store_files__free(&all);
	return err;
}

static bool there(uint64_t began)
{
	struct interval_name name = {.began = began, .seconds = MINUTE};
	char text[INTERVAL_NAME_MAX];

	interval_name__print(text, &name);
	return !faccessat(dir, text, F_OK, 0);
}

BEFORE()
{
	scene__begin(false);
	dir = open(scene_dir, O_RDONLY | O_DIRECTORY);
}

TEST(age)
{
	const struct store_keep week = {.age = 7 * SCENE_DAY}, hour = {.age = 3600};

	/* a profile of an hour every hour, for ten days */
	for (uint64_t i = 0; i < 240; i++)
		file__make(day + i * 3600, 3600, INTERVAL_PROFILE, 100);
	for (uint64_t i = 0; i < 10; i++)
		file__make(day + i * SCENE_DAY, 0, INTERVAL_INDEX, 100);
	keep(&week, day + 10 * SCENE_DAY, 0);
	tap__ok(left[0] == 7 * 24 && left[1] == 7 && kept.removed == 75,
		"a week of ten days: %zu profiles, %zu indexes are left", left[0], left[1]);
	keep(&week, day + 10 * SCENE_DAY, 0);
	tap__ok(!kept.removed, "again: nothing is removed");
	keep(&week, day + 10 * SCENE_DAY + 3600, 0);
	tap__ok(kept.removed == 1 && left[1] == 7, "an hour later: one, and no index");
	keep(&week, day + 5000 * SCENE_DAY, 0);
	tap__ok(left[0] == 24 && left[1] == 1, "the clock is years ahead: the last day stays");
	keep(&week, 0, 0);
	tap__ok(!kept.removed, "the clock is in 1970: nothing goes");
	keep(&hour, day + 5000 * SCENE_DAY, 0);
	tap__ok(left[0] == 1 && left[1] == 1, "of an hour that is kept the last hour stays");
	scene__empty();
	/* written while the clock was wrong */
	files__make(day + 5000 * SCENE_DAY, 10);
	files__make(day, 10);
	keep(&hour, day + SCENE_DAY, 0);
	tap__ok(left[0] == 20, "profiles in the future do not cause the last hour to be removed");
	files__make(day + SCENE_DAY - 3600, 61);
	keep(&hour, day + SCENE_DAY + MINUTE, 0);
	tap__ok(left[0] == 70 && !there(day) && there(day + 5000 * SCENE_DAY),
		"nor too old itself: %zu", left[0]);
	keep(&(const struct store_keep){.age = UINT64_MAX}, day + SCENE_DAY, 0);
	tap__ok(!kept.removed, "an age without end");
}

TEST(size)
{
	const struct store_keep size = {.size = 100 * STORE_BLOCK};
	int err;

	/* over midnight: two indexes */
	files__make(day + SCENE_DAY - 50 * MINUTE, 150);
	err = keep(&size, day + SCENE_DAY + 100 * MINUTE, 0);
	tap__ok(!err && left[0] + left[1] <= 100 && left[0] + left[1] >= 99 && left[1] == 1,
		"100 blocks: %zu profiles and %zu index are left", left[0], left[1]);
	tap__ok(there(day + SCENE_DAY + 99 * MINUTE) && !there(day + SCENE_DAY - MINUTE),
		"the youngest");
	err = keep(&size, day + SCENE_DAY + 100 * MINUTE, 10 * STORE_BLOCK);
	tap__ok(!err && left[0] + left[1] == 90, "and there is room for ten more");
	err = keep(&size, day + SCENE_DAY + 100 * MINUTE, 101 * STORE_BLOCK);
	tap__ok(err == -EDQUOT && left[0] + left[1] == 90 && !kept.removed,
		"one that is larger than all: nothing is removed for it");
	/* written while the clock was ahead */
	files__make(day + 5000 * SCENE_DAY, 50);
	err = keep(&size, day + SCENE_DAY + 100 * MINUTE, 0);
	tap__ok(!err && there(day + 5000 * SCENE_DAY + 49 * MINUTE) &&
			!there(day + 5000 * SCENE_DAY) && left[0] + left[1] == 100,
		"what is in the future goes first");
	/* a clock that is back by an hour is not the future */
	err = keep(&(const struct store_keep){.size = 50 * STORE_BLOCK}, day + SCENE_DAY, 0);
	tap__ok(!err && !there(day + 5000 * SCENE_DAY + 49 * MINUTE) &&
			there(day + SCENE_DAY + 99 * MINUTE),
		"but not what is ahead by an hour");
}

/* An index that grows must not leave profiles without room. */
TEST(index)
{
	const struct store_keep size = {.size = 100 * STORE_BLOCK};
	int err;

	files__make(day, 20);
	truncate(scene__path("index-20261122.jsonl.gz"), 49 * STORE_BLOCK);
	keep(&size, day + SCENE_DAY - 1, 0);
	tap__ok(!kept.removed, "an index as large as half of all, with room");
	truncate(scene__path("index-20261122.jsonl.gz"), 90 * STORE_BLOCK);
	err = keep(&size, day + SCENE_DAY - 1, 0);
	tap__ok(!err && kept.removed == 1 && left[0] == 20 && !left[1],
		"one that takes the room of profiles goes, even that of today");
}

/* Two files of this day, which cannot be removed. */
static int before_unlink(const struct system_call *c)
{
	return c->number == SYS_unlinkat && (!strcmp(c->path, "20261122T000000Z-60.pb.gz") ||
					     !strcmp(c->path, "20261122T000200Z-60.pb.gz"))
		       ? EPERM
		       : 0;
}

TEST(stuck)
{
	struct store_keep size = {.size = 10 * STORE_BLOCK};
	struct store_files all = {0};
	struct errmsg f = {""};
	int err;

	files__make(day, 20);
	mkdir(scene__path("20261121T000000Z-60.pb.gz"), 0700);
	symlink("/etc/passwd", scene__path("20261120T000000Z-60.pb.gz"));
	tap__write(scene__path("20261119T000000Z-60.pb.gz~"), "", 0);
	store_files__scan(&all, dir);
	tap__ok(all.profiles.n == 20 && all.indexes.n == 1, "files of our names are counted");
	system_calls__before = before_unlink;
	err = store_files__keep(&all, dir, &size, day + SCENE_DAY, day, 0, &kept, &f);
	tap__ok(!err && all.profiles.n == 9 && kept.removed == 11 && kept.stuck == 2,
		"two that cannot be removed stay, and others go for them");
	tap__ok(strstr(f.text, "20261122T000200Z-60.pb.gz: Operation not permitted"),
		"the message names the file: %s", f.text);
	tap__ok(there(day) && there(day + 2 * MINUTE) && !there(day + MINUTE), "they are there");
	kept = (struct store_kept){0};
	size.size = STORE_BLOCK;
	err = store_files__keep(&all, dir, &size, day + SCENE_DAY, day, 0, &kept, &f);
	tap__ok(err == -EDQUOT && !kept.stuck && all.profiles.n == 2,
		"files that stay exceed the size: the error is -EDQUOT");
	tap__ok(!faccessat(dir, "20261121T000000Z-60.pb.gz", F_OK, 0) &&
			!faccessat(dir, "20261120T000000Z-60.pb.gz", F_OK, AT_SYMLINK_NOFOLLOW) &&
			!faccessat(dir, "20261119T000000Z-60.pb.gz~", F_OK, 0),
		"other files are not touched");
	store_files__free(&all);
}
