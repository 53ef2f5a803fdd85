/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/request.h"

#include <errno.h>

#include "values/locals.h"

/* Append the string that the variable @name of the environment at @env has. */
static int request__variable(struct heap *h, uint64_t env, const char *name, struct buf *out)
{
	struct object value;
	uint64_t text;
	int err;

	if (!locals__find(h, env, name, &value) || value.type != HEAP_STRING ||
	    !heap__plain(h, &value) || value.length != 1 || !heap__word(h, &value, 0, &text))
		return -ENOENT;
	err = heap__text(h, text, out, REQUEST_MAX);
	return err == -ENOMEM ? err : err ? -ENOENT : 0;
}

int request__read(struct heap *h, uint64_t env, struct buf *out)
{
	const size_t before = out->len;
	struct object request;
	int err;

	if (!locals__find(h, env, "req", &request) || request.type != HEAP_ENVIRONMENT)
		return -ENOENT;
	err = request__variable(h, request.at, "REQUEST_METHOD", out);
	if (!err)
		err = buf__add(out, " ", 1);
	if (!err)
		err = request__variable(h, request.at, "PATH_INFO", out);
	if (err)
		out->len = before;
	else if (out->len - before > REQUEST_MAX)
		out->len = before + REQUEST_MAX;
	return err;
}
