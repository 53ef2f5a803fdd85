/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What waits to be sent: order, what is left after a sudden end, damage, limits, full disks. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "serve/linux/spool.h"
#include "system_calls.h"
#include "tap.h"

#define KIND 1u
#define ROOM (1u << 20)

static const char *dir;
static char path[512];

/* What opening an item fails with. */
static int refuse;

static int refuse_item(const struct system_call *c)
{
	const char *dot = c->number == SYS_openat ? strrchr(c->path, '.') : NULL;

	return dot && !strcmp(dot, ".item") ? refuse : 0;
}

static const char *in(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* Files of the directory; the name of the last in their order is left in `path`. */
static int files(void)
{
	DIR *d = opendir(dir);
	char last[256] = "";
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)))
		if (*e->d_name != '.') {
			n++;
			if (strcmp(e->d_name, last) > 0)
				snprintf(last, sizeof(last), "%s", e->d_name);
		}
	closedir(d);
	in(last);
	return n;
}

static void empty(void)
{
	while (files())
		tap__bail_if(unlink(path) < 0, "%s", path);
}

static struct spool *s;

static void reopen(uint64_t max)
{
	struct errmsg f = {""};

	if (s)
		spool__close(s);
	s = NULL;
	tap__bail_if(spool__open(&s, dir, KIND, max, &f) < 0, "the spool: %s", f.text);
}

static int add(uint64_t number, size_t size)
{
	static char data[SPOOL_BODY_MAX + 1];
	char name[32];
	struct spool_item item = {.began = number,
				  .ended = number + 1,
				  .samples = 10 * number,
				  .name = name,
				  .data = data,
				  .size = size};

	snprintf(name, sizeof(name), "item%d", (int)number);
	memset(data, (int)number, size);
	return spool__add(s, &item);
}

/* Is item @number the first, with @size bytes that are its own? */
static bool is_first(uint64_t number, size_t size)
{
	struct spool_item item = {0};
	char name[32];
	bool same;

	snprintf(name, sizeof(name), "item%d", (int)number);
	if (spool__first(s, &item) != 1)
		return false;
	same = item.began == number && item.ended == number + 1 && item.samples == 10 * number &&
	       item.size == size && !strcmp(item.name, name);
	for (size_t i = 0; i < size && same; i++)
		same = ((const unsigned char *)item.data)[i] == (unsigned char)number;
	return same;
}

static struct spool_counts counts(void)
{
	struct spool_counts c;

	spool__counts(s, &c);
	return c;
}

/* What it counts, except sizes. */
static void is(const char *want, const char *what)
{
	const struct spool_counts c = counts();
	char text[128];

	snprintf(text, sizeof(text),
		 "%llu waiting, %llu in memory, %llu dropped (%llu), %llu damaged",
		 (unsigned long long)c.waiting, (unsigned long long)c.in_memory,
		 (unsigned long long)c.dropped, (unsigned long long)c.dropped_samples,
		 (unsigned long long)c.damaged);
	tap__is(text, want, "%s", what);
}

static bool nothing(void)
{
	struct spool_item item;

	return spool__first(s, &item) == 0;
}

BEFORE()
{
	system_calls__before = refuse_item;
	dir = tap__folder();
	reopen(ROOM);
}

AFTER()
{
	spool__close(s);
}

TEST(order)
{
	struct stat st;

	tap__ok(nothing(), "a new one is empty");
	tap__ok(!add(3, 100) && !add(1, 0) && !add(2, 5000), "three are added");
	is("3 waiting, 0 in memory, 0 dropped (0), 0 damaged", "and wait");
	tap__ok(counts().wait_size > 5100 && files() == 3 && !stat(path, &st) &&
			(st.st_mode & 07777) == 0600,
		"a file each, of the owner");
	for (int i = 0; i < 2; i++)
		tap__ok(is_first(3, 100),
			"the one added first is and stays the first, whatever the clock said");
	spool__done(s);
	tap__ok(files() == 2 && is_first(1, 0),
		"when it was sent, the next one is; it has no body");
	spool__drop(s);
	is("1 waiting, 0 in memory, 1 dropped (10), 0 damaged", "a dropped one is counted");

	reopen(ROOM);
	tap__ok(counts().waiting == 1 && is_first(2, 5000), "the rest is there again");
	add(4, 10);
	spool__done(s);
	tap__ok(is_first(4, 10), "and before what comes");
	spool__done(s);
	spool__done(s);
	tap__ok(nothing() && !files() && !counts().wait_size, "all was sent: nothing is left");
}

/* A process is killed while it adds: what it said was accepted is there. */
TEST(killed)
{
	uint64_t accepted = 0, n;
	bool all = true;
	int pipes[2];
	pid_t pid;

	spool__close(s);
	s = NULL;
	tap__bail_if(pipe(pipes) < 0, "pipe");
	pid = fork();
	if (!pid) {
		reopen(64 * ROOM);
		for (n = 1;; n++)
			if (add(n, 3000) || write(pipes[1], &n, sizeof(n)) != sizeof(n))
				_exit(1);
	}
	close(pipes[1]);
	while (accepted < 20 && read(pipes[0], &n, sizeof(n)) == sizeof(n))
		accepted = n;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(pipes[0], &n, sizeof(n)) == sizeof(n))
		accepted = n;
	tap__write(in("new.tmp"), "", 0); /* what such an end can leave */
	reopen(64 * ROOM);
	n = counts().waiting;
	tap__ok(accepted >= 20 && (n == accepted || n == accepted + 1),
		"killed while it adds: what was accepted is there");
	tap__ok(access(in("new.tmp"), F_OK) < 0, "what was half written is not");
	for (uint64_t i = 1; i <= n && all; i++) {
		all = is_first(i, 3000);
		spool__done(s);
	}
	tap__ok(all && nothing() && !counts().dropped, "in order, once, whole");
}

/* Complement byte @at of the file, or cut @cut bytes off. */
static void damage(const char *how, int at, size_t cut)
{
	char bytes[512];
	const char *text;
	size_t len;

	add(1, 100);
	files();
	text = tap__read(path, &len);
	tap__bail_if(!text || len > sizeof(bytes), "%s", path);
	memcpy(bytes, text, len);
	if (at >= 0)
		bytes[at] = (char)~bytes[at];
	tap__write(path, bytes, len - cut);
	reopen(ROOM);
	add(2, 10);
	tap__ok(is_first(2, 10) && counts().damaged == 1 && counts().dropped == 1,
		"a file that is damaged (%s) is passed over and counted", how);
	spool__done(s);
	tap__ok(!files(), "and removed");
}

TEST(damage)
{
	static const struct {
		const char *how;
		int at;
		size_t cut;
	} all[] = {{"magic", 0, 0},
		   {"kind", 8, 0},
		   {"sum", 12, 0},
		   {"time", 16, 0},
		   {"samples", 32, 0},
		   {"length of the name", 43, 0},
		   {"length of the body", 44, 0},
		   {"name", 48, 0},
		   {"body", 60, 0},
		   {"a byte less", -1, 1},
		   {"no body", -1, 100},
		   {"empty", -1, 153}};

	for (size_t i = 0; i < COUNT(all); i++) {
		damage(all[i].how, all[i].at, all[i].cut);
		reopen(ROOM);
	}
	tap__bail_if(symlink("/etc/passwd", in("0000000000000001.item")) < 0 ||
			     mkfifo(in("0000000000000002.item"), 0600) < 0 ||
			     mkdir(in("0000000000000003.item"), 0700) < 0,
		     "%s", path);
	tap__write(in("ffffffffffffffff.item"), "", 0);
	tap__write(in("notes.txt"), "", 0);
	reopen(ROOM);
	tap__ok(nothing() && counts().damaged == 4 && !add(7, 10) && is_first(7, 10),
		"links, pipes, directories and impossible numbers are none");
	spool__done(s);
	tap__ok(!access(in("notes.txt"), F_OK), "what has another name is left alone");
	rmdir(in("0000000000000003.item"));
	empty();

	reopen(ROOM);
	add(1, 10);
	add(2, 10);
	files();
	tap__bail_if(!is_first(1, 10), "the first");
	spool__done(s);
	unlink(path);
	tap__ok(nothing() && counts().dropped == 1, "one that others removed is counted as lost");
}

/* What may be good is not removed since it cannot be opened now. */
TEST(refused)
{
	static const int all[] = {EACCES, EMFILE, EIO, ENOMEM};
	struct spool *none = NULL;
	struct spool_item item;
	struct errmsg f = {""};
	unsigned int tries = 0;
	int err;

	add(1, 10);
	add(2, 10);
	spool__close(s);
	s = NULL;
	for (size_t i = 0; i < COUNT(all); i++) {
		refuse = all[i];
		err = spool__open(&none, dir, KIND, ROOM, &f);
		refuse = 0;
		tap__ok(err == -all[i] && files() == 2, "at the start: %s", f.text);
	}
	reopen(ROOM);
	refuse = EMFILE;
	for (int i = 0; i < 100; i++)
		err = spool__first(s, &item);
	tap__ok(err == -EMFILE && counts().waiting == 2, "for want of descriptors it waits");
	refuse = EIO;
	while ((err = spool__first(s, &item)) == -EIO && counts().waiting == 2 && tries < 100)
		tries++;
	refuse = 0;
	is("1 waiting, 0 in memory, 1 dropped (10), 1 damaged",
	   "one that cannot be read is dropped and counted");
	tap__ok(tries == SPOOL_TRIES - 1, "after %u tries", tries + 1);
	tap__ok(is_first(2, 10), "and the next one is the first");
}

TEST(limits)
{
	struct errmsg f;
	struct spool *other;
	int fill = 0;

	reopen(64 << 10);
	tap__ok(add(1, 70000) == -EMSGSIZE && counts().dropped == 1, "none is larger than all");
	for (uint64_t i = 2; i <= 40; i++)
		fill |= add(i, 100);
	/* a file takes a block at least */
	tap__ok(!fill && files() == 16, "the oldest are dropped for the new ones");
	is("16 waiting, 0 in memory, 24 dropped (3000), 0 damaged", "with their samples");
	tap__ok(is_first(25, 100), "those that are left are the newest");
	tap__ok(!add(41, 100) && is_first(25, 100) && counts().dropped == 25,
		"the one that is being sent is not given up");
	spool__later(s);
	tap__ok(!add(42, 100) && is_first(27, 100) && counts().dropped == 26,
		"while it waits again, it is");
	tap__ok(spool__open(&other, dir, KIND, ROOM, &f) == -EWOULDBLOCK, "one process has it: %s",
		f.text);
	reopen(16 << 10);
	tap__ok(counts().waiting == 4 && is_first(39, 100) && counts().dropped == 12,
		"a lower limit holds at once");
	reopen(ROOM);
	tap__ok(spool__open(&other, "/proc/nothing", KIND, ROOM, &f) < 0, "what cannot be made: %s",
		f.text);
	chmod(dir, 0777);
	tap__ok(spool__open(&other, dir, KIND, ROOM, &f) == -EPERM, "what others may write to: %s",
		f.text);
	chmod(dir, 0700);
}

/* A disk that is full, as a limit of file sizes says it; SIGXFSZ is off then. */
TEST(full)
{
	static const struct {
		uint64_t number;
		size_t size;
	} left[] = {{2, 3 << 20}, {3, 4 << 20}, {5, 100}, {6, 10}};
	struct rlimit old, none;
	int fine;

	reopen(64 * ROOM);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	none = old;
	none.rlim_cur = 1 << 20; /* more than is printed here: that may be a file, too */
	add(1, 10);
	setrlimit(RLIMIT_FSIZE, &none);
	fine = add(2, 3 << 20) | add(3, 4 << 20);
	tap__ok(!fine && files() == 1, "while the disk is full,");
	is("3 waiting, 2 in memory, 0 dropped (0), 0 damaged", "items are in memory");
	tap__ok(add(4, 3 << 20) && counts().dropped == 1 && counts().dropped_samples == 40,
		"some of them: then new ones are dropped, and counted");
	tap__ok(!add(5, 100) && files() == 2, "what has room on disk goes there");
	tap__ok(is_first(1, 10), "the order is kept");
	spool__done(s);
	tap__ok(is_first(2, 3 << 20), "also through memory");
	setrlimit(RLIMIT_FSIZE, &old);
	tap__ok(!add(6, 10) && counts().in_memory == 1 && files() == 3,
		"with room again they are written, but for the one that is being sent");
	reopen(64 * ROOM);
	tap__ok(counts().waiting == 4, "at the end all are");
	for (size_t i = 0; i < COUNT(left); i++) {
		tap__ok(is_first(left[i].number, left[i].size), "in order: %zu", i);
		spool__done(s);
	}
	tap__ok(nothing(), "and no more");
}
