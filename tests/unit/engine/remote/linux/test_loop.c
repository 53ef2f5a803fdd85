/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engines ptrace and vmread on live processes that hold a made-up stack of R's (r_image.h): at
 * rest, running, forking, starting another program, stopped, traced, or with R on a second thread.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "os/os.h"
#include "os/proc.h"
#include "r_image.h"
#include "tap.h"
#include "target/layouts.h"

#define HEAP_SIZE   (1u << 16)
#define STACK_SIZE  (1u << 16)
#define THREAD_SIZE (1u << 18) /* above the made-up stack: of a thread that has both */

extern const struct engine_ops engine_ptrace, engine_vmread;

static struct image image;
static uint32_t nframes;

/* What came from an engine. */
struct seen {
	unsigned int samples, whole; /* of the pid asked for; with the frames that are right */
	unsigned int others;	     /* samples of other processes */
	unsigned int first;	     /* of its first thread */
	uint32_t tid;		     /* of the last sample */
	unsigned int texts, forks, execs, exits;
	uint32_t pid, child_serial, parent_serial;
	char note[256];
};

static void seen__note(void *arg, const char *line)
{
	struct seen *s = arg;

	snprintf(s->note, sizeof(s->note), "%s", line);
}

static void seen__record(void *arg, const void *record, size_t size)
{
	const struct xr_sample *sample = record;
	const struct xr_process *process = record;
	struct seen *s = arg;

	switch (sample->head.type) {
	case XR_REC_TEXT:
		s->texts++;
		return;
	case XR_REC_SAMPLE:
		if (sample->pid != s->pid)
			s->others++;
		s->samples += sample->pid == s->pid;
		s->first += sample->tid == s->pid;
		s->tid = sample->tid;
		s->whole += sample->nslots == nframes &&
			    size == sizeof(*sample) + nframes * sizeof(struct xr_slot);
		return;
	case XR_REC_PROCESS:
		s->forks += process->event == XR_PROCESS_FORK;
		s->execs += process->event == XR_PROCESS_EXEC;
		s->exits += process->event == XR_PROCESS_EXIT;
		if (process->event == XR_PROCESS_FORK) {
			s->child_serial = process->serial;
			s->parent_serial = process->parent_serial;
		}
	}
}

/* --- processes --- */

enum life { LIFE_REST, LIFE_RUN, LIFE_FORK, LIFE_EXEC, LIFE_THREAD };

struct child {
	pid_t pid;
	int orders; /* a byte written here lets LIFE_FORK and LIFE_EXEC do it */
};

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

struct spin {
	volatile sig_atomic_t runs, ends;
};

/* Compute for ever, or until @arg says that it ends. */
static void *spin(void *arg)
{
	struct spin *s = arg;

	if (s)
		s->runs = 1;
	while (!s || !s->ends)
		;
	return NULL;
}

/*
 * R runs on a second thread, which never waits: one that has the made-up stack.  So does a third,
 * which is not R's.  On an order R's thread ends, and R runs on another one, with that stack.
 */
static void child__threads(void *stack, int ready, int orders)
{
	struct spin others = {0}, rs = {0};
	pthread_attr_t attributes;
	pthread_t other, thread;
	char byte = 1;

	if (pthread_create(&other, NULL, spin, &others) || pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, stack, STACK_SIZE + THREAD_SIZE) ||
	    pthread_create(&thread, &attributes, spin, &rs))
		_exit(3);
	/* the kernel knows where a thread's stack is when it has begun to run */
	while (!others.runs || !rs.runs)
		usleep(1000);
	if (write(ready, &byte, 1) != 1 || read(orders, &byte, 1) != 1)
		_exit(3);
	rs.ends = 1;
	pthread_join(thread, NULL);
	if (pthread_create(&thread, &attributes, spin, NULL))
		_exit(3);
	rest(NULL);
}

static void child__live(enum life life, int ready, int orders)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	void *heap = (void *)(uintptr_t)IMAGE_HEAP_AT;
	void *stack = (void *)(uintptr_t)IMAGE_STACK_AT;
	const pid_t parent = getpid();
	char byte = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mmap(heap, HEAP_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0) != heap ||
	    mmap(stack, STACK_SIZE + THREAD_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0) != stack)
		_exit(2);
	memcpy(heap, image.heap, HEAP_SIZE);
	memcpy(stack, image.stack, STACK_SIZE);
	if (life == LIFE_THREAD)
		child__threads(stack, ready, orders);
	if (write(ready, &byte, 1) != 1)
		_exit(4);
	if (life == LIFE_RUN)
		spin(NULL);
	if ((life == LIFE_FORK || life == LIFE_EXEC) && read(orders, &byte, 1) != 1)
		_exit(5);
	if (life == LIFE_FORK && !fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* which has ended before that */
			_exit(6);
	}
	if (life == LIFE_EXEC)
		execlp("sleep", "sleep", "1000", NULL);
	rest(NULL);
}

static struct child child__start(enum life life)
{
	struct child c;
	int ready[2], orders[2];
	char byte;

	tap__bail_if(pipe2(ready, O_CLOEXEC) || pipe2(orders, O_CLOEXEC), "no pipe");
	fflush(stdout);
	c.pid = fork();
	tap__bail_if(c.pid < 0, "no child");
	if (!c.pid) {
		child__live(life, ready[1], orders[0]);
		_exit(1);
	}
	close(ready[1]);
	close(orders[0]);
	c.orders = orders[1];
	tap__bail_if(read(ready[0], &byte, 1) != 1, "the child could not map its memory");
	close(ready[0]);
	return c;
}

static void child__order(const struct child *c)
{
	tap__bail_if(write(c->orders, "x", 1) != 1, "the child does not listen");
}

static void child__end(struct child *c)
{
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->orders);
	c->pid = 0;
}

/* --- engines --- */

struct scene {
	const struct engine_ops *ops;
	struct engine *e;
	struct child child;
	struct xr_row row;
	struct seen seen;
	struct errmsg f;
};

/* Opens the engine and adds a child; 0, or what add returned. */
static int scene__begin(struct scene *s, const struct engine_ops *ops, enum life life,
			enum engine_clock clock, uint32_t flags)
{
	struct engine_config config = {
		.freq = 500,
		.clock = clock,
		.note = seen__note,
		.note_arg = &s->seen,
	};

	*s = (struct scene){.ops = ops, .child = child__start(life)};
	tap__bail_if(ops->open(&s->e, &config, &s->f), "%s", s->f.text);
	s->row = image__row(&image);
	s->row.flags = flags;
	s->row.serial = 7;
	s->row.pid = s->seen.pid = (uint32_t)s->child.pid;
	s->row.start_time = proc__start_time(s->child.pid);
	return ops->add(s->e, &s->row, &s->f);
}

static void scene__end(struct scene *s)
{
	s->ops->stop(s->e);
	s->ops->poll(s->e, 0, seen__record, &s->seen);
	s->ops->close(s->e);
	child__end(&s->child);
}

/* Poll until *@count is @n or more.  The time limit of the case ends what never comes. */
static bool scene__until(struct scene *s, const unsigned int *count, unsigned int n)
{
	while (*count < n)
		s->ops->poll(s->e, 50, seen__record, &s->seen);
	return true;
}

static void samples(const struct engine_ops *ops, enum life life, enum engine_clock clock,
		    const char *what)
{
	uint64_t counts[XR_COUNTERS];
	struct scene s;
	int err = scene__begin(&s, ops, life, clock, 0);
	bool ok = !err && scene__until(&s, &s.seen.whole, 20);

	ops->counters(s.e, counts);
	if (!ok)
		tap__diag("add: %d %s; %u samples, %u whole", err, s.f.text, s.seen.samples,
			  s.seen.whole);
	tap__ok(ok && s.seen.samples == s.seen.whole && s.seen.texts > 0 &&
			counts[XR_WRITTEN] == s.seen.samples &&
			counts[XR_SYMBOLS_SENT] == s.seen.texts &&
			counts[XR_TICKS] >= counts[XR_WRITTEN],
		"%s: %s", ops->name, what);
	scene__end(&s);
}

/* The thread whose state and CPU time count is the one that R runs on. */
static void threads(const struct engine_ops *ops, enum engine_clock clock, const char *what)
{
	struct scene s;
	int err = scene__begin(&s, ops, LIFE_THREAD, clock, 0);
	bool ok = !err && scene__until(&s, &s.seen.whole, 20);
	uint32_t tid = s.seen.tid;

	if (!ok || s.seen.first)
		tap__diag("add: %d %s; %u samples, %u whole, %u of the first thread", err, s.f.text,
			  s.seen.samples, s.seen.whole, s.seen.first);
	tap__ok(ok && s.seen.samples == s.seen.whole && !s.seen.first,
		"%s: R on a thread that is not the first, by %s", ops->name, what);
	child__order(&s.child);
	while (ok && (s.seen.tid == tid || s.seen.tid == s.seen.pid))
		ops->poll(s.e, 50, seen__record, &s.seen);
	tap__ok(ok && s.seen.tid != tid && s.seen.tid != s.seen.pid,
		"%s: and on another when that has ended", ops->name);
	scene__end(&s);
}

static void rows(const struct engine_ops *ops)
{
	struct xr_row other;
	struct scene s;
	int err = scene__begin(&s, ops, LIFE_REST, ENGINE_CLOCK_DEFAULT, 0);
	unsigned int before;

	tap__ok(!err && strstr(s.seen.note, "wall time"), "%s: a note says which time it is",
		ops->name);
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
	ops->remove(s.e, s.row.pid, s.row.serial);
	tap__ok(!ops->holds(s.e, s.row.pid, s.row.serial), "%s: removed", ops->name);
	before = s.seen.samples;
	for (int i = 0; i < 3; i++)
		ops->poll(s.e, 10, seen__record, &s.seen);
	tap__ok(s.seen.samples == before, "%s: what was removed is not sampled", ops->name);
	scene__end(&s);
}

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
			     clock_getcpuclockid(s.child.pid, &cpu),
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

static void limit(const struct engine_ops *ops)
{
	const struct engine_config config = {.freq = 99, .max_processes = 1};
	struct child child = child__start(LIFE_REST);
	struct xr_row other;
	struct scene s;

	scene__begin(&s, ops, LIFE_REST, ENGINE_CLOCK_WALL, 0);
	ops->close(s.e);
	tap__bail_if(ops->open(&s.e, &config, &s.f), "%s", s.f.text);
	other = s.row;
	other.serial = 8;
	other.pid = (uint32_t)child.pid;
	other.start_time = proc__start_time(child.pid);
	tap__ok(!ops->add(s.e, &s.row, &s.f) && ops->add(s.e, &other, &s.f) == -E2BIG &&
			strstr(s.f.text, "limit of 1 process is reached"),
		"%s: there may be one process: %s", ops->name, s.f.text);
	ops->remove(s.e, s.row.pid, s.row.serial);
	tap__ok(!ops->add(s.e, &other, &s.f), "%s: and another when that is removed", ops->name);
	scene__end(&s);
	child__end(&child);
}

static void lives(const struct engine_ops *ops)
{
	struct scene s;
	bool ok;

	scene__begin(&s, ops, LIFE_FORK, ENGINE_CLOCK_WALL, XR_ROW_FOLLOW);
	child__order(&s.child);
	ok = scene__until(&s, &s.seen.forks, 1) && scene__until(&s, &s.seen.others, 5);
	tap__ok(ok && s.seen.parent_serial == 7 && (s.seen.child_serial & 0x80000000u),
		"%s: reports a fork and samples the child", ops->name);
	kill(s.child.pid, SIGKILL); /* the child's child goes with it */
	tap__ok(scene__until(&s, &s.seen.exits, 2) && !ops->holds(s.e, s.row.pid, 7),
		"%s: reports exits", ops->name);
	scene__end(&s);

	scene__begin(&s, ops, LIFE_EXEC, ENGINE_CLOCK_WALL, 0);
	scene__until(&s, &s.seen.whole, 3);
	child__order(&s.child);
	tap__ok(scene__until(&s, &s.seen.execs, 1) && !ops->holds(s.e, s.row.pid, 7),
		"%s: drops a target that starts another program", ops->name);
	scene__end(&s);
}

static void stopped(const struct engine_ops *ops)
{
	struct scene s;
	bool ok;

	scene__begin(&s, ops, LIFE_RUN, ENGINE_CLOCK_WALL, 0);
	ok = scene__until(&s, &s.seen.whole, 3);
	kill(s.child.pid, SIGSTOP);
	while (!strstr(s.seen.note, "is stopped"))
		ops->poll(s.e, 10, seen__record, &s.seen);
	tap__ok(ok && strstr(s.seen.note, "is stopped"), "%s: reports a stopped process",
		ops->name);
	kill(s.child.pid, SIGCONT);
	tap__ok(scene__until(&s, &s.seen.whole, s.seen.whole + 3),
		"%s: it is sampled again when it goes on", ops->name);
	scene__end(&s);
}

/* The engine may hold it just now. */
static bool trace(pid_t pid)
{
	for (int i = 0; i < 1000; i++) {
		if (!ptrace(PTRACE_SEIZE, pid, NULL, NULL))
			return true;
		usleep(100);
	}
	return false;
}

/*
 * Lets what it traces run on, as a debugger does.  It may get the signal of an alarm: the engine
 * lets go of a thread in which one is pending (alarm__clear).
 */
static void tracer__run(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0)
		ptrace(PTRACE_CONT, pid, NULL, (long)(status >> 16 ? 0 : WSTOPSIG(status)));
}

/* The process is traced by a child of ours, as by a debugger. */
static pid_t tracer__start(struct scene *s)
{
	int ready[2];
	ssize_t got;
	pid_t tracer;
	char byte;

	tap__bail_if(pipe2(ready, O_CLOEXEC), "no pipe");
	fflush(stdout);
	tracer = fork();
	if (!tracer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = trace(s->child.pid) ? 'y' : 'n';
		if (write(ready[1], &byte, 1) == 1)
			tracer__run();
		_exit(1);
	}
	close(ready[1]);
	tap__bail_if(tracer < 0 || fcntl(ready[0], F_SETFL, O_NONBLOCK), "no tracer");
	/* the engine may have to let it go first */
	while ((got = read(ready[0], &byte, 1)) < 0 && errno == EAGAIN)
		s->ops->poll(s->e, 10, seen__record, &s->seen);
	tap__bail_if(got != 1, "the tracer ended");
	close(ready[0]);
	if (byte == 'y')
		return tracer;
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	return 0; /* not allowed to trace a sibling here */
}

static void traced(void)
{
	struct scene s;
	pid_t tracer;
	int err;

	err = scene__begin(&s, &engine_ptrace, LIFE_RUN, ENGINE_CLOCK_WALL, 0);
	tracer = err ? 0 : tracer__start(&s);
	if (!tracer) {
		tap__skip("tracing a process of ours is not allowed here", "traced");
		scene__end(&s);
		return;
	}
	tap__ok(scene__until(&s, &s.seen.whole, s.seen.whole + 3),
		"traced: sampled without being stopped");
	engine_ptrace.remove(s.e, s.row.pid, s.row.serial);
	err = engine_ptrace.add(s.e, &s.row, &s.f);
	tap__ok(err == -EBUSY && strstr(s.f.text, "is traced by process"), "traced: %s", s.f.text);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	scene__end(&s);
}

static void gone(const struct engine_ops *ops)
{
	struct scene s;
	struct errmsg f = {""};
	int err;

	scene__begin(&s, ops, LIFE_REST, ENGINE_CLOCK_WALL, 0);
	ops->remove(s.e, s.row.pid, s.row.serial);
	child__end(&s.child);
	err = ops->add(s.e, &s.row, &f);
	tap__ok(err == -ESRCH && f.text[0], "%s: a process that has ended: %s", ops->name, f.text);
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
	rates(ops);
	overdue(ops, ENGINE_CLOCK_WALL, "wall time");
	overdue(ops, ENGINE_CLOCK_CPU, "CPU time");
	limit(ops);
	lives(ops);
	stopped(ops);
	gone(ops);
}

TEST(loop)
{
	image__init(&image, layouts__last(LAYOUTS_X86_64_LINUX), HEAP_SIZE, STACK_SIZE);
	image__forms(&image, 0);
	for (size_t i = 0; i < IMAGE_FORMS; i++)
		nframes += image_forms[i].name != NULL;
	engine(&engine_ptrace);
	engine(&engine_vmread);
	traced();
	busy();
	image__free(&image);
}
