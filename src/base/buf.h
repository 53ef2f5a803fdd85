/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing run of bytes.  Starts as { 0 }; freed by buf__free.
 */
#ifndef XR_BASE_BUF_H
#define XR_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data; /* not terminated; NULL when nothing was ever added */
	size_t len, cap;
};

/* buf__add - append @len bytes.  -ENOMEM: @b is as it was. */
int buf__add(struct buf *b, const void *data, size_t len);

/* buf__str - append a string, without its terminator. */
int buf__str(struct buf *b, const char *s);

/* buf__printf, buf__vprintf - append what printf makes of @fmt. */
int buf__printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf__vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

void buf__free(struct buf *b);

#endif
