/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of profiles: names, the index, what others do to it. */
#define _GNU_SOURCE
#include "serve/linux/store.h"

#include <sys/file.h>
#include <sys/resource.h>

#include "store_scene.h"

static struct store *st;
static struct errmsg f; /* of the last profile */

static void reopen(void)
{
	static const struct store_keep all = {0};

	if (st)
		store__close(st);
	f.text[0] = '\0';
	tap__bail_if(store__open(&st, scene_dir, &all, &f), "%s", f.text);
}

/* The profile of minute @minute after SCENE_TIME. */
static int add(uint64_t minute, size_t size)
{
	return scene__add(st, SCENE_TIME + 60 * minute, 60, size, &f);
}

static mode_t mode_of(const char *path)
{
	struct stat about;

	return lstat(path, &about) ? 0 : about.st_mode & 07777;
}

static bool there(const char *name)
{
	return !access(scene__path(name), F_OK);
}

static void count(const char *what, uint64_t n)
{
	if (n)
		tap__say("%s%s %llu", *tap__saying() ? ", " : "", what, (unsigned long long)n);
}

/* All that the directory has, and the store counts. */
static void is(const char *want, const char *what)
{
	const struct scene_found found = scene__found();
	struct way_status s;

	store__status(st, &s);
	count("profiles", found.profiles);
	count("indexes", found.indexes);
	count("lines", found.lines);
	count("torn", found.torn_profiles + found.torn_indexes);
	count("bad", found.bad);
	count("of no profile", found.unlinked);
	count("temporary", found.temporary);
	count("sent", s.sent);
	count("failed", s.failed);
	count("dropped", s.dropped);
	count("dropped samples", s.dropped_samples);
	count("kept", s.kept);
	tap__said(want, "%s", what);
}

static const char *unpacked(const char *name)
{
	static struct buf text;

	text.len = 0;
	scene__unpack(name, &text);
	buf__add(&text, "", 1);
	return text.data;
}

#define INDEX "index-20261122.jsonl.gz"

BEFORE()
{
	umask(022);
	scene__begin(false);
	reopen();
}

TEST(files)
{
	struct way_status s;

	add(0, 1000);
	tap__ok(!f.text[0] && mode_of(scene__path("20261122T021000Z-60.pb.gz")) == 0640 &&
			mode_of(scene__path(INDEX)) == 0640,
		"a profile and its index: 0640");
	tap__is(unpacked(INDEX),
		"{\"file\":\"20261122T021000Z-60.pb.gz\",\"from\":\"2026-11-22T02:10:00Z\","
		"\"seconds\":60,\"pid\":17,\"samples\":3}\n",
		"a line");
	add(0, 1000);
	add(0, 1000);
	tap__ok(there("20261122T021000Z-60.2.pb.gz"), "a name that is taken is not written to");
	tap__ok(strstr(unpacked(INDEX), "-60.2.pb.gz\""), "the index has the name it got");
	add(24 * 60, 1000);
	add(1, 1000); /* the clock was set back */
	is("profiles 5, indexes 2, lines 5, sent 5, kept 7", "a day, an index");
	store__status(st, &s);
	tap__ok(s.kept_size == 7 * 4096 && s.last && s.size > 4000 && !s.error[0],
		"what there is is known");
	reopen();
	is("profiles 5, indexes 2, lines 5, kept 7", "and found again");
}

TEST(lines)
{
	struct store_interval w = {
		.began = SCENE_TIME * SCENE_NS,
		.ended = (SCENE_TIME + 60) * SCENE_NS,
		.data = "\x1f\x8b",
		.size = 2,
	};
	static struct buf lines;

	tap__ok(!scene__put(st, &w, &f) && !f.text[0] && !there(INDEX),
		"a profile that the index has nothing of");
	for (int i = 0; i < 50000; i++)
		buf__str(&lines, "\"pid\":17,\"samples\":3}\n");
	w.index = lines.data;
	w.index_len = lines.len - 1; /* the last one does not end */
	tap__ok(!scene__put(st, &w, &f) && !f.text[0], "50,000 processes");
	is("profiles 2, indexes 1, lines 50000, torn 2, sent 2, kept 3", "a line each");
}

/* What is left of a member of the index is kept apart. */
TEST(torn)
{
	struct stat about;
	FILE *file;

	for (int how = 0; how < 4; how++) {
		add(0, 100);
		add(1, 100);
		stat(scene__path(INDEX), &about);
		tap__bail_if(how == 0 && truncate(scene__path(INDEX), about.st_size - 3),
			     "truncate");
		file = how ? fopen(scene__path(INDEX), "a") : NULL;
		if (file) {
			/* garbage; zeros, as after a loss of power; while the service runs */
			fwrite(how == 1 ? "\x1f\x8bxx" : "\0\0\0\0", 1, 4, file);
			fclose(file);
		}
		if (how < 3)
			reopen();
		add(2, 100);
		add(3, 100);
		is(how < 3 ? "profiles 4, indexes 2, lines 4, torn 1, sent 2, kept 6"
			   : "profiles 4, indexes 2, lines 4, torn 1, sent 4, kept 6",
		   "a torn index: the day goes on in another file");
		reopen();
		add(4, 100);
		is("profiles 5, indexes 2, lines 5, torn 1, sent 1, kept 7",
		   "and in that after the next start");
		scene__empty();
		reopen();
	}
}

/* Add a profile while no file may be longer than @max: standard output may be. */
static int add_limited(uint64_t minute, size_t size, off_t max)
{
	struct rlimit was, limit;
	int err;

	getrlimit(RLIMIT_FSIZE, &was);
	limit = was;
	limit.rlim_cur = (rlim_t)max;
	setrlimit(RLIMIT_FSIZE, &limit);
	err = add(minute, size);
	setrlimit(RLIMIT_FSIZE, &was);
	return err;
}

TEST(append)
{
	struct way_status s;
	struct stat about;

	for (uint64_t i = 0; i < 40; i++)
		add(i, 10);
	stat(scene__path(INDEX), &about);
	tap__ok(!add_limited(100, 10, about.st_size + 20) &&
			strstr(f.text, "20261122T035000Z-60.pb.gz is missing in the index"),
		"the index does not fit: %s", f.text);
	store__status(st, &s);
	tap__ok(s.error[0], "an error");
	is("profiles 41, indexes 1, lines 40, sent 41, failed 1, kept 42",
	   "the profile is there, and the failure counted");
	tap__ok(!add(101, 10) && !f.text[0], "there is room again");
	is("profiles 42, indexes 1, lines 41, sent 42, failed 1, kept 43", "the index is whole");
	store__status(st, &s);
	tap__ok(!s.error[0], "no error any more");
}

/* A file that is too long, as ulimit -f has it. */
TEST(full)
{
	tap__ok(add_limited(0, 10000, 4096) == -EFBIG && strstr(f.text, "File too large") &&
			strstr(f.text, "3 samples"),
		"no room: %s", f.text);
	is("failed 1, dropped 1, dropped samples 3", "nothing is left of it, and it is counted");
	tap__ok(!add(1, 10000) && !f.text[0], "the next one is written");
}

TEST(directory)
{
	add(0, 10);
	scene__empty();
	rmdir(scene_dir);
	tap__ok(!add(1, 10) && !f.text[0], "a directory that was removed is made again");
	is("profiles 1, indexes 1, lines 1, sent 2, kept 2",
	   "what was in it is not counted any more");
	tap__ok(mode_of(scene_dir) == 0750, "its mode is 0750");
	scene__empty();
	rmdir(scene_dir);
	tap__write(scene_dir, "", 0);
	tap__ok(add(2, 10) == -ENOTDIR && strstr(f.text, "cannot use the directory"),
		"something else in its place: %s", f.text);
	unlink(scene_dir);
	mkdir(scene_dir, 0700);
	tap__ok(!add(3, 10), "and a directory again");
	/* others remove, and add, in another tick of the kernel's clock */
	unlink(scene__path("20261122T021300Z-60.pb.gz"));
	tap__write(scene__path("20261122T021400Z-60.pb.gz"), "", 0);
	tap__write(scene__path("20261122T021500Z-60.pb.gz"), "", 0);
	tap__bail_if(utimensat(AT_FDCWD, scene_dir, (const struct timespec[]){{1, 0}, {1, 0}}, 0),
		     "cannot change the time of the directory");
	add(30, 10);
	is("profiles 3, indexes 1, lines 2, torn 2, of no profile 1, sent 4, failed 1, dropped 1, "
	   "dropped samples 3, kept 4",
	   "what others change is seen");
}

/* What a stranger puts into the way. */
TEST(hostile)
{
	const char *victim = tap__path("victim");
	int lock;

	tap__write(victim, "precious", 8);
	symlink(victim, scene__path("20261122T021000Z-60.pb.gz"));
	symlink(victim, scene__path(".20261122T021000Z-60.pb.gz.tmp"));
	symlink(victim, scene__path(INDEX));
	link(victim, scene__path("index-20261122.1.jsonl.gz"));
	mkdir(scene__path("index-20261122.2.jsonl.gz"), 0700);
	mkfifo(scene__path("index-20261122.3.jsonl.gz"), 0600);
	tap__ok(!add(0, 100) && !f.text[0], "links in place of files: %s", f.text);
	tap__is(tap__read(victim, NULL), "precious", "are not followed");
	tap__ok(there("20261122T021000Z-60.1.pb.gz") && there("index-20261122.4.jsonl.gz"),
		"other names are taken");
	lock = open(scene__path("index-20261122.4.jsonl.gz"), O_RDONLY);
	flock(lock, LOCK_EX);
	tap__ok(!add(1, 100) && there("index-20261122.5.jsonl.gz"),
		"an index that another process writes to is left to it");
	close(lock);
	/* temporary names: what is being written stays, what a crash left goes */
	tap__write(scene__path(".20261122T022000Z-60.pb.gz.tmp"), "", 0);
	tap__write(scene__path(".20261122T022100Z-60.pb.gz.tmp"), "", 0);
	tap__write(scene__path(".20261122T022100Z-60.pb.gz.tmp2"), "", 0);
	lock = open(scene__path(".20261122T022100Z-60.pb.gz.tmp"), O_RDONLY);
	flock(lock, LOCK_EX);
	reopen();
	tap__ok(!there(".20261122T022000Z-60.pb.gz.tmp"), "what a crash left is removed");
	tap__ok(there(".20261122T022100Z-60.pb.gz.tmp"), "what another process writes is not");
	tap__ok(there(".20261122T022100Z-60.pb.gz.tmp2"), "nor what has no name of ours");
	close(lock);
	tap__ok(scene__found().lines == 2 && !scene__found().bad, "the index has both");
}

TEST(open)
{
	static const struct store_keep all = {0};
	const char *inner = tap__path("inner");

	store__close(st);
	tap__ok(!store__open(&st, inner, &all, &f) && mode_of(inner) == 0750,
		"a directory that is missing is made: 0750");
	store__close(st);
	st = NULL;
	tap__ok(store__open(&st, "/proc/nothing/there", &all, &f) < 0 && !st &&
			strstr(f.text, "/proc/nothing/there"),
		"one that cannot be made: %s", f.text);
	tap__ok(store__open(&st, "/dev/null", &all, &f) == -ENOTDIR, "no directory: %s", f.text);
	if (geteuid())
		tap__ok(store__open(&st, "/", &all, &f) < 0, "one that is not to be written to: %s",
			f.text);
	if (!tap__root()) {
		tap__skip("only root can give it away", "a directory of another user");
	} else {
		tap__ok(!chown(inner, 12345, 12345) && store__open(&st, inner, &all, &f) < 0 &&
				strstr(f.text, "belongs to another user"),
			"a directory of another user: %s", f.text);
	}
}
