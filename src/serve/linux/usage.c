/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/usage.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

static uint64_t usage__ns(int who)
{
	struct rusage use = {0};

	getrusage(who, &use);
	return (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * NS_PER_US;
}

uint64_t usage__cpu(void)
{
	return usage__ns(RUSAGE_SELF) + usage__ns(RUSAGE_CHILDREN);
}

uint64_t usage__resident(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
