/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When events of threads are to become those of CPUs: this process exchanges bytes with another on
 * the same CPU, so that each waits for the other.  How long that took is said by the test.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/perf_events.h"
#include "engine/bpf/switching.h"
#include "nothing.h"
#include "os/os.h"
#include "tap.h"

#define TIMES 20000u
#define OTHER 100u /* switches for other reasons */

static int to[2], from[2];

/* It ends with this process. */
static pid_t other_side(void)
{
	cpu_set_t one;
	pid_t pid;
	char byte;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(to) || pipe(from))
		tap__bail("no pipes");
	pid = fork();
	if (pid)
		return pid;
	close(to[1]);
	while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
		;
	_exit(0);
}

static void exchange(void)
{
	char byte = 'x';

	for (unsigned int i = 0; i < TIMES; i++)
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			tap__bail("the other side is gone");
}

static struct perf_events *open_events(uint32_t freq, int prog_fd)
{
	struct perf_events *events;
	struct errmsg f = {""};
	const char *why;

	if (perf_events__new(&events, freq, prog_fd, &why, &f) ||
	    perf_events__add_process(events, getpid(), &f))
		tap__bail("no events: %s", f.text);
	return events;
}

/* Is it much, if @ms have passed since @s looked last? */
static bool much(struct switching *s, struct perf_events *events, uint64_t ms, uint64_t *rate)
{
	return switching__much(s, events, s->looked_ns + ms * NS_PER_MS, rate);
}

static void seldom_and_often(int prog_fd)
{
	struct perf_events *events = open_events(99, prog_fd);
	struct switching s = {0};
	uint64_t rate = 0;

	exchange();
	tap__ok(!switching__much(&s, events, os__now(), &rate), "what was before counts nothing");
	tap__ok(!much(&s, events, 1000, &rate), "nothing since: no");
	tap__ok(rate < OTHER, "%llu a second", (unsigned long long)rate);
	exchange();
	tap__ok(!much(&s, events, 100, &rate), "it is not looked so soon");
	tap__ok(!much(&s, events, 10000, &rate), "%u in 10 s: no", TIMES);
	exchange();
	tap__ok(much(&s, events, 1000, &rate), "%u in a second: yes", TIMES);
	tap__ok(rate >= TIMES && rate < TIMES + OTHER * TIMES / 1000, "%llu a second",
		(unsigned long long)rate);
	exchange();
	tap__ok(!much(&s, events, 1000, &rate), "it is said once");
	perf_events__free(events);
}

/* Ticks of all CPUs that are more than the switches would not be cheaper. */
static void many_ticks(int prog_fd)
{
	struct perf_events *events = open_events(90000, prog_fd);
	struct switching s = {0};
	uint64_t rate;

	if (perf_events__freq(events) < 2 * TIMES) {
		tap__skip("the kernel allows fewer ticks", "many ticks");
	} else {
		much(&s, events, 1000, &rate);
		exchange();
		tap__ok(!much(&s, events, 1000, &rate), "no, with %u ticks a second",
			perf_events__freq(events));
	}
	perf_events__free(events);
}

TEST(switching)
{
	int fd = nothing__load();
	struct perf_events *events;
	struct errmsg f = {""};
	const char *why;
	pid_t other;

	if (fd < 0 || perf_events__new(&events, 99, fd, &why, &f)) {
		tap__skip("BPF or perf events are not allowed here", "switches");
		return;
	}
	perf_events__free(events);
	other = other_side();
	seldom_and_often(fd);
	many_ticks(fd);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	close(fd);
}
