/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/linux/cpus.h"

/* One number at *@at, which is moved behind it. */
static bool number(const char **at, unsigned long *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*value = strtoul(*at, &end, 10);
	*at = end;
	return true;
}

int cpus__parse(const char *list, bool *online, size_t n)
{
	unsigned long first, last;

	memset(online, 0, n * sizeof(*online));
	do {
		if (!number(&list, &first))
			return -EINVAL;
		last = first;
		if (*list == '-') {
			list++;
			if (!number(&list, &last) || last < first)
				return -EINVAL;
		}
		for (unsigned long cpu = first; cpu < n && cpu <= last; cpu++)
			online[cpu] = true;
	} while (*list++ == ',');
	list--;
	return *list && strcmp(list, "\n") ? -EINVAL : 0;
}

int cpus__online(bool *online, size_t n)
{
	int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	char list[4096]; /* sysfs gives a page at most */
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, list, sizeof(list) - 1);
	if (len < 0)
		len = -errno;
	close(fd);
	if (len < 0)
		return (int)len;
	list[len] = '\0';
	return cpus__parse(list, online, n);
}

static int64_t clock__ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec;
}

/*
 * CLOCK_BOOTTIME goes on while the machine sleeps, CLOCK_MONOTONIC does not.  How far they are
 * apart lies between the two differences: the lower one now is above the upper one of the last time
 * only if it grew.
 */
bool cpus__slept(int64_t *clocks)
{
	const int64_t before = clock__ns(CLOCK_BOOTTIME), ns = clock__ns(CLOCK_MONOTONIC);
	const bool slept = *clocks && before - ns > *clocks;

	*clocks = clock__ns(CLOCK_BOOTTIME) - ns;
	return slept;
}
