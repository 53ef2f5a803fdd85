/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads source files whose names the target chose.  A file is read only if two users may read it:
 *
 * - the caller, as in all that this program does (rights.h);
 * - the user whose process named the file (@reader), who may pass each directory on the way and
 *   read the file.  Groups do not count: a file that this user may read only as the member of a
 *   group is not read.
 *
 * On Windows the caller's rights decide alone.
 *
 * It reads regular files only, and only text: a file with a zero byte is not text.
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
 * Gets a text, once for each tag at most; it is terminated, and borrowed.  NULL: a request for it
 * failed with @err: -EILSEQ it was changed since; -E2BIG; -EBADMSG it is not text; -ENOENT;
 * -EACCES; ...
 */
typedef void (*texts_got)(void *arg, uint32_t tag, const char *text, size_t len, int err);

/* texts__absolute - is @path absolute, and on this machine? */
bool texts__absolute(const char *path);

/*
 * texts__read - read @n files.  On Linux a helper process reads them, which is killed when the time
 * is over.  0, or a negative errno if nothing could be read.
 */
int texts__read(const struct texts_request *requests, size_t n, const struct texts_limits *limits,
		texts_got got, void *arg);

#endif
