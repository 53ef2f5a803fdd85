/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "target/linux/native/make_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int file__write(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int answer_file__make(const struct answer_part *parts, size_t n)
{
	int fd = memfd_create("xrprof", MFD_CLOEXEC | MFD_ALLOW_SEALING), err = 0;

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < n && !err; i++)
		err = file__write(fd, parts[i].bytes, parts[i].size);
	if (!err &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int texts__add(struct buf *texts, const char *text, uint32_t *at)
{
	if (texts->len > UINT32_MAX / 2)
		return -ENOMEM;
	*at = (uint32_t)texts->len;
	return buf__add(texts, text, strlen(text) + 1);
}
