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

int fsync(int fd)
{
	return (int)call(CALL(fsync, .fd = fd), 0, 0, 0, 0);
}

int fdatasync(int fd)
{
	return (int)call(CALL(fdatasync, .fd = fd), 0, 0, 0, 0);
}

int ftruncate(int fd, off_t size)
{
	return (int)call(CALL(ftruncate, .fd = fd), size, 0, 0, 0);
}

int flock(int fd, int how)
{
	return (int)call(CALL(flock, .fd = fd), how, 0, 0, 0);
}

int unlinkat(int fd, const char *path, int flags)
{
	return (int)call(CALL(unlinkat, .fd = fd, .path = path), (long)path, flags, 0, 0);
}

int linkat(int fd, const char *path, int to, const char *other, int flags)
{
	return (int)call(CALL(linkat, .fd = fd), (long)path, to, (long)other, flags);
}

int renameat(int fd, const char *path, int to, const char *other)
{
	return (int)call(CALL(renameat, .fd = fd), (long)path, to, (long)other, 0);
}

int renameat2(int fd, const char *path, int to, const char *other, unsigned int flags)
{
	return (int)call(CALL(renameat2, .fd = fd), (long)path, to, (long)other, flags);
}
