/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* gzip, by zlib: not our own readers and writers. */
#ifndef GZIP_H
#define GZIP_H

#include <zlib.h>

#include "base/buf.h"
#include "tap.h"

/* gzip__pack - append a gzip file of the @len bytes at @data to @to. */
static inline void gzip__pack(struct buf *to, const void *data, size_t len)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)len};
	unsigned char part[16384];
	int err;

	tap__bail_if(deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
		     "zlib");
	do {
		z.next_out = part;
		z.avail_out = sizeof(part);
		err = deflate(&z, Z_FINISH);
		buf__add(to, part, sizeof(part) - z.avail_out);
	} while (err == Z_OK || err == Z_BUF_ERROR);
	deflateEnd(&z);
}

/*
 * gzip__unpack - append what is in the gzip file of @len bytes at @data, of any number of members,
 * as far as it can be read; false: it is not whole.
 */
static inline bool gzip__unpack(struct buf *to, const void *data, size_t len)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)len};
	unsigned char part[16384];
	int err = Z_OK;

	tap__bail_if(inflateInit2(&z, MAX_WBITS + 16), "zlib");
	while (err == Z_STREAM_END ? z.avail_in : err == Z_OK && (z.avail_in || !z.avail_out)) {
		if (err == Z_STREAM_END)
			inflateReset(&z);
		z.next_out = part;
		z.avail_out = sizeof(part);
		err = inflate(&z, Z_NO_FLUSH);
		buf__add(to, part, sizeof(part) - z.avail_out);
	}
	inflateEnd(&z);
	return err == Z_STREAM_END;
}

/* gzip__file - the file @path, unpacked if it is packed, in place of what is in @to; false: it
 * cannot be read. */
static inline bool gzip__file(struct buf *to, const char *path)
{
	gzFile file = gzopen(path, "rb");
	char part[16384];
	int n = -1;

	to->len = 0;
	while (file && (n = gzread(file, part, sizeof(part))) > 0)
		buf__add(to, part, (size_t)n);
	return file && gzclose(file) == Z_OK && !n;
}

#endif
