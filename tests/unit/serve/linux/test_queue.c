/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles that wait for a server: order, sudden ends, damage, limits, full disks. */
#define _GNU_SOURCE
#include "serve/linux/queue.h"

#include <glob.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/linux/push.h"
#include "system_calls.h"
#include "tap.h"

#define ROOM (1u << 20)

static struct queue *q;
static const char *dir;

static void reopen(uint64_t max)
{
	struct errmsg f = {""};

	queue__close(q);
	q = NULL;
	tap__bail_if(queue__open(&q, dir, max, &f), "%s", f.text);
}

/* Call @on for the path of each file of the queue; how many there are. */
static int files(void (*on)(const char *path))
{
	glob_t found = {0};
	int n;

	glob(tap__path("spool/*"), 0, NULL, &found);
	n = (int)found.gl_pathc;
	for (int i = 0; i < n && on; i++)
		on(found.gl_pathv[i]);
	globfree(&found);
	return n;
}

static void on_remove(const char *path)
{
	unlink(path);
}

BEFORE()
{
	dir = tap__path("spool");
	reopen(ROOM);
}

/* Profile @i, of @size times a letter, and of 10 times as many samples. */
static int add(uint64_t i, size_t size, const char *file)
{
	static char data[QUEUE_MEMORY];
	const struct queue_entry e = {
		.name = {.kind = INTERVAL_PROFILE, .began = i, .seconds = 60},
		.samples = 10 * i,
		.size = size,
		.data = data,
	};

	memset(data, 'a' + (int)(i % 26), size);
	return queue__add(q, &e, file);
}

/* Has number @i of the queue its own bytes? */
static bool good(size_t i)
{
	const struct queue_entry *e = queue__at(q, i);
	struct buf b = {0};
	bool same = !queue__read(q, e, &b) && b.len == e->size;

	for (size_t k = 0; k < b.len && same; k++)
		same = b.data[k] == 'a' + (int)(e->name.began % 26);
	buf__free(&b);
	return same;
}

/* What waits, as "1 2 3", with a ! behind those whose bytes are wrong; and what was dropped. */
static void is(const char *wanted, const char *what)
{
	struct queue_counts c;

	for (size_t i = 0; queue__at(q, i); i++)
		tap__say("%llu%s ", (unsigned long long)queue__at(q, i)->name.began,
			 good(i) ? "" : "!");
	queue__counts(q, &c);
	tap__say("| %llu (%llu)", (unsigned long long)c.dropped,
		 (unsigned long long)c.dropped_samples);
	tap__said(wanted, "%s", what);
}

TEST(order)
{
	struct queue_counts c;

	for (uint64_t i = 5; i > 2; i--)
		add(i, 100 * i, NULL);
	is("5 4 3 | 0 (0)", "in the order in which they were added, whatever their time");
	queue__counts(q, &c);
	tap__ok(c.waiting == 3 && c.wait_size == 1200, "counted");
	queue__progress(q, 2, 20);
	reopen(ROOM);
	is("5 4 3 | 0 (0)", "they wait on after a restart");
	tap__ok(queue__at(q, 0)->samples == 30 && queue__at(q, 0)->requests == 2,
		"with what was sent");
	add(9, 1, NULL);
	queue__done(q);
	reopen(ROOM);
	is("4 3 9 | 0 (0)", "one that is done does not");
	queue__drop(q);
	is("3 9 | 1 (40)", "one that is dropped is counted");
	queue__done(q);
	reopen(ROOM);
	add(7, 1, NULL);
	reopen(ROOM);
	is("9 7 | 0 (0)", "one that is added after a restart is behind those before");
	queue__done(q);
	queue__done(q);
	tap__ok(!queue__at(q, 0) && !files(NULL), "then nothing is left");
}

/* A profile that is in a file is not written again. */
TEST(link)
{
	const char *profile = tap__path("profile");
	struct stat st;

	tap__write(profile, "b", 1);
	add(1, 1, profile);
	tap__ok(!stat(profile, &st) && st.st_nlink == 2, "a link to the file");
	add(2, 1, "/proc/self/status");
	add(3, 1, "/no/such/file");
	is("1 2 3 | 0 (0)", "and a copy, if there is no such file or it is on another file system");
	unlink(profile);
	reopen(ROOM);
	is("1 2 3 | 0 (0)", "a file that is removed elsewhere still waits");
	queue__done(q);
	tap__ok(files(NULL) == 2, "until it is done");
}

TEST(limits)
{
	reopen(40960);
	for (uint64_t i = 1; i <= 12; i++)
		add(i, 4000, NULL);
	is("3 4 5 6 7 8 9 10 11 12 | 2 (30)", "the oldest are dropped for new ones");
	tap__ok(add(13, 50000, NULL) == -EMSGSIZE, "one that is larger than all may be is refused");
	is("3 4 5 6 7 8 9 10 11 12 | 3 (160)", "and counted");
	reopen(8192);
	is("11 12 | 8 (520)", "a smaller limit: the oldest are dropped");
}

static void on_truncate(const char *path)
{
	tap__bail_if(truncate(path, 1), "%s", path);
}

/* Files that others made or damaged. */
TEST(damaged)
{
	static const char *const names[] = {"0000000000000001-0-1-19700101T000001Z-60.pb.gz.tmp",
					    "000000000000000A-0-1-19700101T000001Z-60.pb.gz",
					    "0000000000000001-0-01-19700101T000001Z-60.pb.gz",
					    "0000000000000001-0-1-index-19700101.jsonl.gz",
					    "ffffffffffffffff-0-1-19700101T000001Z-60.pb.gz"};
	struct buf b = {0};
	char path[1024];

	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		tap__write(path, "x", 1);
	}
	reopen(ROOM);
	is("| 0 (0)", "other names are ignored");
	tap__ok(files(on_remove) == 5, "and left");
	add(1, 10, NULL);
	files(on_truncate);
	tap__ok(queue__read(q, queue__at(q, 0), &b) == -EINVAL, "a file that was cut is not read");
	files(on_remove);
	tap__ok(queue__read(q, queue__at(q, 0), &b) == -ENOENT, "nor one that was removed");
	buf__free(&b);
}

/* No room: they wait in memory, and are written when there is some. */
TEST(full)
{
	const struct rlimit none = {0, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	bool wait;
	int err;

	reopen(64 << 20);
	add(1, 5, NULL);
	setrlimit(RLIMIT_FSIZE, &none); /* of the results of the checks, too: none until it ends */
	wait = !add(2, 5, NULL) && !add(3, 5, NULL);
	queue__progress(q, 1, 1);
	err = add(4, QUEUE_MEMORY, NULL);
	setrlimit(RLIMIT_FSIZE, &all);
	tap__ok(wait, "no room: they wait");
	tap__ok(err == -EFBIG, "in memory, of which there is a limit");
	is("1 2 3 | 1 (40)", "and what is beyond it is counted");
	add(5, 5, NULL);
	reopen(ROOM);
	is("1 2 3 5 | 0 (0)", "all are written when there is room");
	setrlimit(RLIMIT_FSIZE, &none);
	add(6, 5, NULL);
	queue__end(q);
	setrlimit(RLIMIT_FSIZE, &all);
	is("1 2 3 5 6 | 1 (60)", "what cannot be written at the end is counted");
	signal(SIGXFSZ, before);
}

static int before_rename(const struct system_call *c)
{
	return c->number == SYS_renameat ? ENOSPC : 0;
}

/* A longer name may not fit on a full disk. */
TEST(no_room_for_a_name)
{
	add(1, 5, NULL);
	add(2, 5, NULL);
	system_calls__before = before_rename;
	queue__progress(q, 1, 3);
	queue__progress(q, 1, 4);
	system_calls__before = NULL;
	is("1 2 | 0 (0)", "a file that keeps its name is still read");
	queue__progress(q, 1, 1);
	reopen(ROOM);
	tap__ok(queue__at(q, 0)->requests == 3 && queue__at(q, 0)->samples == 2,
		"what was sent meanwhile is in its next name");
	system_calls__before = before_rename;
	queue__progress(q, 1, 2);
	system_calls__before = NULL;
	queue__done(q);
	queue__progress(q, 1, 1);
	reopen(ROOM);
	is("2 | 0 (0)", "it is removed, and the next has its own");
}

TEST(directory)
{
	struct queue *other = NULL;
	struct errmsg f = {""};

	tap__ok(queue__open(&other, dir, ROOM, &f) < 0 && strstr(f.text, "in use by another"),
		"one at a time: %s", f.text);
	queue__close(q);
	q = NULL;
	chmod(dir, 0777);
	tap__ok(queue__open(&other, dir, ROOM, &f) == -EPERM && strstr(f.text, "others may write"),
		"not where others may write: %s", f.text);
	chmod(dir, 0700);
	tap__ok(queue__open(&other, "/proc/x", ROOM, &f) < 0 &&
			strstr(f.text, "cannot create the spool directory"),
		"where there is none: %s", f.text);
}

static int unreadable;

static int before_open(const struct system_call *c)
{
	const char *end = c->number == SYS_openat ? strstr(c->path, ".pb.gz") : NULL;

	return end && !end[strlen(".pb.gz")] ? unreadable : 0;
}

/* Until @failed tries did, or none waits. */
static void wait_for(struct push *p, struct way_status *s, uint64_t failed)
{
	for (push__status(p, s); s->waiting && s->failed < failed; push__status(p, s))
		push__run(p);
}

/* One that cannot be read now is there: it is not lost at once. */
TEST(unreadable)
{
	static const int later[] = {EIO, EACCES, ENOMEM, EMFILE, ENFILE};
	const struct push_config config = {.url = "http://127.0.0.1:1",
					   .spool = dir,
					   .spool_size = ROOM,
					   .back_off_ms = 1,
					   .back_off_max_ms = 1};
	const struct queue_entry e = {
		.name = {.kind = INTERVAL_PROFILE}, .samples = 10, .size = 1, .data = "x"};
	struct errmsg f = {""};
	struct way_status s = {0};
	struct push *p;

	queue__close(q);
	q = NULL;
	tap__bail_if(push__open(&p, &config, &f), "%s", f.text);
	system_calls__before = before_open;
	for (size_t i = 0; i < COUNT(later); i++) {
		unreadable = 0;
		push__add(p, &e, NULL);
		unreadable = later[i];
		wait_for(p, &s, s.failed + PUSH_PROBE - 1);
		tap__ok(s.waiting == 1 && s.dropped == i, "it waits: %s", s.error);
		wait_for(p, &s, s.failed + 1);
		tap__ok(!s.waiting && s.dropped_samples == 10 * (i + 1), "until try %d",
			(int)PUSH_PROBE);
	}
	unreadable = 0;
	push__add(p, &e, NULL);
	unreadable = ENOENT;
	wait_for(p, &s, s.failed + 2);
	tap__ok(s.failed == PUSH_PROBE * COUNT(later) + 1, "one that is gone is dropped: %s",
		s.error);
	push__close(p);
}
