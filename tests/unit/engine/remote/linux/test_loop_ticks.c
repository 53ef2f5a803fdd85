/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ticks of the engines ptrace and vmread: how many there are, and what is between them. */
#define _GNU_SOURCE
#include "loop_scene.h"

/* Ticks so far, with those that were not taken: the last was read between two times. */
struct ticks {
	uint64_t n, from, to;
};

/* Poll until a tick comes, and there are @least. */
static struct ticks ticks__next(struct scene *s, uint64_t least)
{
	uint64_t counts[XR_COUNTERS], before;
	struct ticks t = {0};

	s->ops->counters(s->e, counts);
	t.n = counts[XR_TICKS] + counts[XR_MISSED];
	do {
		before = t.n;
		t.from = os__now();
		s->ops->poll(s->e, 20, seen__record, &s->seen);
		t.to = os__now();
		s->ops->counters(s->e, counts);
		t.n = counts[XR_TICKS] + counts[XR_MISSED];
	} while (t.n == before || t.n < least);
	return t;
}

/* However late they are read, there is a tick for each period. */
static void rates(const struct engine_ops *ops)
{
	static const uint32_t told[] = {19, 999, 99};
	struct scene s;

	scene__begin(&s, ops, LIFE_REST, ENGINE_CLOCK_WALL, 0);
	for (unsigned int i = 0; i < 3; i++) {
		const int err = ops->set_freq(s.e, told[i], &s.f);
		const struct ticks began = ticks__next(&s, 0);
		const struct ticks ended = ticks__next(&s, began.n + 15);
		const double n = (double)(ended.n - began.n), period = 1e9 / told[i];
		const double least = ((double)ended.from - (double)began.to) / period - 1.1;
		const double most = ((double)ended.to - (double)began.from) / period + 1.1;

		tap__ok(!err && n >= least && n <= most,
			"%s: at %u Hz from now on: %.0f ticks, %.1f to %.1f are due", ops->name,
			told[i], n, least, most);
	}
	scene__end(&s);
}

/* What was due while the engine was not asked, or read a stack, is not left out. */
static void overdue(const struct engine_ops *ops, enum engine_clock clock, const char *what)
{
	uint64_t counts[XR_COUNTERS], before;
	struct timespec used, end;
	struct scene s;
	clockid_t cpu;

	scene__begin(&s, ops, LIFE_RUN, clock, 0);
	tap__bail_if(ops->set_freq(s.e, 999, &s.f) || !scene__until(&s, &s.seen.samples, 5) ||
			     clock_getcpuclockid(s.target.pid, &cpu),
		     "%s", s.f.text);
	/* of a sample that counted no tick ahead: it took less than a period */
	do {
		usleep(100);
		ops->counters(s.e, counts);
		before = counts[XR_TICKS];
		ops->poll(s.e, 0, seen__record, &s.seen);
		ops->counters(s.e, counts);
	} while (counts[XR_TICKS] - before != 1);
	before = counts[XR_TICKS];
	clock_gettime(cpu, &end);
	end.tv_nsec += 12 * NS_PER_MS; /* of the CPU time of the child */
	do {
		usleep(1000);
		clock_gettime(cpu, &used);
	} while ((used.tv_sec - end.tv_sec) * (int64_t)NS_PER_S + used.tv_nsec < end.tv_nsec);
	do {
		ops->poll(s.e, 0, seen__record, &s.seen);
		ops->counters(s.e, counts);
	} while (counts[XR_TICKS] == before);
	tap__ok(counts[XR_TICKS] - before >= 9, "%s: one look after ten periods of %s: %u ticks",
		ops->name, what, (unsigned int)(counts[XR_TICKS] - before));
	scene__end(&s);
}

static unsigned int rests;

int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	rests++;
	return __real_nanosleep(time, left);
}

static int priority(void)
{
	return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER
		       ? getpriority(PRIO_PROCESS, 0)
		       : -100;
}

/* An engine that never waits leaves the CPU to others nevertheless. */
static void busy(void)
{
	const int before = priority();
	struct scene s;

	scene__begin(&s, &engine_vmread, LIFE_REST, ENGINE_CLOCK_WALL, 0);
	rests = 0;
	if (priority() < before) {
		while (!rests)
			s.ops->poll(s.e, 0, seen__record, &s.seen);
		tap__ok(rests == 1, "one that does not wait rests");
	} else {
		tap__skip("the engine cannot raise its priority here", "rests");
	}
	scene__end(&s);
}

TEST(ticks)
{
	static const struct engine_ops *const engines[] = {&engine_ptrace, &engine_vmread};

	image__make();
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		rates(engines[i]);
		overdue(engines[i], ENGINE_CLOCK_WALL, "wall time");
		overdue(engines[i], ENGINE_CLOCK_CPU, "CPU time");
	}
	busy();
	image__free(&image);
}
