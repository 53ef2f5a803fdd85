/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/linux/helper.h"
#include "os/os.h"
#include "os/rights.h"

#define PART 32768u /* bytes of a text in one message */

/* What the helper sends before a text. */
struct text_head {
	uint32_t tag;
	uint32_t len;
	int32_t err; /* no text comes */
};

bool texts__absolute(const char *path)
{
	return path[0] == '/';
}

/* --- in the helper --- */

/* @what: S_IXOTH to go through a directory, S_IROTH to read. */
static bool request__may(const struct texts_request *r, const struct stat *st, mode_t what)
{
	/* the kernel has checked the caller */
	if (!r->reader || r->reader == geteuid())
		return true;
	if (st->st_uid == r->reader)
		return st->st_mode & what << 6;
	return st->st_mode & what && st->st_mode & what << 3;
}

/*
 * Open @path, which has no links in it, directory by directory with O_PATH.  This fails at a link
 * that was made since, and at anything that the reader may not pass.
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

/* Is its time of change the one of the request?  R has the time as file.mtime() computes it
 * (platform.c).
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

struct texts_job {
	const struct texts_request *requests;
	size_t n;
	const struct texts_limits *limits;
};

static void texts__run(int fd, const void *arg)
{
	const struct texts_job *job = arg;
	size_t left = job->limits->all, each = job->limits->each;
	char *text = malloc(each);
	struct text_head head = {.tag = UINT32_MAX};
	ssize_t len;
	int err = 0;

	for (size_t i = 0; i < job->n && text && !err; i++) {
		if (head.len && head.tag == job->requests[i].tag)
			continue;
		len = text__slurp(&job->requests[i], text, each < left ? each : left);
		head = (struct text_head){
			.tag = job->requests[i].tag,
			.len = len > 0 ? (uint32_t)len : 0,
			.err = len < 0 ? (int32_t)len : 0,
		};
		left -= head.len;
		err = helper__send(fd, &head, sizeof(head), -1, 0);
		for (size_t at = 0, part; at < head.len && !err; at += part) {
			part = head.len - at < PART ? head.len - at : PART;
			err = helper__send(fd, text + at, part, -1, 0);
		}
	}
	free(text);
}

/* --- here --- */

/* The next message.  Its length; 0: there is none, or it takes too long. */
static size_t text__receive(int fd, void *to, size_t size, uint64_t end)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	ssize_t n = 0;
	uint64_t now;
	int ready;

	do { /* a signal does not end it: after that which ended the profile a timer rings */
		now = os__now();
		ready = now < end ? poll(&wait, 1, (int)((end - now) / NS_PER_MS) + 1) : 0;
	} while (ready < 0 && errno == EINTR);
	if (ready > 0)
		n = helper__receive(fd, to, size, NULL, MSG_DONTWAIT);
	return n > 0 ? (size_t)n : 0;
}

static void texts__take(int fd, const struct texts_limits *limits, char *text, texts_got got,
			void *arg)
{
	uint64_t end = os__now() + (uint64_t)limits->ms * NS_PER_MS;
	struct text_head head;

	while (text__receive(fd, &head, sizeof(head), end) == sizeof(head) &&
	       head.len <= limits->each) {
		size_t at = 0, n;

		while (at < head.len && (n = text__receive(fd, text + at, head.len - at, end)))
			at += n;
		if (at < head.len)
			return;
		text[head.len] = '\0';
		got(arg, head.tag, head.err ? NULL : text, head.len, head.err);
	}
}

int texts__read(const struct texts_request *requests, size_t n, const struct texts_limits *limits,
		texts_got got, void *arg)
{
	static const struct helper_job job = {
		.name = "xrprof-texts",
		.flags = HELPER_LIMITED,
		.rights = RIGHTS_TARGET,
		.run = texts__run,
	};
	const struct texts_job texts = {requests, n, limits};
	char *text = malloc(limits->each + 1);
	struct helper helper = HELPER_NONE;
	int err = text || !n ? 0 : -ENOMEM;

	if (n && !err)
		err = helper__start(&helper, &job, &texts);
	if (n && !err)
		texts__take(helper.fd, limits, text, got, arg);
	helper__end(&helper, 0);
	free(text);
	return err;
}
