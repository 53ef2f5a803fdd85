/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

int os__arguments(int *argc, char ***argv, struct errmsg *f)
{
	(void)argc;
	(void)argv;
	(void)f;
	return 0;
}

bool os__is_windows(void)
{
	return false;
}

uint64_t os__now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int os__create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

FILE *os__fopen(const char *path)
{
	return fopen(path, "we");
}

int os__write(int fd, const void *data, unsigned int size)
{
	ssize_t n = write(fd, data, size);

	return n < 0 ? -errno : (int)n;
}

void os__wait_writable(int fd)
{
	poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
}

int os__mkdir(const char *path)
{
	return mkdir(path, 0777) ? -errno : 0;
}

bool os__is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

void os__many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
