/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rate of events that are open, told by how often the kernel ran the program on them.  Events
 * of a process tick by its CPU time, those of CPUs by the time that passes; of CPUs alone the rate
 * can be changed, as what a process' children inherited would stay behind.  Events of threads
 * become those of CPUs.  Threads for which descriptors do not suffice have none.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "engine/bpf/perf_events.h"
#include "tap.h"
#include "threads.h"

#define TICKS_WANTED 15u
#define THREADS	     1100u
#define TRIES	     20u /* a rate that is not as wanted is measured so often: a CPU may be held up */

/* A program for perf events that does nothing: its descriptor; negative: BPF is not allowed here.
 */
static int nothing__load(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "nothing", "GPL", insns, COUNT(insns), NULL);
}

static uint64_t runs(int fd)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	tap__bail_if(bpf_obj_get_info_by_fd(fd, &info, &len), "no information of the program");
	return info.run_cnt;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Ticks a second of @clock, by @least ticks and a tenth of a second. */
static double rate(int fd, clockid_t clock)
{
	uint64_t from = clock_ns(clock), before = runs(fd), now, ticks;

	do {
		now = clock_ns(clock);
		ticks = runs(fd) - before;
	} while (ticks < TICKS_WANTED || now - from < NS_PER_S / 10);
	return (double)ticks / ((double)(now - from) / (double)NS_PER_S);
}

/* By default only that ticks come: how many depends on who else wants the CPUs. */
static void expect(int fd, clockid_t clock, double want, const char *what)
{
	uint64_t before = runs(fd);
	double got = 0;

	if (!tap__all()) {
		while (runs(fd) - before < 3)
			;
		tap__ok(true, "%s: ticks come", what);
		return;
	}
	for (unsigned int i = 0; i < TRIES && (got <= want * 0.6 || got >= want * 1.6); i++)
		got = rate(fd, clock);
	tap__ok(got > want * 0.6 && got < want * 1.6, "%s: %.0f ticks a second wanted, %.1f came",
		what, want, got);
}

/* Events of CPUs at other rates. */
static void follow(struct perf_events *p, int fd, unsigned int cpus)
{
	static const uint32_t rates[] = {19, 999, 99};
	struct errmsg f = {""};
	char what[64];

	expect(fd, CLOCK_MONOTONIC, 99.0 * cpus, "CPUs");
	for (unsigned int i = 0; i < COUNT(rates); i++) {
		snprintf(what, sizeof(what), "CPUs, at %u Hz from now on", rates[i]);
		tap__ok(!perf_events__set_freq(p, rates[i], &f) && perf_events__freq(p) == rates[i],
			"%s: perf_events__freq() returns the new rate %s", what, f.text);
		expect(fd, CLOCK_MONOTONIC, (double)rates[i] * cpus, what);
	}
}

/* How often this thread left a CPU since it started. */
static uint64_t left_cpu(void)
{
	struct rusage use;

	getrusage(RUSAGE_THREAD, &use);
	return (uint64_t)(use.ru_nvcsw + use.ru_nivcsw);
}

/* The kernel counts when a thread leaves a CPU, too.  A sleep may be over before it began. */
static void expect_switches(struct perf_events *p)
{
	uint64_t outer = left_cpu(), inner, least, most, got;

	perf_events__switches(p);
	inner = left_cpu();
	while (left_cpu() - inner < 50)
		nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
	least = left_cpu() - inner;
	got = perf_events__switches(p);
	most = left_cpu() - outer;
	tap__ok(got >= least && got <= most,
		"each time it was put on a CPU is counted: %llu of %llu", (unsigned long long)got,
		(unsigned long long)least);
}

static void limit__set(rlim_t soft)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = soft;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Events that are not open yet; NULL: they are not allowed here. */
static struct perf_events *events__new(int fd)
{
	struct perf_events *p = NULL;
	struct errmsg f = {""};
	const char *why;

	return fd < 0 || perf_events__new(&p, 99, fd, &why, &f) ? NULL : p;
}

/* From threads to CPUs: all or nothing. */
static void widen(int fd, unsigned int cpus)
{
	struct perf_events *p = events__new(fd);
	struct errmsg f = {""};
	struct rlimit limit;
	size_t threads;

	getrlimit(RLIMIT_NOFILE, &limit);
	tap__bail_if(!p || perf_events__add_process(p, getpid(), &f), "no events: %s", f.text);
	threads = perf_events__count(p);
	limit__set(8);
	tap__ok(perf_events__widen(p, &f) == -EMFILE, "without descriptors widening fails: %s",
		f.text);
	limit__set(limit.rlim_cur);
	tap__ok(perf_events__count(p) == threads, "the events are as they were");
	expect(fd, CLOCK_PROCESS_CPUTIME_ID, 99.0, "and tick");

	tap__ok(!perf_events__widen(p, &f), "on all CPUs");
	tap__ok(perf_events__count(p) == cpus, "an event on each, and none on a thread");
	if (!strcmp(perf_events__name(p), "cpu-clock"))
		expect(fd, CLOCK_MONOTONIC, 99.0 * cpus, "all of them");
	else
		tap__skip("an idle CPU counts no cycles", "all of them");
	perf_events__free(p);
}

/* Threads that do not fit: none of them has an event, and CPUs take the place of those that had. */
static void crowd(int fd, unsigned int cpus)
{
	const rlim_t files = (rlim_t)fd + 2 * cpus + 35; /* 32 are spared */
	struct perf_events *p = events__new(fd);
	struct errmsg f = {""};
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	threads__start(2 * cpus);
	tap__bail_if(!p || perf_events__add_process(p, getpid(), &f), "no events: %s", f.text);
	tap__ok(perf_events__count(p) == 2 * cpus + 1, "an event on each thread");
	tap__ok(perf_events__threads_fit((size_t)files / 2, 1), "more threads fit");
	limit__set(files);
	tap__ok(!perf_events__threads_fit((size_t)files / 2, 2), "but not with two events each");
	tap__ok(!perf_events__widen(p, &f) && perf_events__count(p) == cpus,
		"CPUs take the descriptors of threads: %s", f.text);
	tap__ok(!perf_events__add_process(p, getpid(), &f) && perf_events__count(p) == cpus,
		"where CPUs tick, no thread has an event");
	perf_events__free(p);

	tap__bail_if(!(p = events__new(fd)), "no events");
	threads__start(2 * cpus);
	tap__ok(perf_events__add_process(p, getpid(), &f) == -EMFILE && !perf_events__count(p),
		"too few descriptors: no thread has an event: %s", f.text);
	limit__set(limit.rlim_max);
	if (limit.rlim_max >= 2 * THREADS) {
		threads__start(THREADS);
		tap__ok(perf_events__add_process(p, getpid(), &f) == -EMFILE &&
				!perf_events__count(p) && !perf_events__threads_fit(THREADS, 1),
			"%u threads are too many whatever the limit is", THREADS);
	} else {
		tap__skip("the hard limit of descriptors is too low", "too many threads");
	}
	perf_events__free(p);
}

TEST(perf_events)
{
	int fd = nothing__load(), stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct perf_events *p = stats < 0 ? NULL : events__new(fd);
	struct errmsg f = {""};
	uint32_t limit = perf_events__limit();

	if (!p) {
		tap__skip("BPF or perf events are not allowed here", "rates");
		return;
	}
	tap__ok(!perf_events__add_process(p, getpid(), &f), "of this process");
	expect(fd, CLOCK_PROCESS_CPUTIME_ID, 99.0, "a process");
	expect_switches(p);
	tap__ok(perf_events__set_freq(p, 19, &f) == -EOPNOTSUPP, "its rate stays: %s", f.text);
	expect(fd, CLOCK_PROCESS_CPUTIME_ID, 99.0, "as it was");
	perf_events__stop(p);
	perf_events__free(p);
	widen(fd, (unsigned int)cpus);

	tap__bail_if(!(p = events__new(fd)), "no events");
	tap__ok(!perf_events__renew_cpus(p, &f), "of all CPUs");
	if (!strcmp(perf_events__name(p), "cpu-clock")) /* it ticks when a CPU is idle, too */
		follow(p, fd, (unsigned int)cpus);
	else
		tap__skip("an idle CPU counts no cycles", "CPUs");
	if (limit && limit < UINT32_MAX)
		tap__ok(!perf_events__set_freq(p, limit + 1, &f) && perf_events__freq(p) <= limit,
			"more than the kernel allows is as much as it allows");
	tap__ok(!perf_events__set_freq(p, 1, &f) && perf_events__freq(p) == 1, "once a second");
	perf_events__free(p);
	crowd(fd, (unsigned int)cpus);
	close(stats);
	close(fd);
}

/* A CPU that is offline; negative: none. */
static int offline = -1;

int __real_cpus__online(bool *online, size_t n);
int __wrap_cpus__online(bool *online, size_t n);
int __wrap_cpus__online(bool *online, size_t n)
{
	int err = __real_cpus__online(online, n);

	for (size_t i = 0; i < n && offline >= 0; i++)
		online[i] = online[i] && i != (size_t)offline;
	return err;
}

/* A CPU that comes back has an event again: the old one never fires. */
TEST(offline)
{
	const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	int fd = nothing__load(), err;
	struct perf_events *p = events__new(fd);
	struct errmsg f = {""};

	if (!p || perf_events__renew_cpus(p, &f)) {
		tap__skip("BPF or perf events are not allowed here", "a CPU that comes back");
		return;
	}
	offline = sched_getcpu();
	err = perf_events__renew_cpus(p, &f);
	tap__ok(err == (cpus > 1 ? 0 : -ENODEV) && perf_events__count(p) == cpus - 1,
		"one that is offline has none");
	offline = -1;
	tap__ok(!perf_events__renew_cpus(p, &f) && perf_events__count(p) == cpus,
		"when it is back it has one: %s", f.text);
	perf_events__free(p);
	close(fd);
}
