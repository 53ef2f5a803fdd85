/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/gzip.h"

#include <errno.h>
#include <limits.h>

#define GZIP_WINDOW (MAX_WBITS + 16) /* + 16: gzip's head and tail (zlib.h) */
#define GZIP_MEMORY 8		     /* zlib's default */
#define GZIP_PIECE  16384u

int gzip__begin(struct gzip *g, struct output *out)
{
	*g = (struct gzip){.out = out};
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		g->err = -ENOMEM;
	return g->err;
}

/* Have zlib take what it was given; @flush is one of its. */
static void gzip__deflate(struct gzip *g, int flush)
{
	unsigned char piece[GZIP_PIECE];

	do {
		g->z.next_out = piece;
		g->z.avail_out = sizeof(piece);
		if (deflate(&g->z, flush) == Z_STREAM_ERROR)
			g->err = -EINVAL;
		else
			g->err = output__write(g->out, (const char *)piece,
					       sizeof(piece) - g->z.avail_out);
	} while (!g->err && !g->z.avail_out);
}

int gzip__add(struct gzip *g, const void *data, size_t len)
{
	const unsigned char *next = data;

	while (len && !g->err) {
		uInt now = len > UINT_MAX ? UINT_MAX : (uInt)len;

		g->z.next_in = (unsigned char *)(uintptr_t)next;
		g->z.avail_in = now;
		gzip__deflate(g, Z_NO_FLUSH);
		next += now;
		len -= now;
	}
	return g->err;
}

int gzip__end(struct gzip *g)
{
	if (!g->err)
		gzip__deflate(g, Z_FINISH);
	deflateEnd(&g->z);
	return g->err;
}

int gzip__pack(struct buf *out, const void *data, size_t len)
{
	struct output *to;
	struct gzip g;
	int err = output__memory(&to, out, 0);

	if (err)
		return err;
	gzip__begin(&g, to);
	gzip__add(&g, data, len);
	err = gzip__end(&g);
	if (!err)
		output__commit(to, 0);
	output__close(to, NULL);
	return err;
}
