/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/linux/ticks.h"

#include "base/clock.h"

uint64_t ticks__due_wall(struct ticks *t, uint64_t missed)
{
	missed -= t->counted < missed ? t->counted : missed;
	t->counted = 0;
	return 1 + missed;
}

static int ticks__count_cpu(struct ticks *t, struct remote_thread *thread)
{
	uint64_t now;
	int err = remote_thread__cpu_time(thread, &now);

	if (err)
		return err;
	if (now < t->cpu_time) /* another thread's */
		t->cpu_time = now;
	t->cpu_owed += (int64_t)(now - t->cpu_time);
	t->cpu_time = now;
	return 0;
}

/* Whole periods that no sample stands for, if more than one is left over. */
static int64_t ticks__overdue(struct ticks *t, int64_t period)
{
	int64_t n = t->cpu_owed > period ? t->cpu_owed / period : 0;

	t->cpu_owed -= n * period;
	return n;
}

int64_t ticks__due_cpu(struct ticks *t, struct remote_thread *thread, int64_t period)
{
	int err = ticks__count_cpu(t, thread);

	if (err)
		return err;
	if (t->cpu_owed < period / 2)
		return 0;
	t->cpu_owed -= period;
	return 1 + ticks__overdue(t, period);
}

void ticks__later(struct ticks *t, uint64_t due, int64_t period)
{
	t->cpu_owed += (int64_t)due * period;
}

uint64_t ticks__meanwhile_wall(struct ticks *t, uint64_t ns, uint32_t freq)
{
	t->counted = ns * freq / NS_PER_S;
	t->counted -= t->counted > 0;
	return t->counted;
}

uint64_t ticks__meanwhile_cpu(struct ticks *t, struct remote_thread *thread, int64_t period)
{
	return ticks__count_cpu(t, thread) ? 0 : (uint64_t)ticks__overdue(t, period);
}
