/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/os.h"
#include "os/linux/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/rights.h"

#define SYSCALLS 1024u /* numbers below which a name is looked for */

int os__arguments(int *argc, char ***argv, struct errmsg *f)
{
	(void)argc;
	(void)argv;
	(void)f;
	return 0;
}

const char *os__syscall(uint32_t number)
{
	return syscalls__name(number);
}

uint32_t os__syscall_detail(const char *name, size_t len)
{
	for (uint32_t i = 0; i < SYSCALLS; i++) {
		const char *is = syscalls__name(i);

		if (is && strlen(is) == len && !memcmp(is, name, len))
			return i + 1;
	}
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

uint64_t os__cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t os__real_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void os__host(char *name, size_t size)
{
	if (gethostname(name, size))
		*name = '\0';
	name[size - 1] = '\0';
}

unsigned int os__columns(int fd)
{
	struct winsize size;

	/* a serial line does not know how wide what is behind it is: 80, as ever */
	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

bool os__foreground(int fd)
{
	return tcgetpgrp(fd) == getpgrp();
}

bool os__input_over(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, 0) > 0;
}

/* May a file be read as @what?  0 or a negative error.  It can be waited for from here on. */
static int file__check(int fd, enum os_reading what)
{
	struct pollfd pipe = {.fd = fd, .events = POLLIN};
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode))
		return 0;
	if (what != OS_STREAM || S_ISBLK(st.st_mode))
		return -OS_IRREGULAR;
	if (fcntl(fd, F_SETFL, 0) < 0)
		return -errno;
	/* without a writer there is nothing to be read, but there may be one soon (pipe(7)) */
	if (S_ISFIFO(st.st_mode))
		poll(&pipe, 1, -1);
	return 0;
}

int os__open(const char *path, enum os_reading what)
{
	uint64_t raised;
	int fd, err;

	if (!strcmp(path, "-"))
		return STDIN_FILENO;
	raised = rights__raise(RIGHTS_FILES);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
				(what == OS_ENTRY ? O_NOFOLLOW : 0));
	err = -errno;
	rights__lower(raised);
	if (fd < 0)
		return err == -ELOOP && what == OS_ENTRY ? -OS_LINK
		       : err == -ENXIO			 ? -OS_IRREGULAR
							 : err;
	err = file__check(fd, what);
	if (!err)
		return fd;
	close(fd);
	return err;
}

void os__close(int fd)
{
	if (fd != STDIN_FILENO)
		close(fd);
}

int os__read(int fd, void *to, unsigned int size)
{
	ssize_t n;

	do {
		n = read(fd, to, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (int)n;
}

uint64_t os__size(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
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

int os__list(const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	uint64_t raised = rights__raise(RIGHTS_FILES);
	DIR *d = opendir(path);
	int err = d ? 0 : -errno;
	struct dirent *entry;

	rights__lower(raised);
	if (!d)
		return err;
	do {
		errno = 0;
		entry = readdir(d);
		err = entry ? each(arg, entry->d_name) : -errno;
	} while (entry && !err);
	closedir(d);
	return err;
}

void os__many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void os__trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
