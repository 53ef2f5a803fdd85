/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int directory__entries(int dir, DIR **out)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	*out = fd < 0 ? NULL : fdopendir(fd);
	if (*out)
		return 0;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

int directory__lock(const char *path, struct errmsg *f)
{
	struct stat st;
	int fd, err;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return errmsg__set(f, -errno, "cannot create the spool directory %s: %s", path,
				   strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		err = errmsg__set(f, -errno, "cannot open the spool directory %s: %s", path,
				  strerror(errno));
	else if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & 022))
		err = errmsg__set(
			f, -EPERM,
			"%s: others may write there; make this user its owner, with mode 0700",
			path);
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		err = errmsg__set(
			f, -errno, "%s: %s", path,
			errno == EWOULDBLOCK
				? "in use by another process; give each server a separate directory"
				: strerror(errno));
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}
