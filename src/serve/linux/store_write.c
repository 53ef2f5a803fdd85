/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file is made under a temporary name, that no other process can have prepared (O_EXCL), and
 * locked, so that store_write__sweep() knows that it is being written.  It gets its own name when
 * it is whole and on disk, and never in the place of another (RENAME_NOREPLACE; where a file system
 * has not that, link(2), which replaces nothing either).
 */
#define _GNU_SOURCE
#include "serve/linux/store_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/linux/directory.h"

#define NUMBERS_MAX 10000u /* names of the same time that are tried */

int store_write__all(int fd, const void *data, size_t size, off_t at)
{
	const char *bytes = data;

	while (size) {
		ssize_t n = pwrite(fd, bytes, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Its own name.  -EEXIST: it is taken. */
static int file__rename(int dir, const char *from, const char *to)
{
	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(dir, from, dir, to, 0))
		return -errno;
	unlinkat(dir, from, 0);
	return 0;
}

/* Lock the new file.  False: another process has seen it before, and sweeps it. */
static bool file__lock(int fd)
{
	struct stat st;

	/* where there are no locks it is not swept while somebody looks: that is all they do */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return false;
	return fstat(fd, &st) || st.st_nlink;
}

/* The new file under its temporary name, locked.  @temporary: that.  Negative errno. */
static int file__create(int dir, const struct interval_name *name,
			char temporary[INTERVAL_NAME_MAX])
{
	struct interval_name trying = *name;
	int fd = -EEXIST;

	for (uint32_t tries = 0; fd == -EEXIST && tries < NUMBERS_MAX; tries++, trying.number++) {
		interval_name__print_temporary(temporary, &trying);
		fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    STORE_MODE);
		if (fd < 0) {
			fd = -errno;
		} else if (!file__lock(fd)) {
			close(fd);
			fd = -EEXIST;
		}
	}
	return fd;
}

int store_write__file(int dir, struct interval_name *name, const void *data, size_t size)
{
	char temporary[INTERVAL_NAME_MAX], text[INTERVAL_NAME_MAX];
	int fd, err;

	fd = file__create(dir, name, temporary);
	if (fd < 0)
		return fd;
	err = store_write__all(fd, data, size, 0);
	if (!err && fsync(fd))
		err = -errno;
	if (!err) {
		for (uint32_t tries = 0; tries < NUMBERS_MAX; tries++, name->number++) {
			interval_name__print(text, name);
			err = file__rename(dir, temporary, text);
			if (err != -EEXIST)
				break;
		}
	}
	if (err)
		unlinkat(dir, temporary, 0);
	close(fd);
	return err;
}

/* Remove one that no process writes. */
static void sweep__file(int dir, const char *text)
{
	int fd = openat(dir, text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	/* this service did not leave what is not a file, or what it may not read */
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, text, 0);
	close(fd);
}

int store_write__sweep(int dir)
{
	struct dirent *entry;
	DIR *d;
	int err = directory__entries(dir, &d);

	if (err)
		return err;
	while ((entry = readdir(d)))
		if (interval_name__is_temporary(entry->d_name))
			sweep__file(dir, entry->d_name);
	closedir(d);
	return 0;
}
