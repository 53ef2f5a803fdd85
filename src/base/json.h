/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A writer of JSON (RFC 8259).  No other file knows its syntax.
 *
 *	struct json j;
 *
 *	json__begin(&j);
 *	json__object(&j, NULL);
 *	json__str(&j, "name", "x");
 *	json__array(&j, "counts");
 *	json__u64(&j, NULL, 1);
 *	json__close(&j);
 *	json__close(&j);
 *	err = json__print(&j, stdout);
 *
 * @key is NULL inside an array and at the top, and is given inside an object.
 *
 * A long text need not be kept: a caller that has taken what is in `text` may set its length to 0
 *between any two calls, and go on; json__end then appends what came since.
 */
#ifndef XR_BASE_JSON_H
#define XR_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

#define JSON_DEPTH_MAX 16

struct json {
	struct buf text; /* so far: a caller that has written it elsewhere sets its len to 0 */
	int err;	 /* the first misuse: -EINVAL, or -E2BIG for too deep */
	bool html;	 /* json__begin_html */
	unsigned int depth;
	bool used[JSON_DEPTH_MAX + 1];	 /* something was written at this depth */
	char closer[JSON_DEPTH_MAX + 1]; /* what ends it */
};

void json__begin(struct json *j);
/*
 * json__begin_html - as the text of a <script type="application/json"> of a page: what begins or
 * ends markup, or ends a line in scripts of old, is \uXXXX in strings, so nothing that a string
 * holds leaves the element; no spaces between values.
 */
void json__begin_html(struct json *j);
void json__object(struct json *j, const char *key);
void json__array(struct json *j, const char *key);
void json__close(struct json *j); /* the innermost object or array */
/* json__str - bytes that are not UTF-8 become U+FFFD, what acts on a terminal \uXXXX; NULL is null.
 */
void json__str(struct json *j, const char *key, const char *value);
void json__u64(struct json *j, const char *key, uint64_t value);
/* json__double - not a number and infinities, which JSON has not, become null. */
void json__double(struct json *j, const char *key, double value);
void json__bool(struct json *j, const char *key, bool value);
/*
 * json__end - and a newline; all of it is appended to @out.  0, or a negative errno for misuse or a
 * lack of memory.  json__print - the same to a stream; how writing it went, the stream has
 * (ferror).
 */
int json__end(struct json *j, struct buf *out);
int json__print(struct json *j, FILE *out);

#endif
