/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read for whom, of files that a stranger names. */
#define _GNU_SOURCE
#include "os/texts.h"

#include "tap.h"

#define OWNER 60001u
#define OTHER 60002u

static const char *folder;
static char path[256];

static const char *in(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void holds(const char *name, const char *text, size_t len, mode_t mode, uid_t owner)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	tap__bail_if(fd < 0 || write(fd, text, len) != (ssize_t)len || fchmod(fd, mode) ||
			     (!geteuid() && fchown(fd, owner, owner)),
		     "cannot write %s", path);
	close(fd);
}

struct taken {
	unsigned int n;
	uint32_t tag;
	char text[64];
	size_t len;
	int err; /* of the last that could not be read */
};

static void take(void *arg, uint32_t tag, const char *text, size_t len, int err)
{
	struct taken *t = arg;

	if (!text) {
		t->err = err;
		return;
	}
	t->n++;
	t->tag = tag;
	t->len = len;
	snprintf(t->text, sizeof(t->text), "%s", text);
}

static const struct texts_limits limits = {.each = 1000, .all = 1500, .ms = 60000};

/* Is @name read for @reader? */
static bool reads(const char *name, uint32_t reader)
{
	const struct texts_request r = {.path = in(name), .tag = 3, .reader = reader};
	struct taken t = {0};

	return !texts__read(&r, 1, &limits, take, &t) && t.n == 1 && t.tag == 3;
}

static void test_what(void)
{
	const uint32_t me = (uint32_t)geteuid();
	struct texts_request many[] = {{in("none"), 1, me, 0}, {0}, {0}, {0}, {0}};
	char big[1001], file[256], half[256];
	struct taken t = {0};

	memset(big, 'x', sizeof(big));
	holds("plain", "text\n", 5, 0600, geteuid());
	holds("zero", "te\0t", 4, 0600, geteuid());
	holds("empty", "", 0, 0600, geteuid());
	holds("big", big, 1001, 0600, geteuid());
	holds("half", big, 800, 0600, geteuid());
	holds("room", big, 1000, 0600, geteuid());
	tap__bail_if(mkfifo(in("fifo"), 0600) || symlink("plain", in("link")) ||
			     mkdir(in("sub"), 0700),
		     "cannot make %s", path);
	tap__ok(reads("plain", me), "one's own text is read");
	tap__ok(reads("link", me), "and by a link");
	tap__ok(reads("sub/../plain", me), "and on any way");
	tap__ok(reads("room", me), "one that is as long as it may be");
	tap__ok(!reads("big", me), "not one that is longer");
	tap__ok(!reads("zero", me), "not one with a zero byte");
	tap__ok(!reads("empty", me), "not an empty one");
	tap__ok(!reads("fifo", me), "not what is no file, and nobody waits for it");
	tap__ok(!reads("sub", me) && !reads("none", me) && !reads("plain/x", me),
		"not folders, nor what is not there");
	snprintf(file, sizeof(file), "%s", in("plain"));
	snprintf(half, sizeof(half), "%s", in("half"));
	many[0].path = "/nowhere/at/all";
	many[1] = (struct texts_request){half, 2, me, 0};
	many[2] = (struct texts_request){half, 2, OTHER, 0};
	many[3] = (struct texts_request){half, 3, me, 0};
	many[4] = (struct texts_request){file, 4, me, 0};
	tap__ok(!texts__read(many, 5, &limits, take, &t) && t.n == 2 && t.tag == 4 &&
			!strcmp(t.text, "text\n") && t.len == 5,
		"each text once, and as many as there is room for: %u", t.n);
	tap__ok(!texts__absolute("a/b.R") && texts__absolute("/a/b.R"), "names are absolute");
	many[0] = (struct texts_request){"plain", 1, me, 0};
	t.n = 0;
	tap__ok(!chdir(folder) && !texts__read(many, 1, &limits, take, &t) && !t.n && !chdir("/"),
		"or not read");
}

/* Is what failed to be read of @name, last changed at @time, told as @want? */
static bool refuses(const char *name, double time, int want)
{
	const struct texts_request r = {in(name), 3, (uint32_t)geteuid(), time};
	struct taken t = {0};

	return !texts__read(&r, 1, &limits, take, &t) && !t.n && t.err == want;
}

static void test_why(void)
{
	struct taken t = {0};
	struct texts_request r = {in("plain"), 3, (uint32_t)geteuid(), 0};
	const struct timespec times[] = {{1000000000, 123456789}, {1600000000, 123456789}};

	tap__bail_if(utimensat(AT_FDCWD, r.path, times, 0), "cannot change %s", r.path);
	r.time = 1600000000.123456789;
	tap__ok(!texts__read(&r, 1, &limits, take, &t) && t.n == 1, "one that was not changed");
	tap__ok(refuses("plain", 1600000000.5, -EILSEQ), "one that was");
	tap__ok(refuses("none", 0, -ENOENT), "one that is not there");
	tap__ok(refuses("big", 0, -E2BIG), "one that is too large");
	tap__ok(refuses("zero", 0, -EBADMSG), "what is not text");
	tap__ok(refuses("sub", 0, -EACCES), "what is not a file");
}

static void test_for_whom(void)
{
	if (geteuid()) {
		tap__skip("this takes root", "files of others");
		return;
	}
	tap__bail_if(chmod(folder, 0755), "cannot change %s", folder);
	holds("owned", "x", 1, 0400, OWNER);
	holds("all", "x", 1, 0444, OWNER);
	holds("group", "x", 1, 0440, OWNER);
	holds("not-group", "x", 1, 0404, OWNER);
	holds("not-owner", "x", 1, 0044, OWNER);
	holds("root", "x", 1, 0600, 0);
	tap__ok(reads("owned", OWNER), "for its owner it is read");
	tap__ok(!reads("owned", OTHER), "for another it is not");
	tap__ok(reads("all", OTHER), "what all may read is");
	tap__ok(!reads("group", OTHER), "what a group may is not");
	tap__ok(!reads("not-group", OTHER), "nor what all may but a group: he may be of it");
	tap__ok(!reads("not-owner", OWNER), "nor for an owner who may not");
	tap__ok(!reads("root", OWNER) && reads("root", 0), "root's is read for root alone");
	tap__bail_if(symlink("root", in("trap")) || lchown(in("trap"), OWNER, OWNER),
		     "cannot make %s", path);
	tap__ok(!reads("trap", OWNER), "a link to it does not help");
	tap__bail_if(mkdir(in("closed"), 0700) || chown(in("closed"), OWNER, OWNER),
		     "cannot make %s", path);
	holds("closed/all", "x", 1, 0444, OWNER);
	tap__ok(reads("closed/all", OWNER), "in a folder of his own it is read for him");
	tap__ok(!reads("closed/all", OTHER), "for others it is not, whatever it allows itself");
	tap__bail_if(chown(in("closed"), 0, 0), "cannot change %s", path);
	tap__ok(!reads("closed/all", OWNER), "nor for him where he cannot get to it");
	tap__ok(!texts__read(&(struct texts_request){"/etc/shadow", 1, OWNER, 0}, 1, &limits, take,
			     &(struct taken){0}) &&
			!reads("../../etc/shadow", OTHER),
		"/etc/shadow is read for nobody");
}

TEST(texts)
{
	folder = tap__folder();
	test_what();
	test_why();
	test_for_whom();
}
