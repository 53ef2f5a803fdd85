/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/linux/worker.h"
#include "os/os.h"
#include "os/rights.h"

#define END_MS 50 /* for the other process, once it was killed */

/* What the other process sends before a text. */
struct text_head {
	uint32_t tag;
	uint32_t len;
	int32_t err; /* no text comes */
};

bool texts__absolute(const char *path)
{
	return path[0] == '/';
}

/* --- in the process apart --- */

/* @what: S_IXOTH to go through a directory, S_IROTH to read. */
static bool request__may(const struct texts_request *r, const struct stat *st, mode_t what)
{
	/* the kernel was asked for the caller already */
	if (!r->reader || r->reader == geteuid())
		return true;
	if (st->st_uid == r->reader)
		return st->st_mode & what << 6;
	return st->st_mode & what && st->st_mode & what << 3;
}

/*
 * Go down @path, which has no links in it, and open what it leads to, O_PATH.  A link that has come
 * since then, or anything that the reader may not, ends it.
 */
static int text__find(const struct texts_request *r, char *path, struct stat *st)
{
	int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char *rest, *name = strtok_r(path, "/", &rest);
	bool ok = dir >= 0 && name && !fstat(dir, st);

	while (ok && name) {
		ok = S_ISDIR(st->st_mode) && request__may(r, st, S_IXOTH);
		next = ok ? openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
		ok = next >= 0 && !fstat(next, st);
		close(dir);
		dir = next;
		name = strtok_r(NULL, "/", &rest);
	}
	if (ok && S_ISREG(st->st_mode) && request__may(r, st, S_IROTH))
		return dir;
	if (dir >= 0)
		close(dir);
	return -EACCES;
}

static int text__open(const struct texts_request *r, struct stat *st)
{
	char path[PATH_MAX], link[32];
	int found, fd;

	if (!texts__absolute(r->path))
		return -ENOENT;
	if (!realpath(r->path, path))
		return -errno;
	found = text__find(r, path, st);
	if (found < 0)
		return found;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	close(found);
	return fd;
}

/* Was it changed when the request says?  R has the time as file.mtime() computes it (platform.c).
 */
static bool text__is_of(const struct texts_request *r, const struct stat *st)
{
	double time = (double)st->st_mtim.tv_sec + 1e-9 * (double)st->st_mtim.tv_nsec;

	return r->time == 0 || (time - r->time < 1e-6 && r->time - time < 1e-6);
}

/* The bytes of a text in @to, which has room for @max; or a negative errno. */
static ssize_t text__slurp(const struct texts_request *r, char *to, size_t max)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	struct stat st, after;
	size_t len = 0;
	ssize_t n = 1;
	int fd = text__open(r, &st);

	rights__lower(raised);
	if (fd < 0)
		return fd;
	if (!text__is_of(r, &st)) {
		close(fd);
		return -EILSEQ;
	}
	if ((uintmax_t)st.st_size > max) {
		close(fd);
		return -E2BIG;
	}
	while (len < (size_t)st.st_size && n > 0) {
		n = read(fd, to + len, (size_t)st.st_size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	n = n < 0 ? -errno : 0;
	if (!n && (fstat(fd, &after) || !text__is_of(r, &after)))
		n = -EILSEQ;
	close(fd);
	if (!n && (!len || memchr(to, '\0', len)))
		n = -EBADMSG;
	return n ? n : (ssize_t)len;
}

static bool text__send(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

__attribute__((noreturn)) static void texts__serve(int fd, const struct texts_request *requests,
						   size_t n, const struct texts_limits *limits)
{
	size_t left = limits->all;
	char *text = malloc(limits->each);
	struct text_head head = {.tag = UINT32_MAX};
	ssize_t len;

	for (size_t i = 0; i < n && text; i++) {
		if (head.len && head.tag == requests[i].tag)
			continue;
		len = text__slurp(&requests[i], text, limits->each < left ? limits->each : left);
		head = (struct text_head){
			.tag = requests[i].tag,
			.len = len > 0 ? (uint32_t)len : 0,
			.err = len < 0 ? (int32_t)len : 0,
		};
		left -= head.len;
		if (!text__send(fd, &head, sizeof(head)) || !text__send(fd, text, head.len))
			break;
	}
	_exit(0);
}

/* --- here --- */

/* Fill in @len bytes.  False: there are no more, or it takes too long. */
static bool text__receive(int fd, void *to, size_t len, uint64_t end)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	char *at = to;

	while (len) {
		uint64_t now = os__now();
		ssize_t n;

		if (now >= end || poll(&wait, 1, (int)((end - now) / NS_PER_MS) + 1) < 0)
			return false;
		n = recv(fd, at, len, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static void texts__take(int fd, const struct texts_limits *limits, char *text, texts_got got,
			void *arg)
{
	uint64_t end = os__now() + (uint64_t)limits->ms * NS_PER_MS;
	struct text_head head;

	while (text__receive(fd, &head, sizeof(head), end) && head.len <= limits->each &&
	       text__receive(fd, text, head.len, end)) {
		text[head.len] = '\0';
		got(arg, head.tag, head.err ? NULL : text, head.len, head.err);
	}
}

/* One that hangs where nobody can end it is left to whoever adopts it. */
static void child__end(pid_t pid)
{
	uint64_t end = os__now() + END_MS * NS_PER_MS;

	kill(pid, SIGKILL);
	while (!waitpid(pid, NULL, WNOHANG) && os__now() < end)
		poll(NULL, 0, 1);
}

int texts__read(const struct texts_request *requests, size_t n, const struct texts_limits *limits,
		texts_got got, void *arg)
{
	char *text = malloc(limits->each + 1);
	pid_t pid, parent = getpid();
	int ends[2], err = 0;

	if (!n || !text) {
		free(text);
		return n ? -ENOMEM : 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		free(text);
		return err;
	}
	pid = fork();
	if (!pid)
		texts__serve(worker__become(ends[1], parent), requests, n, limits);
	err = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!err) {
		texts__take(ends[0], limits, text, got, arg);
		child__end(pid);
	}
	close(ends[0]);
	free(text);
	return err;
}
