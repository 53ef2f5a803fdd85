/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A gzip stream (RFC 1952) into an output, made while it comes.
 */
#ifndef XR_OUTPUT_GZIP_H
#define XR_OUTPUT_GZIP_H

#include <zlib.h>

#include "output/output.h"

/* After gzip__begin: gzip__end, in any case. */
struct gzip {
	struct output *out; /* borrowed */
	int err;	    /* the first there was */
	z_stream z;
};

/* gzip__begin - the same bytes make the same file: it has no name and no time in it.  -ENOMEM. */
int gzip__begin(struct gzip *g, struct output *out);

/* gzip__add - @len bytes.  0, or the first error there was. */
int gzip__add(struct gzip *g, const void *data, size_t len);

/* gzip__end - complete it, unless something failed, and free.  The first error there was. */
int gzip__end(struct gzip *g);

/* gzip__pack - append @len bytes as gzip to @out, or nothing.  -ENOMEM. */
int gzip__pack(struct buf *out, const void *data, size_t len);

#endif
