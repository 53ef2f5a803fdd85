/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wait CPU SECONDS: how long a real-time task on CPU waits beyond the time it asked for: it sleeps
 * for half a millisecond again and again.  Prints the longest wait and the 99.9th percentile, in
 * microseconds.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define STEP_NS 500000
#define NS	1000000000LL

static int compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

int main(int argc, char **argv)
{
	struct sched_param real_time = {.sched_priority = 90};
	struct timespec next, now;
	double *waits, seconds;
	cpu_set_t cpu;
	size_t n;

	if (argc != 3)
		return 2;
	seconds = atof(argv[2]);
	n = (size_t)(seconds * (NS / STEP_NS));
	waits = calloc(n + 1, sizeof(*waits));
	CPU_ZERO(&cpu);
	CPU_SET(atoi(argv[1]), &cpu);
	if (!n || !waits || sched_setaffinity(0, sizeof(cpu), &cpu) ||
	    sched_setscheduler(0, SCHED_FIFO, &real_time) || mlockall(MCL_CURRENT)) {
		perror("wait");
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		clock_gettime(CLOCK_MONOTONIC, &next);
		next.tv_nsec += STEP_NS;
		next.tv_sec += next.tv_nsec / NS;
		next.tv_nsec %= NS;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		waits[i] = (double)(now.tv_sec - next.tv_sec) * 1e6 +
			   (double)(now.tv_nsec - next.tv_nsec) / 1e3;
	}
	qsort(waits, n, sizeof(*waits), compare);
	printf("%.0f %.0f\n", waits[n - 1], waits[n - 1 - n / 1000]);
	free(waits);
	return 0;
}
