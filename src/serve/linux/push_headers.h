/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file of HTTP headers, as of tokens: a line `Name: value` each, empty lines and those that begin
 * with # aside.  No message has a value in it.
 */
#ifndef XR_SERVE_LINUX_PUSH_HEADERS_H
#define XR_SERVE_LINUX_PUSH_HEADERS_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/errmsg.h"

#define PUSH_HEADERS_SIZE 16384u /* bytes of the file */
#define PUSH_HEADERS_MAX  64u	 /* headers in it */

/* Starts as { 0 }; freed by push_headers__free. */
struct push_headers {
	char *line[PUSH_HEADERS_MAX]; /* "Name: value" */
	size_t n;
	struct stat seen; /* of the file that they are from */
};

/*
 * push_headers__parse - the @len bytes at @text, which are of @path.  -EINVAL, @f filled: a line is
 * not a header; -ENOMEM.  @h is empty then.
 */
int push_headers__parse(struct push_headers *h, const char *path, const char *text, size_t len,
			struct errmsg *f);

/*
 * push_headers__read - the file @path, if it is another one or changed since @h was read from it.
 * 1: it was read; 0: it is as it was; negative errno, @f filled: @h is as it was.  -EPERM: it is
 * open to others.
 */
int push_headers__read(struct push_headers *h, const char *path, struct errmsg *f);

void push_headers__free(struct push_headers *h);

#endif
