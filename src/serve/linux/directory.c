/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/directory.h"

#include <errno.h>
#include <fcntl.h>
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
