/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engines ptrace and vmread on live processes: at rest, running, forking, starting another
 * program, stopped, traced, or with R on a second thread.
 */
#define _GNU_SOURCE
#include "loop_scene.h"

static void samples(const struct engine_ops *ops, enum life life, enum engine_clock clock,
		    const char *what)
{
	uint64_t counts[XR_COUNTERS];
	struct scene s;

	scene__begin(&s, ops, life, clock, 0);
	scene__until(&s, &s.seen.whole, 20);
	ops->counters(s.e, counts);
	tap__ok(s.seen.samples == s.seen.whole && s.seen.texts > 0 &&
			counts[XR_WRITTEN] == s.seen.samples &&
			counts[XR_SYMBOLS_SENT] == s.seen.texts &&
			counts[XR_TICKS] >= counts[XR_WRITTEN],
		"%s: %s: %u samples, %u whole", ops->name, what, s.seen.samples, s.seen.whole);
	scene__end(&s);
}

/* The thread whose state and CPU time count is the one that R runs on. */
static void threads(const struct engine_ops *ops, enum engine_clock clock, const char *what)
{
	struct scene s;
	uint32_t tid;

	scene__begin(&s, ops, LIFE_THREAD, clock, 0);
	scene__until(&s, &s.seen.whole, 20);
	tid = s.seen.tid;
	tap__ok(s.seen.samples == s.seen.whole && !s.seen.first,
		"%s: R on a thread that is not the first, by %s: %u samples, %u whole, %u of the "
		"first thread",
		ops->name, what, s.seen.samples, s.seen.whole, s.seen.first);
	target__order(&s.target);
	while (s.seen.tid == tid || s.seen.tid == s.seen.pid)
		ops->poll(s.e, 50, seen__record, &s.seen);
	tap__ok(true, "%s: and on another when that has ended", ops->name);
	scene__end(&s);
}

static void rows(const struct engine_ops *ops)
{
	struct target another = target__start(LIFE_REST);
	struct xr_row other, third;
	struct scene s;
	unsigned int before;

	scene__begin(&s, ops, LIFE_REST, ENGINE_CLOCK_DEFAULT, 0);
	tap__ok(strstr(s.seen.note, "wall time"), "%s: a note says which time it is", ops->name);
	tap__ok(ops->add(s.e, &s.row, &s.f) == -EEXIST && strstr(s.f.text, "already being sampled"),
		"%s: a process is added once", ops->name);
	other = s.row;
	other.serial++;
	tap__ok(!ops->update(s.e, &s.row) && ops->update(s.e, &other) == -ESRCH,
		"%s: a row is updated by its serial", ops->name);
	ops->remove(s.e, s.row.pid, other.serial);
	tap__ok(ops->holds(s.e, s.row.pid, s.row.serial) &&
			!ops->holds(s.e, s.row.pid, other.serial),
		"%s: nothing is removed under another serial", ops->name);
	other.pid = (uint32_t)another.pid;
	other.start_time = proc__start_time(another.pid);
	third = other;
	third.pid = (uint32_t)getpid();
	tap__ok(!ops->add(s.e, &other, &s.f) && ops->add(s.e, &third, &s.f) == -E2BIG &&
			strstr(s.f.text, "limit of 2 processes is reached"),
		"%s: there may be two processes: %s", ops->name, s.f.text);
	ops->remove(s.e, other.pid, other.serial);
	tap__ok(!ops->add(s.e, &other, &s.f), "%s: and another when one is removed", ops->name);
	ops->remove(s.e, s.row.pid, s.row.serial);
	tap__ok(!ops->holds(s.e, s.row.pid, s.row.serial), "%s: removed", ops->name);
	before = s.seen.samples;
	for (int i = 0; i < 3; i++)
		ops->poll(s.e, 10, seen__record, &s.seen);
	tap__ok(s.seen.samples == before, "%s: what was removed is not sampled", ops->name);
	target__end(&s.target);
	s.f.text[0] = '\0';
	tap__ok(ops->add(s.e, &s.row, &s.f) == -ESRCH && s.f.text[0],
		"%s: a process that has ended: %s", ops->name, s.f.text);
	scene__end(&s);
	target__end(&another);
}

static void lives(const struct engine_ops *ops)
{
	struct scene s;

	scene__begin(&s, ops, LIFE_FORK, ENGINE_CLOCK_WALL, XR_ROW_FOLLOW);
	target__order(&s.target);
	tap__ok(scene__until(&s, &s.seen.forks, 1) && scene__until(&s, &s.seen.others, 5) &&
			s.seen.fork.parent_serial == 7 && s.seen.fork.serial & 0x80000000u,
		"%s: reports a fork and samples the child", ops->name);
	kill(s.target.pid, SIGKILL); /* the child's child goes with it */
	tap__ok(scene__until(&s, &s.seen.exits, 2) && !ops->holds(s.e, s.row.pid, 7),
		"%s: reports exits", ops->name);
	scene__end(&s);

	scene__begin(&s, ops, LIFE_EXEC, ENGINE_CLOCK_WALL, 0);
	scene__until(&s, &s.seen.whole, 3);
	target__order(&s.target);
	tap__ok(scene__until(&s, &s.seen.execs, 1) && !ops->holds(s.e, s.row.pid, 7),
		"%s: drops a target that starts another program", ops->name);
	scene__end(&s);
}

static void stopped(const struct engine_ops *ops)
{
	struct scene s;

	scene__begin(&s, ops, LIFE_RUN, ENGINE_CLOCK_WALL, 0);
	scene__until(&s, &s.seen.whole, 3);
	kill(s.target.pid, SIGSTOP);
	while (!strstr(s.seen.note, "is stopped"))
		ops->poll(s.e, 10, seen__record, &s.seen);
	tap__ok(true, "%s: reports a stopped process", ops->name);
	kill(s.target.pid, SIGCONT);
	tap__ok(scene__until(&s, &s.seen.whole, s.seen.whole + 3),
		"%s: it is sampled again when it goes on", ops->name);
	scene__end(&s);
}

/*
 * Trace the target, which the engine may hold just now, and let it run on, as a debugger does.  It
 * may get the signal of an alarm: the engine lets go of a thread in which one is pending
 * (alarm__clear).
 */
static void tracer__run(int ready, void *arg)
{
	const struct scene *s = arg;
	int status;
	pid_t pid;

	for (int i = 0; ptrace(PTRACE_SEIZE, s->target.pid, NULL, NULL); i++) {
		if (i == 1000)
			_exit(1);
		usleep(100);
	}
	if (write(ready, "", 1) != 1)
		_exit(1);
	while ((pid = waitpid(-1, &status, __WALL)) > 0)
		ptrace(PTRACE_CONT, pid, NULL, (long)(status >> 16 ? 0 : WSTOPSIG(status)));
}

/* By a child of ours, as by a debugger. */
static void traced(void)
{
	struct scene s;
	pid_t tracer;
	int err;

	scene__begin(&s, &engine_ptrace, LIFE_RUN, ENGINE_CLOCK_WALL, 0);
	scene__until(&s, &s.seen.whole, 3);
	tracer = child__start(tracer__run, &s);
	if (tracer < 0) {
		tap__skip("tracing a process of ours is not allowed here", "traced");
		scene__end(&s);
		return;
	}
	tap__ok(scene__until(&s, &s.seen.whole, s.seen.whole + 3),
		"traced: sampled without being stopped");
	engine_ptrace.remove(s.e, s.row.pid, s.row.serial);
	err = engine_ptrace.add(s.e, &s.row, &s.f);
	tap__ok(err == -EBUSY && strstr(s.f.text, "is traced by process"), "traced: %s", s.f.text);
	child__end(tracer);
	scene__end(&s);
}

static void engine(const struct engine_ops *ops)
{
	samples(ops, LIFE_REST, ENGINE_CLOCK_WALL, "a process at rest");
	samples(ops, LIFE_RUN, ENGINE_CLOCK_WALL, "one that runs");
	samples(ops, LIFE_RUN, ENGINE_CLOCK_CPU, "one that runs, by its CPU time");
	threads(ops, ENGINE_CLOCK_WALL, "wall time");
	threads(ops, ENGINE_CLOCK_CPU, "its CPU time");
	rows(ops);
	lives(ops);
	stopped(ops);
}

TEST(loop)
{
	image__make();
	engine(&engine_ptrace);
	engine(&engine_vmread);
	traced();
	image__free(&image);
}
