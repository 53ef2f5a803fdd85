/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Make room for @more bytes. */
static int buf__room(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 256;
	char *data;

	if (more > SIZE_MAX / 2 - b->len)
		return -ENOMEM;
	while (cap < b->len + more)
		cap *= 2;
	if (cap == b->cap)
		return 0;
	data = realloc(b->data, cap);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

int buf__add(struct buf *b, const void *data, size_t len)
{
	int err;

	if (!len)
		return 0;
	err = buf__room(b, len);
	if (err)
		return err;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

int buf__str(struct buf *b, const char *s)
{
	return buf__add(b, s, strlen(s));
}

int buf__vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len, err;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	err = len < 0 ? -EINVAL : buf__room(b, (size_t)len + 1);
	if (!err) {
		vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
		b->len += (size_t)len;
	}
	va_end(again);
	return err;
}

int buf__printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = buf__vprintf(b, fmt, ap);
	va_end(ap);
	return err;
}

void buf__free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
