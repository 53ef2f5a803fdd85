/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile/read_parts.h"

#define UNZIP_WINDOW (MAX_WBITS + 16) /* + 16: gzip's head and tail (zlib.h) */

struct unzip {
	z_stream z;
	bool whole;			     /* what gzip wrote ended; more of its may follow */
	unsigned char piece[READ_PIECE + 3]; /* a short read may be there before */
};

int unzip__new(struct unzip **out, const struct reading *r)
{
	struct unzip *u = calloc(1, sizeof(*u));

	*out = NULL;
	if (!u)
		return -ENOMEM;
	memcpy(u->piece, r->bytes.data, r->bytes.len);
	u->z.next_in = u->piece;
	u->z.avail_in = (uInt)r->bytes.len;
	if (inflateInit2(&u->z, UNZIP_WINDOW) != Z_OK) {
		free(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}

/* Have bytes of the file in the piece.  1; 0: it is over; or a negative errno. */
static int unzip__fill(struct unzip *u, struct reading *r)
{
	int n;

	if (u->z.avail_in)
		return 1;
	n = reading__raw(r, u->piece, sizeof(u->piece));
	if (n <= 0)
		return n;
	u->z.next_in = u->piece;
	u->z.avail_in = (uInt)n;
	return 1;
}

int unzip__piece(struct unzip *u, struct reading *r, void *to, size_t size)
{
	int got, n;

	u->z.next_out = to;
	u->z.avail_out = (uInt)size;
	while (u->z.avail_out == size) {
		got = unzip__fill(u, r);
		if (got < 0)
			return got;
		if (!got && u->whole)
			return 0;
		if (!got)
			return errmsg__set(
				r->f, -ENODATA,
				"%s ends early: it was cut off, or is still being written",
				r->in->name);
		if (u->whole && inflateReset(&u->z) != Z_OK)
			return -ENOMEM;
		u->whole = false;
		n = inflate(&u->z, Z_NO_FLUSH);
		if (n == Z_MEM_ERROR)
			return errmsg__set(r->f, -ENOMEM, "cannot read %s: out of memory",
					   r->in->name);
		if (n != Z_OK && n != Z_STREAM_END)
			return errmsg__set(r->f, -EINVAL,
					   "%s is damaged: it cannot be decompressed", r->in->name);
		u->whole = n == Z_STREAM_END;
	}
	return (int)(size - u->z.avail_out);
}

void unzip__free(struct unzip *u)
{
	if (u)
		inflateEnd(&u->z);
	free(u);
}
