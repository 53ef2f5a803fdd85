/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where threads stop, and threads that stop long after the request: a process that sleeps in
 * vfork(2) cannot be stopped before its child lets it go on.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "engine/remote/linux/alarm.h"
#include "os/os.h"
#include "os/workload.h"
#include "tracer_scene.h"

#define SHORT_NS 1000000

/* Tell the target to stop, which it does not. The tracer does nothing about it. */
static void run__late(struct scene *s)
{
	while (!pid__in_vfork(s->target))
		usleep(1000);
	if (tracees__stop(s->tracees, s->target, s->target, NULL, SHORT_NS) != STOPPED_NOT ||
	    !tracees__late(s->tracees, s->target) ||
	    tracees__stop(s->tracees, s->target, s->target, NULL, SHORT_NS) != STOPPED_NOT)
		_exit(4);
	s->step = 1;
	while (tracees__late(s->tracees, s->target)) /* a signal handler sees to it */
		usleep(10000);
	s->step = 2;
	if (tracees__stop(s->tracees, s->target, s->target, NULL, SCENE_WAIT_NS) != STOPPED)
		_exit(5);
	tracees__let_go(s->tracees);
	s->step = 3;
	while (s->step < 4)
		usleep(1000);
}

static void target__wake(const struct scene *s)
{
	tap__bail_if(write(s->order[1], "x", 1) != 1, "no pipe");
}

TEST(late)
{
	struct scene *s = scene__start(target__sleep, run__late, STDERR_FILENO);

	tap__ok(scene__at(s, 1), "a thread that sleeps does not stop");
	/* longer than a tracer that shows no life may have one */
	sleep(2);
	target__wake(s);
	tap__ok(scene__moves(s), "when it wakes up it runs on");
	tap__ok(scene__at(s, 3), "and can be stopped again");
	s->step = 4;
	tap__ok(!scene__status(s), "the tracer has lived on");
	scene__end(s);
}

TEST(late_end)
{
	struct scene *s = scene__start(target__sleep, run__late, STDERR_FILENO);

	scene__at(s, 1);
	kill(s->target, SIGKILL);
	target__wake(s);
	tap__ok(scene__at(s, 2), "one that ends is late no longer");
	scene__end(s);
}

/* The watchdog sees the tracer's state as late as on a busy machine. */
static bool looks_late;

ssize_t __real_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at)
{
	if (looks_late)
		usleep(20000);
	return __real_pread(fd, to, size, at);
}

/* The target stops after the tracer was stopped, and by then continued by the watchdog. */
TEST(late_and_stopped)
{
	static const unsigned int after_ms[] = {0, 50, 60, 70};

	for (size_t i = 0; i < COUNT(after_ms); i++) {
		struct scene *s;

		looks_late = i > 0;
		s = scene__start(target__sleep, run__late, STDERR_FILENO);
		scene__at(s, 1);
		kill(s->tracer, SIGSTOP);
		usleep(after_ms[i] * 1000);
		target__wake(s);
		tap__ok(scene__moves(s), "%u ms: a stopped tracer lets go what stops late",
			after_ms[i]);
		tap__ok(scene__in_state(s->tracer, 'T'), "%u ms: and stops again", after_ms[i]);
		usleep(100000);
		tap__ok(pid__state(s->tracer) == 'T' && scene__moves(s), "%u ms: and stays so",
			after_ms[i]);
		scene__end(s);
	}
}

/* --- signals --- */

#define SIGNALS 200

static struct scene *signalled; /* a target's, for its handlers */
static pid_t sent_to; /* gets SIGUSR1 between PTRACE_SEIZE and PTRACE_INTERRUPT; 0: none */

/* All callers give four arguments. */
long __real_ptrace(enum __ptrace_request request, pid_t pid, void *addr, void *data);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *addr, void *data);

long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	if (request == PTRACE_INTERRUPT && pid == sent_to)
		/* the tracer is asked about the signal first */
		if (kill(pid, SIGUSR1) || !scene__in_state(pid, 't'))
			_exit(6);
	return __real_ptrace(request, pid, addr, data);
}

static void on_usr1(int signal)
{
	atomic_fetch_add(&signalled->moves, 1);
}

static void target__signals(struct scene *s)
{
	signalled = s;
	signal(SIGUSR1, on_usr1);
	s->step = 1;
	for (;;)
		pause();
}

/* Its step is 1 plus the number of signals that came. */
static void run__signals(struct scene *s)
{
	if (!scene__at(s, 1))
		_exit(4);
	sent_to = s->target;
	for (unsigned long n = 1; n <= SIGNALS; n++) {
		if (tracees__stop(s->tracees, s->target, s->target, NULL, SCENE_WAIT_NS) != STOPPED)
			_exit(5);
		tracees__let_go(s->tracees);
		if (!SCENE__UNTIL(s->moves >= n))
			_exit(7);
	}
}

TEST(signals)
{
	struct scene *s = scene__start(target__signals, run__signals, STDERR_FILENO);
	const int status = scene__status(s);

	tap__ok(!status && s->moves == SIGNALS,
		"a signal that comes before a thread stops is delivered once: %lu of %d", s->moves,
		SIGNALS);
	scene__end(s);
}

/* --- system calls --- */

#ifdef __x86_64__
#define STOPS	  200
#define BATCHES	  200
#define BATCH	  20
#define BY_CHANCE 1e-6 /* at most, a right state fails */

/* What the tracer found, in place of its step. */
enum { STEP_RIGHT = 1, STEP_IN_CALLS, STEP_NO_ALARM };

static void do__work(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

static void do__call(void)
{
	syscall(SYS_getppid);
}

/* Short system calls, with some work between them. */
static void target__calls(struct scene *s)
{
	for (;;) {
		do__work();
		do__call();
		atomic_fetch_add(&s->moves, 1);
	}
}

/* What one takes, ns, in the fastest batch. */
static double cost__of(void (*what)(void))
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < BATCHES; i++) {
		const uint64_t began = os__now();
		uint64_t took;

		for (int k = 0; k < BATCH; k++)
			what();
		took = os__now() - began;
		least = took < least ? took : least;
	}
	return (double)least / BATCH;
}

/* The most stops in calls that are there by chance, if calls take their share of the time. */
static int calls__most(void)
{
	const double call = cost__of(do__call), work = cost__of(do__work);
	/* between work a call takes longer than among calls */
	const double share = 2 * call / (call + work);
	double exactly = 1, more = 1; /* the probability of @most stops, and of more (binomial) */
	int most = 0;

	for (int i = 0; i < STOPS; i++)
		exactly *= 1 - share;
	for (; most < STOPS && (more -= exactly) > BY_CHANCE; most++)
		exactly *= (double)(STOPS - most) / (most + 1) * share / (1 - share);
	tap__diag("calls take %.1f %% of the time: at most %d of %d stops", 50 * share, most,
		  STOPS);
	return most;
}

/* A stop is of the moment of its alarm: in a call as often as calls take time. */
static void run__alarm(struct scene *s)
{
	const int most = calls__most();
	int step, in_calls = 0;
	struct alarm alarm;

	alarm__init(&alarm, s->target, s->target);
	for (int i = 0; i < STOPS && !alarm.err; i++) {
		if (tracees__stop(s->tracees, s->target, s->target, &alarm, SCENE_WAIT_NS) !=
		    STOPPED)
			_exit(6);
		if (ptrace(PTRACE_PEEKUSER, s->target, offsetof(struct user, regs.orig_rax),
			   NULL) >= 0)
			in_calls++;
		tracees__let_go(s->tracees);
		usleep(500);
	}
	tap__diag("%d were", in_calls);
	step = alarm.err ? STEP_NO_ALARM : in_calls > most ? STEP_IN_CALLS : STEP_RIGHT;
	alarm__close(&alarm);
	s->step = step;
	while (s->step < 9)
		usleep(1000);
}

/* A handler for the signal that is mostly used, which an alarm must not run. */
static void on_signal(int signal)
{
	signalled->errors = -1;
}

static void target__handles(struct scene *s)
{
	signalled = s;
	signal(SIGURG, on_signal);
	target__calls(s);
}

TEST(alarm)
{
	struct scene *s = scene__start(target__calls, run__alarm, STDERR_FILENO);
	bool came = scene__at(s, STEP_RIGHT);

	if (s->step == STEP_NO_ALARM)
		tap__skip("perf_event_open", "an alarm is not allowed here");
	else
		tap__ok(came && s->step == STEP_RIGHT,
			"an alarm stops a thread in calls as often as they take time");
	tap__ok(scene__moves(s), "which runs on");
	scene__end(s);

	s = scene__start(target__handles, run__alarm, STDERR_FILENO);
	tap__ok(scene__at(s, STEP_RIGHT) && s->errors != -1,
		"the target's signal handler does not run");
	tap__ok(scene__moves(s), "and it runs on");
	scene__end(s);
}

/* A wait that the kernel does not restart, over and over. */
static void target__waits(struct scene *s)
{
	struct epoll_event event;
	int ep = epoll_create1(0);

	for (;;) {
		if (epoll_wait(ep, &event, 1, 2) < 0)
			s->errors = -1;
		atomic_fetch_add(&s->moves, 1);
	}
}

static void run__interrupt(struct scene *s)
{
	for (int i = 0; i < STOPS; i++) {
		if (tracees__stop(s->tracees, s->target, s->target, NULL, SCENE_WAIT_NS) != STOPPED)
			_exit(7);
		tracees__let_go(s->tracees);
		usleep(500);
	}
	s->step = 1;
	while (s->step < 9)
		usleep(1000);
}

TEST(interrupt)
{
	struct scene *s = scene__start(target__waits, run__interrupt, STDERR_FILENO);

	tap__ok(scene__at(s, 1) && scene__moves(s), "a thread that waits can be stopped");
	tap__ok(s->errors != -1, "and its waits do not fail by it");
	scene__end(s);
}
#endif

/* --- a workload, which is a child of the tracer --- */

/* Sleep until argv[1] has something to read, then exit with status 42. */
PROGRAM(tracee_sleeps)
{
	volatile pid_t pid = vfork();
	int fd;
	char byte;

	if (!pid) {
		fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
		_exit(fd < 0 || read(fd, &byte, 1) != 1);
	}
	return 42;
}

TEST(workload)
{
	const char *path = tap__path("fifo");
	char *argv[] = {(char *)"/proc/self/exe", (char *)"-x", (char *)"tracee_sleeps",
			(char *)path, NULL};
	char text[128] = "";
	struct signals *signals = NULL;
	struct tracees *ts = NULL;
	struct workload w;
	struct errmsg f;
	int fd;

	tap__bail_if(mkfifo(path, 0600) || signals__open(&signals, &f) || tracees__open(&ts, &f) ||
			     workload__start(&w, argv, true, NULL, signals, &f) ||
			     workload__go(&w, &f),
		     "no workload: %s", f.text);
	tap__ok(SCENE__UNTIL(pid__in_vfork(w.pid)) &&
			tracees__stop(ts, w.pid, w.pid, NULL, SHORT_NS) == STOPPED_NOT,
		"a workload that sleeps does not stop");
	tap__ok(!workload__ended(&w), "it has not ended");
	fd = open(path, O_WRONLY);
	tap__bail_if(write(fd, "x", 1) != 1, "no fifo");
	close(fd);
	tap__ok(SCENE__UNTIL(workload__ended(&w)), "a stop that comes late is not its end");
	tap__ok(workload__result(&w, text, sizeof(text)) && !strcmp(text, "exited with status 42"),
		"the result is its exit status: %s", text);
	tap__ok(SCENE__UNTIL(!tracees__late(ts, w.pid)), "it is late no longer");
	workload__close(&w);
	tracees__close(ts);
	signals__close(signals);
}

/* One that ends while it is waited for. */
TEST(gone)
{
	struct tracees *ts = NULL;
	struct errmsg f;
	siginfo_t info;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(7);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	tap__bail_if(pid < 0 || tracees__open(&ts, &f), "no child");
	tracees__await(ts);
	tap__ok(tracees__stop(ts, pid, pid, NULL, SHORT_NS) < 0,
		"what has ended cannot be stopped");
	tap__ok(waitpid(pid, NULL, 0) == pid, "and is its parent's to collect");
	tracees__close(ts);
}
