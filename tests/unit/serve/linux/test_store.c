/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of profiles: names, the index, what others do to it. */
#define _GNU_SOURCE
#include "serve/linux/store.h"

#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "child.h"
#include "store_scene.h"

static struct store *opened(const struct store_keep *keep)
{
	static const struct store_keep all = {0};
	struct errmsg f = {""};
	struct store *st;

	tap__bail_if(store__open(&st, scene_dir, keep ? keep : &all, &f), "%s", f.text);
	return st;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_mode & 07777;
}

BEFORE()
{
	umask(022);
	scene__begin(false);
}

AFTER()
{
	scene__end();
}

TEST(files)
{
	struct store *st = opened(NULL);
	struct way_status s;
	struct scene_found found;
	struct errmsg f;
	struct buf text = {0};

	scene__add(st, SCENE_TIME, 60, 1000, &f);
	tap__ok(!f.text[0] && mode_of(scene__path("20261122T021000Z-60.pb.gz")) == 0640,
		"a profile: 0640");
	tap__ok(mode_of(scene__path("index-20261122.jsonl.gz")) == 0640, "its index: 0640");
	scene__unpack("index-20261122.jsonl.gz", &text);
	buf__add(&text, "", 1);
	tap__ok(!strcmp(text.data, "{\"file\":\"20261122T021000Z-60.pb.gz\","
				   "\"from\":\"2026-11-22T02:10:00Z\",\"seconds\":60,"
				   "\"pid\":17,\"samples\":3}\n"),
		"a line: %s", text.data);
	scene__add(st, SCENE_TIME, 60, 1000, &f);
	scene__add(st, SCENE_TIME, 60, 1000, &f);
	tap__ok(access(scene__path("20261122T021000Z-60.2.pb.gz"), F_OK) == 0,
		"a name that is taken is not written to");
	text.len = 0;
	scene__unpack("index-20261122.jsonl.gz", &text);
	buf__add(&text, "", 1);
	tap__ok(strstr(text.data, "-60.2.pb.gz\"") != NULL, "the index has the name it got");
	scene__add(st, SCENE_TIME + SCENE_DAY, 60, 1000, &f);
	found = scene__found();
	tap__ok(found.profiles == 4 && found.indexes == 2 && found.lines == 4 && !found.bad &&
			!found.unlinked && !found.torn_indexes && !found.temporary,
		"a day, an index");
	store__status(st, &s);
	tap__ok(s.sent == 4 && !s.failed && !s.dropped && s.kept == 6 && s.kept_size == 6 * 4096 &&
			s.last && s.size > 4000 && !s.error[0],
		"what there is is known");
	store__close(st);
	st = opened(NULL);
	store__status(st, &s);
	tap__ok(s.kept == 6 && s.kept_size == 6 * 4096 && !s.sent, "and found again");
	buf__free(&text);
	store__close(st);
	scene__empty();
}

TEST(lines)
{
	struct store *st = opened(NULL);
	struct scene_found found;
	struct store_window w = {
		.began = SCENE_TIME * SCENE_NS,
		.ended = (SCENE_TIME + 60) * SCENE_NS,
		.data = "\x1f\x8b",
		.size = 2,
	};
	struct errmsg f;
	struct buf lines = {0};

	tap__ok(!store__add(st, &w, &f) && !f.text[0], "a profile that the index has nothing of");
	found = scene__found();
	tap__ok(found.profiles == 1 && !found.indexes, "no index is made");
	for (int i = 0; i < 50000; i++)
		buf__str(&lines, "\"pid\":17,\"samples\":3}\n");
	w.index = lines.data;
	w.index_len = lines.len - 1; /* the last one does not end */
	tap__ok(!store__add(st, &w, &f) && !f.text[0], "50,000 processes");
	found = scene__found();
	tap__ok(found.lines == 50000 && !found.bad, "a line each: %zu, %zu bad", found.lines,
		found.bad);
	buf__free(&lines);
	store__close(st);
	scene__empty();
}

/* What is left of a member of the index is kept apart. */
TEST(torn)
{
	static const char *const name = "index-20261122.jsonl.gz";
	struct scene_found found;
	struct store *st;
	struct errmsg f;
	struct stat about;
	FILE *file;

	for (int how = 0; how < 4; how++) {
		st = opened(NULL);
		scene__add(st, SCENE_TIME, 60, 100, &f);
		scene__add(st, SCENE_TIME + 60, 60, 100, &f);
		if (how < 3)
			store__close(st);
		stat(scene__path(name), &about);
		tap__bail_if(how == 0 && truncate(scene__path(name), about.st_size - 3),
			     "truncate");
		file = how ? fopen(scene__path(name), "a") : NULL;
		if (file) {
			/* garbage; zeros, as after a loss of power; while the service runs */
			fwrite(how == 1 ? "\x1f\x8bxx" : "\0\0\0\0", 1, 4, file);
			fclose(file);
		}
		if (how < 3)
			st = opened(NULL);
		scene__add(st, SCENE_TIME + 120, 60, 100, &f);
		scene__add(st, SCENE_TIME + 180, 60, 100, &f);
		found = scene__found();
		tap__ok(!f.text[0] && found.indexes == 2 && found.torn_indexes == 1 &&
				found.lines == 4 && !found.bad,
			"a torn index, %d: the day goes on in another file, with %zu lines", how,
			found.lines);
		store__close(st);
		st = opened(NULL);
		scene__add(st, SCENE_TIME + 240, 60, 100, &f);
		found = scene__found();
		tap__ok(found.indexes == 2, "and in that after the next start, %d", how);
		store__close(st);
		scene__empty();
	}
}

/* A failed append leaves no half of one. */
TEST(append)
{
	struct rlimit was, limit;
	struct scene_found found;
	struct store *st = opened(NULL);
	struct way_status s;
	struct stat about;
	struct errmsg f;
	int err;

	getrlimit(RLIMIT_FSIZE, &was);
	for (uint64_t i = 0; i < 40; i++)
		scene__add(st, SCENE_TIME + i * 60, 60, 10, &f);
	stat(scene__path("index-20261122.jsonl.gz"), &about);
	limit = was;
	limit.rlim_cur = (rlim_t)about.st_size + 20;
	setrlimit(RLIMIT_FSIZE, &limit);
	err = scene__add(st, SCENE_TIME + 6000, 60, 10, &f);
	setrlimit(RLIMIT_FSIZE, &was); /* standard output may be a longer file */
	tap__ok(!err && strstr(f.text, "20261122T035000Z-60.pb.gz is missing in the index"),
		"no room for the index: %s", f.text);
	store__status(st, &s);
	tap__ok(s.sent == 41 && s.failed == 1 && !s.dropped && s.error[0],
		"the profile is there, and the failure counted");
	tap__ok(!scene__add(st, SCENE_TIME + 6060, 60, 10, &f) && !f.text[0],
		"there is room again");
	found = scene__found();
	tap__ok(found.indexes == 1 && !found.torn_indexes && found.lines == 41 &&
			found.profiles == 42,
		"the index is whole: %zu lines, %zu torn", found.lines, found.torn_indexes);
	store__status(st, &s);
	tap__ok(!s.error[0], "no error any more");
	store__close(st);
	scene__empty();
}

/* A file that is too long, as ulimit -f has it. */
TEST(full)
{
	struct rlimit was, limit;
	struct store *st = opened(NULL);
	struct scene_found found;
	struct way_status s;
	struct errmsg f;
	int err;

	getrlimit(RLIMIT_FSIZE, &was);
	limit = was;
	limit.rlim_cur = 4096;
	setrlimit(RLIMIT_FSIZE, &limit);
	err = scene__add(st, SCENE_TIME, 60, 10000, &f);
	setrlimit(RLIMIT_FSIZE, &was);
	tap__ok(err == -EFBIG && strstr(f.text, "File too large") && strstr(f.text, "3 samples"),
		"no room: %s", f.text);
	found = scene__found();
	store__status(st, &s);
	tap__ok(!found.profiles && !found.temporary && !found.indexes && s.dropped == 1 &&
			s.dropped_samples == 3 && s.failed == 1 && !s.sent,
		"nothing is left of it, and it is counted");
	tap__ok(!scene__add(st, SCENE_TIME + 60, 60, 10000, &f) && !f.text[0],
		"the next one is written");
	store__close(st);
	scene__empty();
}

/* Change the directory until its time is another one: clocks of file systems tick. */
static void disk__change(struct timespec was)
{
	struct stat now;

	do {
		mkdir(scene__path("other"), 0700);
		rmdir(scene__path("other"));
		stat(scene_dir, &now);
	} while (now.st_mtim.tv_sec == was.tv_sec && now.st_mtim.tv_nsec == was.tv_nsec);
}

static void disk__use(void)
{
	struct stat about;
	struct store *st = opened(NULL);
	uint64_t added = 0, began = SCENE_TIME;
	struct scene_found found;
	struct way_status s;
	struct errmsg f;
	int err;

	/* until it is full */
	while (!(err = scene__add(st, began, 60, 10000, &f)) && added++ < 100)
		began += 60;
	tap__ok(err == -ENOSPC && strstr(f.text, "No space left on device"), "a full disk: %s",
		f.text);
	err = scene__add(st, began + 60, 60, 20000, &f);
	found = scene__found();
	store__status(st, &s);
	tap__ok(err == -ENOSPC && s.dropped == 2 && s.sent == added && found.profiles == added &&
			!found.torn_profiles && !found.torn_indexes && !found.temporary,
		"those of before are whole, the others counted: %zu and %llu", found.profiles,
		(unsigned long long)s.dropped);
	unlink(scene__path(found.first));
	tap__ok(!scene__add(st, began + 120, 60, 5000, &f) && !f.text[0], "there is room again: %s",
		f.text);
	mount(NULL, scene_dir, NULL, MS_REMOUNT | MS_RDONLY, NULL);
	tap__ok(scene__add(st, began + 180, 60, 100, &f) == -EROFS, "read-only: %s", f.text);
	mount(NULL, scene_dir, NULL, MS_REMOUNT, NULL);
	tap__ok(!scene__add(st, began + 240, 60, 100, &f), "and writable again");
	stat(scene_dir, &about);
	umount(scene_dir);
	mount("tmpfs", scene_dir, "tmpfs", 0, "size=256k,mode=0700");
	disk__change(about.st_mtim);
	tap__ok(!scene__add(st, began + 300, 60, 100, &f) && !f.text[0],
		"another file system in its place: %s", f.text);
	found = scene__found();
	store__status(st, &s);
	tap__ok(found.profiles == 1 && s.kept == 2 && found.lines == 1,
		"what was on the other one is not counted: %zu, %llu, %zu", found.profiles,
		(unsigned long long)s.kept, found.lines);
	store__close(st);
	umount(scene_dir);
}

/* In a process of its own, which has other file systems. */
TEST(disk)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		if (!child__mount(scene_dir, "size=256k,mode=0700"))
			_exit(77);
		disk__use();
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		tap__skip("no file system can be mounted here", "a disk");
	tap__ok(status == 0 || WEXITSTATUS(status) == 77, "a disk that is full, and another one");
}

TEST(directory)
{
	struct store *st = opened(NULL);
	struct scene_found found;
	struct way_status s;
	struct errmsg f;

	scene__add(st, SCENE_TIME, 60, 10, &f);
	scene__empty();
	rmdir(scene_dir);
	tap__ok(!scene__add(st, SCENE_TIME + 60, 60, 10, &f) && !f.text[0],
		"a directory that was removed is made again");
	found = scene__found();
	store__status(st, &s);
	tap__ok(found.profiles == 1 && found.indexes == 1 && s.kept == 2,
		"what was in it is not counted any more");
	tap__ok(mode_of(scene_dir) == 0750, "its mode is 0750");
	scene__empty();
	rmdir(scene_dir);
	fclose(fopen(scene_dir, "w"));
	tap__ok(scene__add(st, SCENE_TIME + 120, 60, 10, &f) == -ENOTDIR &&
			strstr(f.text, "cannot use the directory"),
		"something else in its place: %s", f.text);
	unlink(scene_dir);
	mkdir(scene_dir, 0700);
	tap__ok(!scene__add(st, SCENE_TIME + 180, 60, 10, &f), "and a directory again");
	store__status(st, &s);
	tap__ok(s.sent == 3 && s.dropped == 1, "one was dropped");
	/* others remove, and add */
	unlink(scene__path("20261122T021300Z-60.pb.gz"));
	fclose(fopen(scene__path("20261122T021400Z-60.pb.gz"), "w"));
	fclose(fopen(scene__path("20261122T021500Z-60.pb.gz"), "w"));
	scene__add(st, SCENE_TIME + 1800, 60, 10, &f);
	store__status(st, &s);
	tap__ok(s.kept == 4, "what others change is seen: %llu files", (unsigned long long)s.kept);
	store__close(st);
	scene__empty();
}

/* What a stranger puts into the way. */
TEST(hostile)
{
	char victim[64] = "/tmp/store-victim-XXXXXX", text[16] = "";
	struct store *st = opened(NULL);
	struct scene_found found;
	struct errmsg f;
	int fd = mkstemp(victim), lock;

	tap__bail_if(fd < 0 || write(fd, "precious", 8) != 8, "no file");
	symlink(victim, scene__path("20261122T021000Z-60.pb.gz"));
	symlink(victim, scene__path(".20261122T021000Z-60.pb.gz.tmp"));
	symlink(victim, scene__path("index-20261122.jsonl.gz"));
	link(victim, scene__path("index-20261122.1.jsonl.gz"));
	mkdir(scene__path("index-20261122.2.jsonl.gz"), 0700);
	mkfifo(scene__path("index-20261122.3.jsonl.gz"), 0600);
	tap__ok(!scene__add(st, SCENE_TIME, 60, 100, &f) && !f.text[0],
		"names that lead elsewhere: %s", f.text);
	tap__ok(pread(fd, text, sizeof(text), 0) == 8 && !memcmp(text, "precious", 8),
		"are not followed");
	tap__ok(!access(scene__path("20261122T021000Z-60.1.pb.gz"), F_OK) &&
			!access(scene__path("index-20261122.4.jsonl.gz"), F_OK),
		"other names are taken");
	lock = open(scene__path("index-20261122.4.jsonl.gz"), O_RDONLY);
	flock(lock, LOCK_EX);
	tap__ok(!scene__add(st, SCENE_TIME + 60, 60, 100, &f) &&
			!access(scene__path("index-20261122.5.jsonl.gz"), F_OK),
		"an index that another process writes to is left to it");
	close(lock);
	store__close(st);
	/* temporary names: what is being written stays, what a crash left goes */
	fclose(fopen(scene__path(".20261122T022000Z-60.pb.gz.tmp"), "w"));
	fclose(fopen(scene__path(".20261122T022100Z-60.pb.gz.tmp"), "w"));
	fclose(fopen(scene__path(".20261122T022100Z-60.pb.gz.tmp2"), "w"));
	lock = open(scene__path(".20261122T022100Z-60.pb.gz.tmp"), O_RDONLY);
	flock(lock, LOCK_EX);
	st = opened(NULL);
	tap__ok(access(scene__path(".20261122T022000Z-60.pb.gz.tmp"), F_OK) != 0,
		"what a crash left is removed");
	tap__ok(!access(scene__path(".20261122T022100Z-60.pb.gz.tmp"), F_OK),
		"what another process writes is not");
	tap__ok(!access(scene__path(".20261122T022100Z-60.pb.gz.tmp2"), F_OK),
		"nor what has no name of ours");
	close(lock);
	store__close(st);
	found = scene__found();
	tap__ok(found.lines == 2 && !found.bad, "the index has both");
	close(fd);
	unlink(victim);
	scene__empty();
}

TEST(open)
{
	static const struct store_keep all = {0};
	struct store *st = NULL;
	struct errmsg f = {""};
	char inner[128];

	snprintf(inner, sizeof(inner), "%s/inner", scene_dir);
	tap__ok(!store__open(&st, inner, &all, &f) && mode_of(inner) == 0750,
		"a directory that is missing is made: 0750");
	store__close(st);
	tap__ok(store__open(&st, "/proc/nothing/there", &all, &f) < 0 && !st &&
			strstr(f.text, "/proc/nothing/there"),
		"one that cannot be made: %s", f.text);
	tap__ok(store__open(&st, "/dev/null", &all, &f) == -ENOTDIR, "no directory: %s", f.text);
	if (geteuid()) {
		tap__ok(store__open(&st, "/", &all, &f) < 0, "one that is not to be written to: %s",
			f.text);
		tap__skip("only root can give it away", "a directory of another user");
	} else {
		tap__ok(!chown(inner, 12345, 12345) && store__open(&st, inner, &all, &f) < 0 &&
				strstr(f.text, "belongs to another user"),
			"a directory of another user: %s", f.text);
	}
	scene__empty();
}
