/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int platform__arguments(int *argc, char ***argv, struct fault *f)
{
	(void)argc;
	(void)argv;
	(void)f;
	return 0;
}

const char *platform__refuses(const char *option)
{
	(void)option;
	return NULL;
}

uint64_t platform__now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int platform__create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

FILE *platform__fopen(const char *path)
{
	return fopen(path, "we");
}

int platform__write(int fd, const void *data, unsigned int size)
{
	ssize_t n = write(fd, data, size);

	return n < 0 ? -errno : (int)n;
}

void platform__wait_writable(int fd)
{
	poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
}

int platform__mkdir(const char *path)
{
	return mkdir(path, 0777) ? -errno : 0;
}

bool platform__is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

void platform__many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
