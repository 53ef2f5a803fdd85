/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

int (*system_calls__before)(const struct system_call *c);

static long call(const struct system_call *call, long a, long b, long c, long d)
{
	int err = system_calls__before ? system_calls__before(call) : 0;

	if (err) {
		errno = err;
		return -1;
	}
	return syscall(call->number, call->fd, a, b, c, d);
}

#define CALL(name, ...) (&(const struct system_call){.number = SYS_##name, __VA_ARGS__})

int openat(int fd, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return (int)call(CALL(openat, .fd = fd, .path = path), (long)path, flags, mode, 0);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return call(CALL(pwrite64, .fd = fd, .data = data, .size = size, .at = at), (long)data,
		    (long)size, at, 0);
}

int unlinkat(int fd, const char *path, int flags)
{
	return (int)call(CALL(unlinkat, .fd = fd, .path = path), (long)path, flags, 0, 0);
}

#define FUNCTION(name, parameters, a, b, c, d)                                                     \
	int name parameters                                                                        \
	{                                                                                          \
		return (int)call(CALL(name, .fd = fd), a, b, c, d);                                \
	}

FUNCTION(fsync, (int fd), 0, 0, 0, 0)
FUNCTION(fdatasync, (int fd), 0, 0, 0, 0)
FUNCTION(ftruncate, (int fd, off_t size), size, 0, 0, 0)
FUNCTION(flock, (int fd, int how), how, 0, 0, 0)
FUNCTION(linkat, (int fd, const char *path, int to, const char *other, int flags), (long)path, to,
	 (long)other, flags)
FUNCTION(renameat, (int fd, const char *path, int to, const char *other), (long)path, to,
	 (long)other, 0)
FUNCTION(renameat2, (int fd, const char *path, int to, const char *other, unsigned int flags),
	 (long)path, to, (long)other, flags)
