/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/store_index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/calendar.h"
#include "output/gzip.h"
#include "serve/linux/store_write.h"

#define GZIP	  (MAX_WBITS + 16) /* + 16: gzip's head and tail (zlib.h) */
#define PIECE	  16384u
#define TRIES_MAX 1000u /* files of a day that cannot be appended to */

/* Of a file that is looked through, to go on with it: bytes, and what they unpack to. */
#define WHOLE_MAX    (64 << 20)
#define UNPACKED_MAX (2u << 30)

int store_index__pack(struct buf *out, const struct interval_name *profile, const char *lines,
		      size_t len)
{
	struct calendar c = calendar__of(profile->began);
	char head[160], name[INTERVAL_NAME_MAX];
	const char *end = lines + len;
	struct output *to;
	struct gzip g;
	int err, n;

	out->len = 0;
	if (!len)
		return 0;
	err = output__memory(&to, out, 0);
	if (err)
		return err;
	gzip__begin(&g, to);
	interval_name__print(name, profile);
	n = snprintf(head, sizeof(head),
		     "{\"file\":\"%s\",\"from\":\"%04u-%02u-%02uT%02u:%02u:%02uZ\","
		     "\"seconds\":%" PRIu32 ",",
		     name, c.year, c.month, c.day, c.hour, c.minute, c.second, profile->seconds);
	while (lines < end && !g.err) {
		const char *newline = memchr(lines, '\n', (size_t)(end - lines));
		size_t line = newline ? (size_t)(newline - lines) : (size_t)(end - lines);

		gzip__add(&g, head, (size_t)n);
		gzip__add(&g, lines, line);
		gzip__add(&g, "\n", 1);
		lines += line + (newline != NULL);
	}
	err = gzip__end(&g);
	if (!err)
		output__commit(to, 0);
	output__close(to, NULL);
	return err;
}

/* Is there nothing but whole gzip members in @fd?  1 or 0, or a negative errno. */
static int file__is_whole(int fd)
{
	unsigned char in[PIECE], out[PIECE];
	uint64_t unpacked = 0;
	z_stream z = {0};
	bool whole = true;
	int err = Z_OK;
	off_t at = 0;
	ssize_t n;

	if (inflateInit2(&z, GZIP) != Z_OK)
		return -ENOMEM;
	while (err == Z_OK && (n = pread(fd, in, sizeof(in), at)) > 0) {
		at += n;
		z.next_in = in;
		z.avail_in = (uInt)n;
		while (err == Z_OK && z.avail_in) {
			if (whole)
				inflateReset(&z);
			z.next_out = out;
			z.avail_out = sizeof(out);
			err = inflate(&z, Z_NO_FLUSH);
			unpacked += sizeof(out) - z.avail_out;
			whole = err == Z_STREAM_END;
			if (whole)
				err = Z_OK;
			if (unpacked > UNPACKED_MAX)
				err = Z_DATA_ERROR;
		}
	}
	inflateEnd(&z);
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	if (err != Z_OK)
		return 0;
	return n < 0 ? -errno : whole;
}

/* A file that the store cannot use; it may be able to use the next name. */
static bool error__is_of_name(int err)
{
	return err == -ELOOP || err == -EISDIR || err == -EACCES || err == -EPERM ||
	       err == -ENXIO || err == -EWOULDBLOCK || err == -EEXIST;
}

/*
 * Open the file and see that it can be appended to: a descriptor, which holds its lock, or a
 * negative errno; -EEXIST: it is not to be.
 */
static int index__open(const struct store_index *index, int dir, const char *text, struct stat *st)
{
	int fd, err = -EEXIST;

	fd = openat(dir, text, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		    STORE_MODE);
	if (fd < 0)
		return -errno;
	/* another process may write to it; where there are no locks, none should */
	if ((flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) || fstat(fd, st)) {
		err = -errno;
		goto fail;
	}
	if (!S_ISREG(st->st_mode) || st->st_nlink != 1 || st->st_size > WHOLE_MAX)
		goto fail;
	if (!st->st_size ||
	    (index->size && index->inode == st->st_ino && index->size == (uint64_t)st->st_size))
		return fd;
	err = file__is_whole(fd);
	if (err > 0)
		return fd;
	err = err ? err : -EEXIST;
fail:
	close(fd);
	return err;
}

/* Append, or leave it as it was. */
static int index__write(int fd, int dir, const char *text, const struct stat *st,
			const void *member, size_t size)
{
	int err = store_write__all(fd, member, size, st->st_size);

	if (!err && fdatasync(fd))
		err = -errno;
	if (!err && !st->st_size && fsync(dir))
		err = -errno;
	if (!err)
		return 0;
	/* one that cannot even be truncated is seen to be torn the next time */
	if (st->st_size ? ftruncate(fd, st->st_size) : unlinkat(dir, text, 0))
		return err;
	return err;
}

int store_index__append(struct store_index *index, int dir, const struct interval_name *profile,
			const void *member, size_t size)
{
	struct interval_name name = interval_name__index(profile);
	char text[INTERVAL_NAME_MAX];
	int fd = -EEXIST, err;
	struct stat st;

	if (!size)
		return 0;
	if (index->name.kind == INTERVAL_INDEX && index->name.began == name.began)
		name.number = index->name.number;
	else
		*index = (struct store_index){.name = name};
	for (uint32_t tries = 0; tries < TRIES_MAX; tries++, name.number++) {
		interval_name__print(text, &name);
		fd = index__open(index, dir, text, &st);
		if (fd >= 0 || !error__is_of_name(fd))
			break;
	}
	if (fd < 0)
		return fd;
	index->name = name;
	index->size = 0;
	err = index__write(fd, dir, text, &st, member, size);
	if (!err) {
		index->inode = st.st_ino;
		index->size = (uint64_t)st.st_size + size;
	}
	close(fd);
	return err;
}
