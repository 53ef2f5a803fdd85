/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCAN_ALL_H
#define SCAN_ALL_H

/*
 * A scan of all processes for R, made by the test itself, where the program asks others.
 */
#include "target/linux/scan.h"

struct scan_all {
	struct programs known;
	int (*seen)(void *arg, pid_t pid);
	void *arg;
};

static int scan_all__process(void *arg, pid_t pid)
{
	struct scan_all *s = arg;

	return target__seems(pid, &s->known) ? s->seen(s->arg, pid) : 0;
}

/* scan_all - call @seen for each process that seems to have R in it; ends as target__each(). */
static int scan_all(int (*seen)(void *arg, pid_t pid), void *arg)
{
	struct scan_all s = {.seen = seen, .arg = arg};
	int result = target__each(scan_all__process, &s);

	programs__free(&s.known);
	return result;
}

#endif
