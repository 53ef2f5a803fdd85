/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a profile goes: a file, a pipe or stdout, written in whole pieces only.
 */
#ifndef XR_OUTPUT_OUTPUT_H
#define XR_OUTPUT_OUTPUT_H

#include <stddef.h>

#include "base/errmsg.h"

struct output;

/* output__open - @path "-" is stdout.  A new file is made or an old one truncated. */
int output__open(struct output **out, const char *path, struct errmsg *f);

/*
 * output__write - add @len bytes, any bytes.  Nothing of them reaches the file before
 * output__commit; so the file always ends where a commit did.
 */
int output__write(struct output *o, const char *data, size_t len);
int output__printf(struct output *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * output__commit - what was written so far may go: a file that ends here is a good one.  Writers of
 * lines call it after each, others once at the end.
 */
int output__commit(struct output *o);

/*
 * output__flush - hand all that was committed to the kernel.  When the disk is full (ENOSPC) or the
 * write was cut short, a regular file is truncated back to the last commit that went out whole.
 * -EPIPE: the reader went away.  After a failure the output takes nothing more and every call
 * returns the same error.
 */
int output__flush(struct output *o);

/* output__close - flush, close and free; what was not committed is lost.  NULL is allowed.  Returns
 * the first error there was. */
int output__close(struct output *o);

#endif
