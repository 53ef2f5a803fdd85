/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read for whom, of files that a stranger names. */
#define _GNU_SOURCE
#include "os/texts.h"

#include <sys/time.h>

#include "tap.h"

#define OWNER 60001u
#define OTHER 60002u

static void holds(const char *name, const char *text, size_t len, mode_t mode, uid_t owner)
{
	const char *path = tap__path(name);

	tap__write(path, text, len);
	tap__bail_if(chmod(path, mode) || (tap__root() && chown(path, owner, owner)),
		     "cannot write %s", path);
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

/* What comes of reading @name for @reader: 0, or why not; -EIO: something else. */
static int read_of(const char *name, uint32_t reader, double time)
{
	const struct texts_request r = {tap__path(name), 3, reader, time};
	struct taken t = {0};

	if (texts__read(&r, 1, &limits, take, &t) || t.n > 1 || (t.n && t.tag != 3))
		return -EIO;
	return t.n ? 0 : t.err;
}

static bool reads(const char *name, uint32_t reader)
{
	return !read_of(name, reader, 0);
}

static void test_what(void)
{
	const uint32_t me = (uint32_t)geteuid();
	struct texts_request many[] = {{"/nowhere/at/all", 1, me, 0},
				       {tap__path("half"), 2, me, 0},
				       {tap__path("half"), 2, OTHER, 0},
				       {tap__path("half"), 3, me, 0},
				       {tap__path("plain"), 4, me, 0}};
	struct taken t = {0};
	char big[1001];

	memset(big, 'x', sizeof(big));
	holds("plain", "text\n", 5, 0600, me);
	holds("zero", "te\0t", 4, 0600, me);
	holds("empty", "", 0, 0600, me);
	holds("big", big, 1001, 0600, me);
	holds("room", big, 1000, 0600, me);
	holds("half", big, 800, 0600, me);
	tap__ok(!texts__read(many, 5, &limits, take, &t) && t.n == 2 && t.tag == 4 &&
			!strcmp(t.text, "text\n") && t.len == 5,
		"each text once, and as many as there is room for: %u", t.n);
	tap__bail_if(mkfifo(tap__path("fifo"), 0600) || symlink("plain", tap__path("link")) ||
			     mkdir(tap__path("sub"), 0700),
		     "cannot make a FIFO, a link and a folder");
	many[0] = (struct texts_request){"plain", 1, me, 0};
	t.n = 0;
	tap__ok(!chdir(tap__folder()) && !texts__read(many, 1, &limits, take, &t) && !t.n &&
			!chdir("/"),
		"names are absolute, or not read");
}

static void test_why(void)
{
	static const struct {
		const char *name;
		double time;
		int want;
		const char *what;
	} rows[] = {
		{"plain", 1600000000.123456789, 0, "one that was not changed"},
		{"plain", 1600000000.5, -EILSEQ, "one that was"},
		{"link", 0, 0, "by a link"},
		{"sub/../plain", 0, 0, "on any way"},
		{"none", 0, -ENOENT, "one that is not there"},
		{"plain/x", 0, -ENOTDIR, "one below a file"},
		{"room", 0, 0, "one that is as long as it may be"},
		{"big", 0, -E2BIG, "one that is too large"},
		{"empty", 0, -EBADMSG, "an empty one"},
		{"zero", 0, -EBADMSG, "what is not text"},
		{"fifo", 0, -EACCES, "a FIFO, for which the reader does not wait"},
		{"sub", 0, -EACCES, "what is not a file"},
	};
	const struct timespec times[] = {{1000000000, 123456789}, {1600000000, 123456789}};

	tap__bail_if(utimensat(AT_FDCWD, tap__path("plain"), times, 0), "cannot change a file");
	for (size_t i = 0; i < COUNT(rows); i++)
		tap__ok(read_of(rows[i].name, (uint32_t)geteuid(), rows[i].time) == rows[i].want,
			"%s", rows[i].what);
}

static void test_for_whom(void)
{
	static const struct {
		const char *name;
		mode_t mode;
		uid_t owner;
		uint32_t reader;
		bool read;
		const char *what;
	} rows[] = {
		{"owned", 0400, OWNER, OWNER, true, "for its owner it is read"},
		{"owned", 0400, OWNER, OTHER, false, "for another it is not"},
		{"all", 0444, OWNER, OTHER, true, "what all may read is"},
		{"group", 0440, OWNER, OTHER, false, "what a group may is not"},
		{"but-group", 0404, OWNER, OTHER, false,
		 "nor what all may but a group: he may be of it"},
		{"but-owner", 0044, OWNER, OWNER, false, "nor for an owner who may not"},
		{"root", 0600, 0, OWNER, false, "root's is not read for others"},
		{"root", 0600, 0, 0, true, "except root"},
	};
	const char *closed, *trap;

	if (!tap__root()) {
		tap__skip("this takes root", "files of others");
		return;
	}
	tap__bail_if(chmod(tap__folder(), 0755), "cannot open the folder to all");
	for (size_t i = 0; i < COUNT(rows); i++) {
		holds(rows[i].name, "x", 1, rows[i].mode, rows[i].owner);
		tap__ok(reads(rows[i].name, rows[i].reader) == rows[i].read, "%s", rows[i].what);
	}
	closed = tap__path("closed");
	trap = tap__path("trap");
	tap__bail_if(symlink("root", trap) || lchown(trap, OWNER, OWNER) || mkdir(closed, 0700) ||
			     chown(closed, OWNER, OWNER),
		     "cannot make a link and a folder");
	tap__ok(!reads("trap", OWNER), "a link to it does not help");
	holds("closed/all", "x", 1, 0444, OWNER);
	tap__ok(reads("closed/all", OWNER), "in a folder of this user it is read for this user");
	tap__ok(!reads("closed/all", OTHER), "for others it is not, whatever it allows itself");
	tap__bail_if(chown(tap__path("closed"), 0, 0), "cannot change a folder");
	tap__ok(!reads("closed/all", OWNER), "nor for this user if the folder is closed");
	tap__ok(!reads("../../etc/shadow", OWNER) && !reads("../../etc/shadow", OTHER),
		"/etc/shadow is not read for any user");
}

TEST(texts)
{
	test_what();
	test_why();
	test_for_whom();
}

static void on_alarm(int signal)
{
}

/* Signals that come meanwhile, as that of the timer of signals.c. */
TEST(interrupted)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	const struct texts_request r = {tap__path("plain"), 3, (uint32_t)geteuid(), 0};
	struct taken t = {0};

	holds("plain", "text\n", 5, 0600, (uid_t)geteuid());
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 50; i++)
		texts__read(&r, 1, &limits, take, &t);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	tap__ok(t.n == 50, "a signal does not end it: %u of 50", t.n);
}
