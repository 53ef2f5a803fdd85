/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What files are written to, and what is left alone: links, files and folders of others. */
#define _GNU_SOURCE
#include "os/os.h"

#include "tap.h"

#define OTHER 60002u

static void holds(const char *name, const char *text)
{
	tap__write(tap__path(name), text, strlen(text));
}

static bool has(const char *name, const char *text)
{
	const char *got = tap__read(tap__path(name), NULL);

	return got && !strcmp(got, text);
}

/* os__create() of @name: a file that no child inherits, in which "new" is written. */
static int made(const char *name)
{
	int fd = os__create(tap__path(name));

	if (fd < 0)
		return fd;
	tap__bail_if(fcntl(fd, F_GETFD) != FD_CLOEXEC, "children inherit %s", name);
	tap__bail_if(os__write(fd, "new", 3) != 3, "cannot write to %s", name);
	close(fd);
	return 0;
}

static void linked(const char *to, const char *name)
{
	tap__bail_if(symlink(to, tap__path(name)), "cannot link %s", name);
}

static void belongs_to_other(const char *name)
{
	tap__bail_if(lchown(tap__path(name), OTHER, OTHER), "cannot give %s away", name);
}

static void test_own(void)
{
	char deep[300];

	tap__ok(!made("file") && has("file", "new"), "a new file");
	holds("file", "longer than that");
	tap__ok(!made("file") && has("file", "new"), "one that is there is emptied");
	linked("file", "link");
	holds("file", "old");
	tap__ok(!made("link") && has("file", "new"), "by a link of one's own");
	linked("nothing/../target", "far");
	tap__ok(made("far") == -ENOENT, "a link to what is not there");
	linked("target", "hanging");
	tap__ok(!made("hanging") && has("target", "new"), "is made where the link leads to");
	linked(tap__folder(), "around");
	tap__ok(!made("around/around/x") && has("x", "new"), "links in the path");
	linked("loop", "loop");
	tap__ok(made("loop") == -ELOOP, "a link to itself");
	tap__ok(made("file/x") == -ENOTDIR && made("") == -EISDIR && made("none/") == -EISDIR &&
			access(tap__path("none"), F_OK),
		"paths that are not files");
	memset(deep, 'x', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	tap__ok(os__create("/") == -EISDIR && os__mkdir("/") == -EEXIST, "the root directory");
	tap__ok(os__create(deep) == -ENAMETOOLONG, "a name that is too long");
	tap__ok(os__create("/dev/null") >= 0, "/dev/null");
}

static void test_new(void)
{
	int fd;

	holds("taken", "old");
	linked("nowhere", "dangling");
	linked("taken", "alias");
	tap__ok(os__create_new(tap__path("taken")) == -EEXIST &&
			os__create_new(tap__path("alias")) == -EEXIST && has("taken", "old"),
		"new: a file that is there stays as it is, by a link, too");
	tap__ok(os__create_new(tap__path("dangling")) == -EEXIST &&
			access(tap__path("nowhere"), F_OK),
		"new: nothing is made where a link leads to");
	fd = os__create_new(tap__path("not taken"));
	tap__ok(fd >= 0 && os__create_new(tap__path("not taken")) == -EEXIST,
		"new: it is made once");
}

static void test_given(void)
{
	char name[32];
	int fd;

	holds("given", "old");
	fd = open(tap__path("given"), O_WRONLY);
	if (tap__root())
		belongs_to_other("given");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	tap__ok(os__create(name) >= 0 && has("given", ""), "an open file of any owner");
}

static void test_others(void)
{
	holds("precious", "old");
	linked("precious", "planted");
	belongs_to_other("planted");
	tap__ok(made("planted") == -OS_LINK_OF_OTHERS && has("precious", "old"),
		"a link of another user is not followed: %s", os__reason(-OS_LINK_OF_OTHERS));
	linked(tap__folder(), "way");
	belongs_to_other("way");
	tap__ok(made("way/new") == -OS_LINK_OF_OTHERS &&
			os__mkdir(tap__path("way/dir")) == -OS_LINK_OF_OTHERS &&
			access(tap__path("new"), F_OK),
		"nor in the middle of a path");
	holds("theirs", "old");
	belongs_to_other("theirs");
	tap__ok(made("theirs") == -OS_FILE_OF_OTHERS && has("theirs", "old"),
		"a file of another user is left alone: %s", os__reason(-OS_FILE_OF_OTHERS));
	tap__bail_if(mkfifo(tap__path("fifo"), 0666), "no FIFO");
	belongs_to_other("fifo");
	tap__ok(made("fifo") == -OS_FILE_OF_OTHERS,
		"a FIFO of others is refused, without waiting for its reader");
	tap__ok(!os__mkdir(tap__path("dir")) && os__mkdir(tap__path("dir")) == -EEXIST,
		"a directory");
	holds("dir/file", "old");
	belongs_to_other("dir");
	tap__ok(made("dir/new") == -OS_DIRECTORY_OF_OTHERS &&
			made("dir/file") == -OS_DIRECTORY_OF_OTHERS && has("dir/file", "old") &&
			os__mkdir(tap__path("dir/dir")) == -OS_DIRECTORY_OF_OTHERS,
		"nothing in a directory of another user: %s", os__reason(-OS_DIRECTORY_OF_OTHERS));
	setenv("SUDO_UID", "60002", 1);
	tap__ok(!made("dir/new") && !made("theirs") && !made("planted"),
		"by sudo of that user: what is his");
	unsetenv("SUDO_UID");
	tap__bail_if(mkdir(tap__path("all"), 0755) || chmod(tap__path("all"), 01777),
		     "no directory");
	holds("precious", "old");
	tap__bail_if(link(tap__path("precious"), tap__path("all/hard")), "no link");
	tap__ok(made("all/hard") == -OS_FILE_HAS_NAMES && has("precious", "old"),
		"a second name of a file, where all may make one: %s",
		os__reason(-OS_FILE_HAS_NAMES));
	tap__ok(!made("all/own") && !made("all/own"), "one's own file there, twice");
}

TEST(create)
{
	umask(022);

	test_own();
	test_new();
	test_given();
	if (!tap__root())
		tap__skip("only root gives files away", "files of others");
	else
		test_others();
}
