/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may ask: a token in a file, and what a request says.
 */
#ifndef XR_SERVE_LINUX_TOKEN_H
#define XR_SERVE_LINUX_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errmsg.h"

#define TOKEN_MIN 16u
#define TOKEN_MAX 512u

struct token {
	char text[TOKEN_MAX + 1];
	size_t len; /* 0: none, and all may ask */
};

/*
 * token__parse - the first line of the @len bytes at @data; @path is for messages.  It has
 * TOKEN_MIN to TOKEN_MAX of the characters that RFC 6750 allows.  -EINVAL, @f filled.
 */
int token__parse(struct token *t, const char *data, size_t len, const char *path, struct errmsg *f);

/*
 * token__read - from a file that others cannot read nor change: it belongs to root or to the user
 * who runs this, its group may read it, and no other user may.  Negative errno, @f filled.
 */
int token__read(struct token *t, const char *path, struct errmsg *f);

/*
 * token__fits - does the value of a header `Authorization` (NULL: there is none) have the token?
 * How long it takes does not depend on how much of it is right.
 */
bool token__fits(const struct token *t, const char *authorization);

#endif
