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

static struct spool *opened(uint64_t max)
{
	struct errmsg f = {""};
	struct spool *s = NULL;

	tap__bail_if(spool__open(&s, dir, KIND, max, &f) < 0, "the spool: %s", f.text);
	return s;
}

static int add(struct spool *s, uint64_t number, size_t size)
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
static bool is_first(struct spool *s, uint64_t number, size_t size)
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

static struct spool_counts counts(const struct spool *s)
{
	struct spool_counts c;

	spool__counts(s, &c);
	return c;
}

static bool nothing(struct spool *s)
{
	struct spool_item item;

	return spool__first(s, &item) == 0;
}

BEFORE()
{
	system_calls__before = refuse_item;
	dir = tap__folder();
}

TEST(order)
{
	struct spool *s = opened(ROOM);
	struct spool_counts c;
	struct stat st;
	int n;

	tap__ok(nothing(s), "a new one is empty");
	tap__ok(!add(s, 3, 100) && !add(s, 1, 0) && !add(s, 2, 5000), "three are added");
	c = counts(s);
	tap__ok(c.waiting == 3 && c.wait_size > 5100 && !c.in_memory && !c.dropped, "and wait");
	n = files();
	tap__ok(n == 3 && !stat(path, &st) && (st.st_mode & 07777) == 0600,
		"a file each, of the owner");
	tap__ok(is_first(s, 3, 100), "the one added first is the first, whatever the clock said");
	tap__ok(is_first(s, 3, 100), "it stays the first");
	spool__done(s);
	tap__ok(files() == 2 && is_first(s, 1, 0),
		"when it was sent, the next one is; it has no body");
	spool__drop(s);
	c = counts(s);
	tap__ok(c.waiting == 1 && c.dropped == 1 && c.dropped_samples == 10,
		"one given up is counted");
	spool__close(s);

	s = opened(ROOM);
	tap__ok(counts(s).waiting == 1 && is_first(s, 2, 5000), "the rest is there again");
	add(s, 4, 10);
	spool__done(s);
	tap__ok(is_first(s, 4, 10), "and before what comes");
	spool__done(s);
	spool__done(s);
	tap__ok(nothing(s) && !files() && !counts(s).wait_size, "all was sent: nothing is left");
	spool__close(s);
}

/* A process is killed while it adds: what it said was accepted is there. */
TEST(killed)
{
	int pipes[2], status;
	uint64_t accepted = 0, n;
	struct spool *s;
	bool all = true;
	pid_t pid;

	tap__bail_if(pipe(pipes) < 0, "pipe");
	pid = fork();
	if (!pid) {
		s = opened(64 * ROOM);
		for (n = 1;; n++)
			if (add(s, n, 3000) || write(pipes[1], &n, sizeof(n)) != sizeof(n))
				_exit(1);
	}
	close(pipes[1]);
	while (accepted < 20 && read(pipes[0], &n, sizeof(n)) == sizeof(n))
		accepted = n;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	while (read(pipes[0], &n, sizeof(n)) == sizeof(n))
		accepted = n;
	close(pipes[0]);
	close(open(in("new.tmp"), O_CREAT | O_WRONLY, 0600)); /* what such an end can leave */
	s = opened(64 * ROOM);
	n = counts(s).waiting;
	tap__ok(accepted >= 20 && (n == accepted || n == accepted + 1),
		"killed while it adds: what was accepted is there");
	tap__ok(access(in("new.tmp"), F_OK) < 0, "what was half written is not");
	for (uint64_t i = 1; i <= n && all; i++) {
		all = is_first(s, i, 3000);
		spool__done(s);
	}
	tap__ok(all && nothing(s) && !counts(s).dropped, "in order, once, whole");
	spool__close(s);
}

static void damage(const char *how, int at, size_t cut)
{
	struct spool *s = opened(ROOM);
	struct stat st;
	char byte = 0;
	int fd;

	add(s, 1, 100);
	spool__close(s);
	files();
	fd = open(path, O_RDWR);
	tap__bail_if(fd < 0 || fstat(fd, &st) < 0, "%s", path);
	if (at >= 0) {
		tap__bail_if(pread(fd, &byte, 1, at) != 1, "%s", path);
		byte = (char)~byte;
		if (pwrite(fd, &byte, 1, at) != 1)
			tap__bail("%s", path);
	} else if (ftruncate(fd, st.st_size - (off_t)cut) < 0) {
		tap__bail("%s", path);
	}
	close(fd);
	s = opened(ROOM);
	add(s, 2, 10);
	tap__ok(is_first(s, 2, 10) && counts(s).damaged == 1 && counts(s).dropped == 1,
		"a file that is damaged (%s) is passed over and counted", how);
	spool__done(s);
	tap__ok(!files(), "and removed");
	spool__close(s);
}

TEST(damage)
{
	static const struct {
		const char *how;
		int at;
		size_t cut;
	} all[] = {
		{"magic", 0, 0},
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
		{"empty", -1, 153},
	};
	struct spool_item item;
	struct spool *s;

	for (size_t i = 0; i < COUNT(all); i++)
		damage(all[i].how, all[i].at, all[i].cut);

	tap__bail_if(symlink("/etc/passwd", in("0000000000000001.item")) < 0 ||
			     mkfifo(in("0000000000000002.item"), 0600) < 0 ||
			     mkdir(in("0000000000000003.item"), 0700) < 0,
		     "%s", path);
	close(open(in("ffffffffffffffff.item"), O_CREAT | O_WRONLY, 0600));
	close(open(in("notes.txt"), O_CREAT | O_WRONLY, 0600));
	s = opened(ROOM);
	tap__ok(nothing(s) && counts(s).damaged == 4 && !add(s, 7, 10) && is_first(s, 7, 10),
		"links, pipes, directories and impossible numbers are none");
	spool__done(s);
	spool__close(s);
	tap__ok(!access(in("notes.txt"), F_OK), "what has another name is left alone");
	rmdir(in("0000000000000003.item"));
	empty();

	s = opened(ROOM);
	add(s, 1, 10);
	add(s, 2, 10);
	files();
	tap__bail_if(spool__first(s, &item) != 1, "the first");
	spool__done(s);
	unlink(path);
	tap__ok(nothing(s) && counts(s).dropped == 1, "one that others removed is counted as lost");
	spool__close(s);
}

/* What may be good is not removed since it cannot be opened now. */
TEST(refused)
{
	static const int all[] = {EACCES, EMFILE, EIO, ENOMEM};
	struct spool *s = opened(ROOM), *none = NULL;
	struct spool_item item;
	struct errmsg f = {""};
	unsigned int tries = 0;
	int err;

	add(s, 1, 10);
	add(s, 2, 10);
	spool__close(s);
	for (size_t i = 0; i < COUNT(all); i++) {
		refuse = all[i];
		err = spool__open(&none, dir, KIND, ROOM, &f);
		refuse = 0;
		tap__ok(err == -all[i] && files() == 2, "at the start: %s", f.text);
	}
	s = opened(ROOM);
	refuse = EMFILE;
	for (int i = 0; i < 100; i++)
		err = spool__first(s, &item);
	tap__ok(err == -EMFILE && counts(s).waiting == 2, "for want of descriptors it waits");
	refuse = EIO;
	while ((err = spool__first(s, &item)) == -EIO && counts(s).waiting == 2 && tries < 100)
		tries++;
	refuse = 0;
	tap__ok(counts(s).waiting == 1 && counts(s).damaged == 1 && counts(s).dropped == 1 &&
			tries == SPOOL_TRIES - 1,
		"after %u tries one that cannot be read is given up, and counted", tries + 1);
	tap__ok(is_first(s, 2, 10), "and the next one is the first");
	spool__done(s);
	spool__close(s);
}

TEST(limits)
{
	struct spool *s = opened(64 << 10);
	struct spool_counts c;
	struct errmsg f;
	struct spool *other;
	int fill = 0;

	tap__ok(add(s, 1, 70000) == -EMSGSIZE && counts(s).dropped == 1, "none is larger than all");
	for (uint64_t i = 2; i <= 40; i++)
		fill |= add(s, i, 100);
	c = counts(s);
	/* a file takes a block at least */
	tap__ok(!fill && c.waiting == 16 && c.dropped == 24 && files() == 16,
		"the oldest are given up for the new ones");
	tap__ok(c.dropped_samples == 10 * (1 + 23 * (2 + 24) / 2), "with their samples");
	tap__ok(is_first(s, 25, 100), "those that are left are the newest");
	tap__ok(!add(s, 41, 100) && is_first(s, 25, 100) && counts(s).dropped == 25,
		"the one that is being sent is not given up");
	spool__later(s);
	tap__ok(!add(s, 42, 100) && is_first(s, 27, 100) && counts(s).dropped == 26,
		"while it waits again, it is");
	tap__ok(spool__open(&other, dir, KIND, ROOM, &f) == -EWOULDBLOCK, "one process has it: %s",
		f.text);
	spool__close(s);
	s = opened(16 << 10);
	tap__ok(counts(s).waiting == 4 && is_first(s, 39, 100) && counts(s).dropped == 12,
		"a lower limit holds at once");
	spool__close(s);
	s = opened(ROOM);
	tap__ok(spool__open(&other, "/proc/nothing", KIND, ROOM, &f) < 0, "what cannot be made: %s",
		f.text);
	spool__close(s);
	chmod(dir, 0777);
	tap__ok(spool__open(&other, dir, KIND, ROOM, &f) == -EPERM, "what others may write to: %s",
		f.text);
	chmod(dir, 0700);
	empty();
}

/* A disk that is full, as a limit of file sizes says it; SIGXFSZ is off then. */
TEST(full)
{
	struct spool *s = opened(64 * ROOM);
	struct rlimit old, none;
	struct spool_counts c;
	int fine;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	none = old;
	none.rlim_cur = 1 << 20; /* more than is printed here: that may be a file, too */
	add(s, 1, 10);
	setrlimit(RLIMIT_FSIZE, &none);
	fine = add(s, 2, 3 << 20) | add(s, 3, 4 << 20);
	c = counts(s);
	tap__ok(!fine && c.in_memory == 2 && c.waiting == 3 && files() == 1,
		"while the disk is full, items are in memory");
	tap__ok(add(s, 4, 3 << 20) && counts(s).dropped == 1 && counts(s).dropped_samples == 40,
		"some of them: then new ones are dropped, and counted");
	tap__ok(!add(s, 5, 100) && files() == 2, "what has room on disk goes there");
	tap__ok(is_first(s, 1, 10), "the order is kept");
	spool__done(s);
	tap__ok(is_first(s, 2, 3 << 20), "also through memory");
	setrlimit(RLIMIT_FSIZE, &old);
	tap__ok(!add(s, 6, 10) && counts(s).in_memory == 1 && files() == 3,
		"with room again they are written, but for the one that is being sent");
	spool__close(s);
	s = opened(64 * ROOM);
	tap__ok(counts(s).waiting == 4 && is_first(s, 2, 3 << 20), "at the end all are");
	spool__done(s);
	fine = is_first(s, 3, 4 << 20);
	spool__done(s);
	fine &= is_first(s, 5, 100);
	spool__done(s);
	fine &= is_first(s, 6, 10);
	spool__done(s);
	tap__ok(fine && nothing(s), "in order");
	spool__close(s);
}
