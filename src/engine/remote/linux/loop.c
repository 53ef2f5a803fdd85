/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "engine/remote/linux/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/remote/linux/watchdog.h"
#include "os/linux/priority.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"

#define BUSY_NS (100 * NS_PER_MS) /* without a wait; then it rests for a quarter of that time */

#define PROVE_EACH 64u	  /* ticks between two looks for R's thread, where it was not found */
#define KEYS_MAX   64u	  /* by which it is found */
#define OFF_CPU_NS 100000 /* less CPU time counts as none */

static const struct remote_targets_ops target_ops;

struct remote_native *remote_loop__native(struct engine *e, const struct loop_target *t)
{
	const struct xr_row *row = &t->base.row;

	return row->flags & XR_ROW_NATIVE && row->space_stamp ? e->targets.native : NULL;
}

bool remote_loop__off_cpu(const struct engine *e, struct loop_target *t)
{
	uint64_t now;

	return e->config.clock == ENGINE_CLOCK_CPU && !remote_thread__cpu_time(&t->thread, &now) &&
	       now - t->ticks.cpu_time < OFF_CPU_NS;
}

uint64_t remote_loop__share(const struct engine *e)
{
	return NS_PER_S / e->config.freq / (e->targets.n ? e->targets.n : 1);
}

bool remote_loop__has_time(const struct engine *e, uint64_t ns)
{
	return os__now() - e->ticked + ns <= NS_PER_S / e->config.freq / 4 * 3;
}

int remote_loop__open(struct engine **out, const struct engine_config *config,
		      const struct remote_kind *kind, const char *name, struct errmsg *f)
{
	struct engine *e;
	int err;

	e = calloc(1, sizeof(*e));
	if (!e)
		return errmsg__set(f, -ENOMEM, "out of memory");
	e->config = *config;
	remote_targets__open(&e->targets, &target_ops, config);
	e->kind = kind;
	e->timer = -1;
	err = kind->begin(e, f);
	if (err)
		goto failed;
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (e->timer < 0) {
		err = errmsg__set(f, -errno, "cannot create a timer: %s", strerror(errno));
		goto failed;
	}
	e->priority_raised = priority__raise();
	e->waited = os__now();
	e->name = name;
	*out = e;
	return 0;

failed:
	remote_loop__close(e);
	return err;
}

static struct loop_target *target__of(struct remote_target *t)
{
	return (struct loop_target *)t;
}

static void target__free(struct remote_target *base)
{
	struct loop_target *t = target__of(base);

	remote_thread__close(&t->thread);
	if (t->pidfd >= 0)
		close(t->pidfd);
	free(t);
}

int remote_loop__target(struct engine *e, const struct xr_row *row, struct loop_target **out,
			struct errmsg *f)
{
	struct loop_target *t = calloc(1, sizeof(*t));
	struct mem_reader reader;
	struct proc proc;
	int err;

	if (!t)
		return errmsg__set(f, -ENOMEM, "out of memory");
	t->pid = (pid_t)row->pid;
	t->ticks.counted = TICKS_BEFORE;
	t->stack_top = row->flags & XR_ROW_NATIVE && !proc__read(t->pid, &proc) ? proc.stack : 0;
	t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	err = remote_thread__open(&t->thread, t->pid);
	if (err) {
		errmsg__set(f, err, "process %d: cannot read /proc/%d/task: %s", (int)t->pid,
			    (int)t->pid, strerror(-err));
		goto cleanup;
	}
	reader = proc__reader(t->pid);
	err = remote_targets__init(&e->targets, &t->base, row, &reader, f);
	if (err)
		goto cleanup;
	*out = t;
	return 0;

cleanup:
	target__free(&t->base);
	return err;
}

static int engine__arm(struct engine *e, uint64_t period)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(period / NS_PER_S),
			     .tv_nsec = (int64_t)(period % NS_PER_S)},
	};

	when.it_interval = when.it_value;
	e->armed = period != 0;
	return timerfd_settime(e->timer, 0, &when, NULL) ? -errno : 0;
}

void remote_loop__reads(const struct engine *e, pid_t pid)
{
	watchdog__read(e->watchdog, pid);
}

void remote_loop__has_read(const struct engine *e)
{
	watchdog__read_done(e->watchdog);
}

static int engine__add(struct engine *e, const struct xr_row *row, struct errmsg *f)
{
	struct loop_target *t;
	int err;

	if (remote_targets__find(&e->targets, row->pid))
		return errmsg__set(f, -EEXIST, "process %u is already being sampled", row->pid);
	err = remote_loop__target(e, row, &t, f);
	if (err)
		return err;
	remote_children__mark(t);
	err = e->kind->check(e, t, f);
	remote_targets__put(&e->targets.first, &t->base);
	if (err) {
		remote_targets__drop(&e->targets, &e->targets.first);
		return err;
	}
	if (e->armed)
		return 0;
	if (e->config.clock == ENGINE_CLOCK_DEFAULT)
		engine__note(&e->config,
			     "engine %s samples wall time, which includes waiting; for CPU "
			     "time only: --clock cpu",
			     e->name);
	err = engine__arm(e, NS_PER_S / e->config.freq);
	return err ? errmsg__set(f, err, "cannot set a timer: %s", strerror(-err)) : 0;
}

int remote_loop__add(struct engine *e, const struct xr_row *row, struct errmsg *f)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	int err;

	remote_loop__reads(e, (pid_t)row->pid);
	err = engine__add(e, row, f);
	remote_loop__has_read(e);
	rights__lower(raised);
	return err;
}

static void target__count(struct engine *e, struct loop_target *t, int result, uint32_t ticks)
{
	struct remote_report *report = &e->targets.report;
	static const char unnamed[16];
	struct remote_native *native;

	remote_report__sample(report, t->base.walk, t->base.row.pid, (uint32_t)t->thread.tid,
			      result, ticks);
	native = result < 0 ? NULL : remote_walk__native(t->base.walk);
	if (native && remote_native__unknown(native, &t->base.row, os__now()))
		remote_report__process(report, &t->base.row, XR_PROCESS_UNMAPPED, NULL, unnamed);
}

/*
 * The look ahead that each sample begins with.  It tells whether R runs on another thread than it
 * was taken to; then that one is looked for, and *@state is its.
 */
static int target__ahead(struct loop_target *t, struct remote_state *state)
{
	uint64_t keys[KEYS_MAX];
	int result;

	remote_walk__stack(t->base.walk, t->thread.low, t->thread.high);
	result = remote_walk__ahead(t->base.walk);
	if (!remote_walk__elsewhere(t->base.walk))
		return result;
	t->thread.proven = false;
	if (t->base.prove_in) {
		t->base.prove_in--;
		return result;
	}
	remote_thread__prove(&t->thread, keys, remote_walk__keys(t->base.walk, keys, KEYS_MAX));
	if (!t->thread.proven)
		t->base.prove_in = PROVE_EACH;
	return remote_thread__look(&t->thread, state) ? -XR_EXITING : result;
}

/* --clock cpu: no sample is due of the thread whose time is counted.  Is it R's? */
static void target__watch(struct loop_target *t, struct remote_state *state)
{
	if (!t->thread.high || (t->thread.proven && t->watch_in-- > 0))
		return;
	t->watch_in = PROVE_EACH;
	target__ahead(t, state);
}

static bool target__late(struct engine *e, const struct loop_target *t)
{
	return e->kind->late && e->kind->late(e, t);
}

/*
 * Stopped by SIGSTOP or a debugger: it is left so, and not sampled.  @late: it was late before the
 * look at its @state, and may have been let go since.
 */
static bool target__held(struct engine *e, struct loop_target *t, char state, bool late)
{
	bool held = (state == 'T' || state == 't') && !late;

	if (held && !t->said_stopped)
		engine__note(&e->config,
			     "process %d is stopped, by a signal or a debugger: sampling "
			     "resumes when it continues",
			     (int)t->pid);
	t->said_stopped = held;
	return held;
}

/* A thread that has just ended is not reported. */
static void target__no_clock(struct engine *e, struct loop_target *t, int err)
{
	if (err == -ESRCH)
		return;
	if (!t->said_clock)
		engine__note(
			&e->config,
			"cannot count the CPU time of process %d (perf_event_open: %s): time in "
			"which it is ready to run but has no CPU is sampled, too",
			(int)t->pid, strerror(-err));
	t->said_clock = true;
}

static void target__count_due(struct engine *e, struct loop_target *t, int result, uint64_t due)
{
	if (due > TICKS_MAX)
		e->targets.report.counts[XR_MISSED] += due - TICKS_MAX;
	target__count(e, t, result, due > TICKS_MAX ? TICKS_MAX : (uint32_t)due);
}

static int64_t engine__period(const struct engine *e)
{
	return NS_PER_S / e->config.freq;
}

/*
 * How many samples are due?  Of CPU time they are looked at when the timer ticks; where it cannot
 * be counted exactly, one is due whenever the thread runs or is ready to.
 */
static uint64_t target__due(struct engine *e, struct loop_target *t, char state)
{
	int64_t due;

	e->targets.report.counts[XR_MISSED] -= e->targets.missed;
	if (e->config.clock != ENGINE_CLOCK_CPU)
		return ticks__due_wall(&t->ticks, e->targets.missed);
	due = ticks__due_cpu(&t->ticks, &t->thread, engine__period(e));
	if (due >= 0)
		return (uint64_t)due;
	target__no_clock(e, t, (int)due);
	return state == 'R';
}

/* How many more, after the read that began at @began? */
static uint64_t target__due_meanwhile(struct engine *e, struct loop_target *t, uint64_t began)
{
	if (e->config.clock == ENGINE_CLOCK_CPU)
		return ticks__meanwhile_cpu(&t->ticks, &t->thread, engine__period(e));
	return ticks__meanwhile_wall(&t->ticks, os__now() - began, e->config.freq);
}

/*
 * Native frames of a thread that waits in a system call: where it is the kernel says.  Nothing is
 * known of its other registers, which most frames do not need.
 */
static void target__at_call(struct loop_target *t, struct remote_native *native,
			    const struct remote_state *before)
{
	struct remote_regs regs = {.pc_mask = remote_thread__pc_mask()};
	struct remote_state after;

	if (remote_thread__waits(&t->thread, &regs.pc, &regs.sp))
		return;
	regs.top = t->thread.tid == t->pid ? t->stack_top : 0;
	if (!regs.top)
		return;
	remote_walk__finish_native(t->base.walk, native, &regs);
	if (remote_thread__look(&t->thread, &after) || after.runs != before->runs)
		remote_walk__again(t->base.walk);
}

/* The thread waits: 0 or more, or -enum xr_error. */
static int target__waits(struct engine *e, struct loop_target *t, const struct remote_state *before)
{
	struct remote_native *native = e->kind->native ? remote_loop__native(e, t) : NULL;
	struct remote_state now = *before;
	int result;

	if (!native)
		return 0;
	target__at_call(t, native, before);
	if (!e->config.whole || before->state == 'D' ||
	    (remote_walk__native(t->base.walk) &&
	     !(remote_native__flags(native) & XR_F_NATIVE_CUT)))
		return 0;
	result = remote_walk__ahead(t->base.walk);
	t->stop_waiting = true;
	if (result != -XR_EXITING)
		result = e->kind->look(e, t, &now);
	t->stop_waiting = false;
	return result == LOOP_LATER ? -XR_TORN : result;
}

/*
 * What could not be read may just have been taken down, by an exit or by an exec.  The memory goes
 * some time before the process does.
 */
static bool target__leaves(const struct loop_target *t)
{
	return remote_thread__ending(&t->thread) || !remote_children__stays(t);
}

/* Returns what became of the sample, or 0: none was due. */
static int target__read(struct engine *e, struct loop_target *t)
{
	const bool late = target__late(e, t);
	struct remote_state before = {.state = 'R'}, after;
	const uint64_t began = os__now();
	uint64_t due;
	bool idle;
	int result;

	if (remote_thread__look(&t->thread, &before)) {
		target__count(e, t, -XR_EXITING, 1);
		return 0;
	}
	if (!e->config.stopped && target__held(e, t, before.state, late))
		return 0;
	due = target__due(e, t, before.state);
	if (!due) {
		target__watch(t, &before);
		return 0;
	}
	idle = t->thread.proven && before.state != 'R';
	result = target__ahead(t, &before);
	idle = idle && !remote_walk__elsewhere(t->base.walk);
	/*
	 * What does not run does not change, and need not be stopped.  But a thread is shown as
	 * waiting from just before it leaves the CPU on, and may find that it need not wait.
	 */
	if (idle)
		idle = result >= 0 && !remote_thread__look(&t->thread, &after) &&
		       after.runs == before.runs && after.state == before.state;
	if (!idle)
		before.state = 'R';
	if (!idle && result != -XR_EXITING)
		result = e->kind->look(e, t, &before);
	if (result == LOOP_LATER) {
		ticks__later(&t->ticks, due, engine__period(e));
		return 0;
	}
	if (before.state != 'R' && result >= 0)
		result = target__waits(e, t, &before);
	if (result >= 0)
		result = remote_walk__finish(t->base.walk);
	if (e->kind->native && remote_loop__native(e, t) && !remote_walk__native(t->base.walk))
		remote_walk__no_native(t->base.walk);
	if (result < 0 && result != -XR_NO_R_FRAMES && target__leaves(t))
		result = -XR_EXITING;
	due += target__due_meanwhile(e, t, began);
	target__count_due(e, t, result, e->config.whole ? 1 : due);
	return result;
}

/* One tick of one target. */
static void target__sample(struct engine *e, struct remote_target *base)
{
	struct loop_target *t = target__of(base);
	int result;

	if (e->config.whole && !remote_loop__native(e, t))
		return;
	remote_loop__reads(e, t->pid);
	result = target__read(e, t);
	remote_loop__has_read(e);
	if (e->config.whole && result == -XR_NO_R_FRAMES)
		remote_others__sample(e, t, t->thread.tid);
	if (e->config.threads)
		remote_others__each(e, t);
}

/*
 * A real-time engine that cannot keep up and never waits takes the CPU from all others.  At
 * ordinary priority, beside very many threads, it would get no CPU in the middle of a sample.
 */
static void engine__rest(struct engine *e)
{
	const uint64_t now = os__now(), busy = now - e->waited;
	const struct timespec rest = {.tv_sec = (time_t)(busy / 4 / NS_PER_S),
				      .tv_nsec = (long)(busy / 4 % NS_PER_S)};
	struct rusage use = {0};

	if (!e->priority_raised)
		return;
	getrusage(RUSAGE_THREAD, &use);
	if (use.ru_nvcsw == e->waits && busy >= BUSY_NS)
		nanosleep(&rest, NULL);
	else if (use.ru_nvcsw == e->waits)
		return;
	e->waits = use.ru_nvcsw;
	e->waited = now;
}

static bool engine__due(struct engine *e, uint64_t *missed)
{
	uint64_t passed;

	engine__rest(e);
	if (read(e->timer, &passed, sizeof(passed)) != sizeof(passed))
		return false;
	*missed = passed - 1;
	e->ticked = os__now();
	return true;
}

static int engine__wait(struct engine *e, uint64_t now, uint64_t end)
{
	struct pollfd pfd = {.fd = e->timer, .events = POLLIN};

	return poll(&pfd, 1, (int)((end - now + NS_PER_MS - 1) / NS_PER_MS)) < 0 ? -errno : 0;
}

static const struct remote_targets_ops target_ops = {
	.due = engine__due,
	.sample = target__sample,
	.check = remote_children__check,
	.follow = remote_children__follow,
	.wait = engine__wait,
	.free = target__free,
};

int remote_loop__fd(struct engine *e)
{
	return e->timer;
}

/* What comes now, the writing of a profile, is not to be on time, and may take long. */
static void engine__lower(struct engine *e)
{
	if (e->priority_raised)
		priority__lower();
	e->priority_raised = false;
}

void remote_loop__stop(struct engine *e)
{
	remote_targets__stop(e);
	engine__arm(e, 0);
	engine__lower(e);
}

int remote_loop__set_freq(struct engine *e, uint32_t freq, struct errmsg *f)
{
	int err;

	e->config.freq = freq;
	err = e->armed ? engine__arm(e, NS_PER_S / freq) : 0;
	return err ? errmsg__set(f, err, "cannot set a timer: %s", strerror(-err)) : 0;
}

void remote_loop__close(struct engine *e)
{
	if (!e)
		return;
	remote_targets__close(&e->targets);
	remote_children__free(&e->children);
	e->kind->end(e);
	if (e->timer >= 0)
		close(e->timer);
	engine__lower(e);
	free(e);
}
