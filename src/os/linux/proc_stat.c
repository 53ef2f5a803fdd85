/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Used by rights.c too, which proc.c needs. */
#define _GNU_SOURCE /* memrchr */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/proc.h"

#define PF_EXITING 0x00000004u /* include/linux/sched.h */
#define PF_KTHREAD 0x00200000u

/*
 * pid (comm) state ppid pgrp session tty tpgid flags ... utime(14) stime ... threads(20)
 * itrealvalue starttime(22) ...
 * startstack(28).
 * comm is not escaped: it ends at the last ')'.
 */
int proc__parse_stat(const char *text, size_t len, struct proc *p)
{
	const char *open = memchr(text, '(', len);
	const char *close = memrchr(text, ')', len);
	unsigned long long field[29] = {0};
	const char *at, *end = text + len;
	uint64_t tick;
	size_t n;

	if (!open || !close || close < open || end - close < 4 || close[1] != ' ' ||
	    close[3] != ' ')
		return -EBADMSG;
	n = (size_t)(close - open - 1);
	if (n >= sizeof(p->comm))
		n = sizeof(p->comm) - 1;
	memcpy(p->comm, open + 1, n);
	p->comm[n] = '\0';
	p->state = close[2];
	at = close + 4;
	for (int i = 4; i <= 28 && (i <= 22 || at < end); i++) {
		bool minus = at < end && *at == '-';
		const char *first;

		if (minus)
			at++;
		for (first = at; at < end && *at >= '0' && *at <= '9'; at++)
			field[i] = field[i] * 10 + (unsigned int)(*at - '0');
		if (at - first > 20 || (at == first && i <= 22))
			return -EBADMSG;
		if (minus)
			field[i] = 0;
		if (at < end && *at == ' ')
			at++;
	}
	tick = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	p->ppid = (pid_t)field[4];
	p->kernel = field[9] & PF_KTHREAD;
	p->ending = field[9] & PF_EXITING;
	p->threads = (uint32_t)field[20];
	p->cpu_ns = (field[14] + field[15]) * tick;
	p->ended_ns = (field[16] + field[17]) * tick;
	p->start_time = field[22];
	p->stack = field[28];
	return 0;
}

uint64_t proc__status(const char *text, const char *name, int base, uint64_t none)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, base) : none;
}
