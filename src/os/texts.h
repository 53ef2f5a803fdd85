/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading files whose names a stranger chose, for people to look at: those that hold the source of
 * what was profiled.  Nobody's file is read for somebody who could not read it himself:
 *
 * - the caller's rights count, as in all that this program does (rights.h);
 * - and so do those of the user whose process named the file (@reader): each directory on the way
 *   lets him through, and the file lets him read.  Groups are not looked at: what a user may read
 *   as a member of a group alone is not read for him.
 *
 * On Windows the caller's rights decide alone.
 *
 * Only regular files, and only text: a file with a zero byte is none.
 */
#ifndef XR_OS_TEXTS_H
#define XR_OS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct texts_request {
	const char *path; /* absolute */
	uint32_t tag;	  /* equal for requests for the same text, one after another */
	uint32_t reader;  /* the number of the user whose process named it */
	double time;	  /* seconds since 1970: when it must have been changed last; 0: any time */
};

struct texts_limits {
	size_t each, all; /* bytes */
	int ms;		  /* for all: a file system may never answer */
};

/*
 * Is given a text, once for each tag at most; it is terminated, and borrowed.  NULL: a request for
 * it failed by @err: -EILSEQ it was changed since; -E2BIG; -EBADMSG it is not text; -ENOENT;
 * -EACCES; ...
 */
typedef void (*texts_got)(void *arg, uint32_t tag, const char *text, size_t len, int err);

/* texts__absolute - is @path one that means the same wherever it is looked for, and on this
 * machine? */
bool texts__absolute(const char *path);

/*
 * texts__read - what can be read of @n files.  On Linux a process apart does it, which is given up
 * when it takes longer than it may.  0, or a negative errno when nothing could be read at all.
 */
int texts__read(const struct texts_request *requests, size_t n, const struct texts_limits *limits,
		texts_got got, void *arg);

#endif
