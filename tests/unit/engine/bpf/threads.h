/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads of this process that sleep until it ends. */
#ifndef XR_TEST_THREADS_H
#define XR_TEST_THREADS_H

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tap.h"

static atomic_uint threads__running;

static inline void *thread__sleep(void *arg)
{
	threads__running++;
	for (;;)
		pause();
	return arg;
}

/* threads__start - @n more; each has run when it returns. */
static inline void threads__start(unsigned int n)
{
	const unsigned int all = threads__running + n;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	while (n--)
		tap__bail_if(pthread_create(&thread, &attr, thread__sleep, NULL), "no threads");
	pthread_attr_destroy(&attr);
	while (threads__running < all)
		sched_yield();
}

#endif
