/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a profile goes: a file, a pipe or stdout, written in whole lines only.
 */
#ifndef XR_OUTPUT_OUTPUT_H
#define XR_OUTPUT_OUTPUT_H

#include <stddef.h>

#include "base/errmsg.h"

struct output;

/* output__open - @path "-" is stdout.  A new file is made or an old one truncated. */
int output__open(struct output **out, const char *path, struct errmsg *f);

/*
 * output__write - add @len bytes to the line or lines being made.  Nothing reaches the file before
 * output__end_line; so what is in the file is always a number of whole lines.
 */
int output__write(struct output *o, const char *data, size_t len);
int output__printf(struct output *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* output__end_line - add a newline; the line is now whole. */
int output__end_line(struct output *o);

/*
 * output__flush - hand all whole lines to the kernel.  When the disk is full (ENOSPC) or the write
 * was cut short, a regular file is truncated back to its last whole line.  -EPIPE: the reader
 * went away.  After a failure the output takes nothing more and every call returns the same error.
 */
int output__flush(struct output *o);

/* output__close - flush, close and free.  NULL is allowed.  Returns the first error there was. */
int output__close(struct output *o);

#endif
