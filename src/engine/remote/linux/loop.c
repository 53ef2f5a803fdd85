/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/linux/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/remote/linux/children.h"
#include "os/linux/priority.h"
#include "os/os.h"
#include "os/proc.h"

#define SCAN_MS	   20  /* between two looks for children, and for other programs by exec */
#define PROVE_EACH 64u /* samples between two looks for R's thread */

struct engine {
	struct engine_config config;
	const struct remote_kind *kind;
	const char *name;
	struct remote_target *targets;
	struct remote_children family;
	struct remote_report report;
	uint64_t scanned;
	int timer;
	int stops; /* SIGCHLD: a thread has stopped */
	int both;  /* epoll of these two */
	bool armed, stopped;
	bool priority_raised;
	sigset_t old_mask;
};

struct remote_report *remote_loop__report(struct engine *e)
{
	return &e->report;
}

static int engine__descriptors(struct engine *e)
{
	struct epoll_event in = {.events = EPOLLIN};
	sigset_t child;

	/* SIGCHLD tells of stops, and is waited for instead of handled */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &e->old_mask);
	e->stops = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	e->both = epoll_create1(EPOLL_CLOEXEC);
	if (e->stops < 0 || e->timer < 0 || e->both < 0 ||
	    epoll_ctl(e->both, EPOLL_CTL_ADD, e->stops, &in) ||
	    epoll_ctl(e->both, EPOLL_CTL_ADD, e->timer, &in))
		return -errno;
	return 0;
}

int remote_loop__open(struct engine **out, const struct engine_config *config,
		      const struct remote_kind *kind, const char *name, struct errmsg *f)
{
	struct engine *e;
	int err;

	err = kind->usable(f);
	if (err)
		return err;
	e = calloc(1, sizeof(*e));
	if (!e)
		return errmsg__set(f, -ENOMEM, "out of memory");
	e->config = *config;
	remote_report__open(&e->report, config);
	e->kind = kind;
	err = engine__descriptors(e);
	if (err) {
		errmsg__set(f, err, "cannot make a timer: %s", strerror(-err));
		remote_loop__close(e);
		return err;
	}
	e->priority_raised = priority__raise();
	e->name = name;
	*out = e;
	return 0;
}

static void target__free(struct engine *e, struct remote_target *t)
{
	remote_report__free_walk(&e->report, t->walk);
	remote_thread__close(&t->thread);
	if (t->pidfd >= 0)
		close(t->pidfd);
	free(t);
}

static struct remote_target **engine__find(struct engine *e, uint32_t pid)
{
	struct remote_target **at;

	for (at = &e->targets; *at; at = &(*at)->next)
		if ((*at)->row.pid == pid && !(*at)->dropped)
			return at;
	return NULL;
}

/* A target of @row, not in the list yet.  A negative errno: *@f says why, if it is not NULL. */
static int target__new(struct engine *e, const struct xr_row *row, struct remote_target **out,
		       struct errmsg *f)
{
	struct remote_target *t = calloc(1, sizeof(*t));
	struct mem_reader reader;
	int err;

	if (!t)
		return errmsg__set(f, -ENOMEM, "out of memory");
	t->row = *row;
	t->pid = (pid_t)row->pid;
	t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	err = remote_thread__open(&t->thread, t->pid);
	if (err) {
		errmsg__set(f, err, "process %d: cannot read /proc/%d/task: %s", (int)t->pid,
			    (int)t->pid, strerror(-err));
		goto cleanup;
	}
	reader = proc__reader(t->pid);
	err = remote_walk__new(&t->walk, row, &reader, os__now);
	if (err) {
		errmsg__set(f, err, "out of memory");
		goto cleanup;
	}
	remote_walk__sink(t->walk, remote_report__record, &e->report);
	remote_children__mark(t);
	*out = t;
	return 0;

cleanup:
	if (t->pidfd >= 0)
		close(t->pidfd);
	remote_thread__close(&t->thread);
	free(t);
	return err;
}

/* One that was told to stop and has not yet must still be let go when it does. */
static void engine__drop(struct engine *e, struct remote_target **at)
{
	struct remote_target *t = *at;

	if (t->pending)
		e->kind->settle(t);
	t->dropped = true;
	if (t->pending)
		return;
	*at = t->next;
	target__free(e, t);
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

int remote_loop__add(struct engine *e, const struct xr_row *row, struct errmsg *f)
{
	struct remote_target *t;
	int err;

	if (engine__find(e, row->pid))
		return errmsg__set(f, -EEXIST, "process %u is sampled already", row->pid);
	err = target__new(e, row, &t, f);
	if (err)
		return err;
	err = e->kind->check(t, f);
	t->next = e->targets;
	e->targets = t;
	if (err) {
		engine__drop(e, &e->targets);
		return err;
	}
	if (e->armed)
		return 0;
	if (e->config.clock == ENGINE_CLOCK_DEFAULT)
		remote_report__note(&e->report,
				    "engine %s samples wall time, waiting included; for CPU time "
				    "alone: --clock cpu",
				    e->name);
	err = engine__arm(e, NS_PER_S / e->config.freq);
	return err ? errmsg__set(f, err, "cannot set a timer: %s", strerror(-err)) : 0;
}

int remote_loop__update(struct engine *e, const struct xr_row *row)
{
	struct remote_target **at = engine__find(e, row->pid);

	if (!at || (*at)->row.serial != row->serial)
		return -ESRCH;
	(*at)->row = *row;
	remote_walk__row((*at)->walk, row);
	return 0;
}

void remote_loop__remove(struct engine *e, uint32_t pid, uint32_t serial)
{
	struct remote_target **at = engine__find(e, pid);

	if (at && (*at)->row.serial == serial)
		engine__drop(e, at);
}

bool remote_loop__holds(struct engine *e, uint32_t pid, uint32_t serial)
{
	struct remote_target **at = engine__find(e, pid);

	return at && (*at)->row.serial == serial;
}

static void target__count(struct engine *e, struct remote_target *t, int result)
{
	remote_report__sample(&e->report, t->walk, t->row.pid, (uint32_t)t->thread.tid, result);
}

/* Which thread is R's is looked for while it is not known, and there is a stack to tell by. */
static void target__prove(struct remote_target *t)
{
	uint64_t contexts[64];
	uint32_t n;

	if (t->thread.proven || t->prove_in-- > 0)
		return;
	n = remote_walk__contexts(t->walk, contexts, 64);
	remote_thread__prove(&t->thread, contexts, n);
	t->prove_in = PROVE_EACH;
}

/* Stopped by SIGSTOP or a debugger: it is left so, and not sampled. */
static bool target__held(struct engine *e, struct remote_target *t, char state)
{
	bool held = state == 'T' || state == 't';

	if (held && !t->said_stopped)
		remote_report__note(&e->report,
				    "process %d is stopped, by a signal or a debugger: it is "
				    "sampled again when it goes on",
				    (int)t->pid);
	t->said_stopped = held;
	return held;
}

/*
 * --clock cpu: is a sample due?  One for each period of CPU time, looked at when the timer ticks;
 * where CPU time cannot be counted exactly, whenever the thread runs or is ready to.
 */
static bool target__due(struct engine *e, struct remote_target *t, char state)
{
	int64_t period = NS_PER_S / e->config.freq;
	uint64_t now;

	if (remote_thread__cpu_time(&t->thread, &now))
		return state == 'R';
	if (now < t->cpu_time) /* another thread's */
		t->cpu_time = now;
	t->cpu_owed += (int64_t)(now - t->cpu_time);
	t->cpu_time = now;
	if (t->cpu_owed < period / 2)
		return false;
	t->cpu_owed -= period;
	if (t->cpu_owed > period) /* ticks were missed */
		t->cpu_owed = period;
	return true;
}

/* One tick of one target. */
static void target__sample(struct engine *e, struct remote_target *t)
{
	struct remote_state before = {.state = 'R'}, after;
	bool idle;
	int result;

	if (t->pending)
		e->kind->settle(t);
	if (remote_thread__look(&t->thread, &before)) {
		target__count(e, t, -XR_EXITING);
		return;
	}
	if (!t->pending && target__held(e, t, before.state))
		return;
	if (e->config.clock == ENGINE_CLOCK_CPU && !target__due(e, t, before.state))
		return;
	idle = t->thread.proven && before.state != 'R';
	result = remote_walk__ahead(t->walk);
	if (idle) /* what does not run does not change, and need not be stopped */
		idle = !remote_thread__look(&t->thread, &after) && after.runs == before.runs;
	if (!idle && result != -XR_EXITING)
		result = e->kind->look(e, t);
	if (result >= 0)
		result = remote_walk__finish(t->walk);
	target__count(e, t, result);
	target__prove(t);
}

/* What became of targets; their children. */
static void engine__scan(struct engine *e)
{
	struct remote_target **at = &e->targets, *t, *child;
	enum xr_process_event event;
	struct xr_row row;

	while ((t = *at)) {
		if (t->pending)
			e->kind->settle(t);
		if (t->dropped) {
			if (t->pending)
				at = &t->next;
			else
				engine__drop(e, at);
			continue;
		}
		event = remote_children__check(t);
		if (event) {
			remote_children__tell(&t->row, event, NULL, remote_report__record,
					      &e->report);
			engine__drop(e, at); /* it is gone, or comes up again as dropped */
			continue;
		}
		while (remote_children__child(&e->family, t, &row)) {
			if (engine__find(e, row.pid) || target__new(e, &row, &child, NULL))
				continue;
			child->thread.proven = true; /* it has one thread, which called fork */
			remote_children__tell(&row, XR_PROCESS_FORK, &t->row, remote_report__record,
					      &e->report);
			child->next = t->next;
			t->next = child;
		}
		at = &t->next;
	}
}

/* A thread stopped after it was given up waiting for: let it go at once. */
static void engine__let_go(struct engine *e)
{
	struct signalfd_siginfo info;

	if (read(e->stops, &info, sizeof(info)) != sizeof(info))
		return;
	for (struct remote_target *t = e->targets; t; t = t->next)
		if (t->pending)
			e->kind->settle(t);
}

static void engine__tick(struct engine *e)
{
	struct remote_target *t;
	uint64_t passed;

	if (read(e->timer, &passed, sizeof(passed)) != sizeof(passed) || e->stopped)
		return;
	for (t = e->targets; t; t = t->next) {
		if (t->dropped)
			continue;
		e->report.counts[XR_MISSED] += passed - 1;
		target__sample(e, t);
	}
}

int remote_loop__poll(struct engine *e, int timeout_ms, engine_sink sink, void *arg)
{
	uint64_t now = os__now(), end = now + (uint64_t)timeout_ms * NS_PER_MS;
	struct pollfd pfd = {.fd = e->both, .events = POLLIN};

	remote_report__begin(&e->report, sink, arg);
	for (;;) {
		engine__let_go(e);
		engine__tick(e);
		now = os__now();
		if (now - e->scanned >= SCAN_MS * NS_PER_MS && !e->stopped) {
			e->scanned = now;
			engine__scan(e);
		}
		if (now >= end || e->stopped)
			break;
		if (poll(&pfd, 1, (int)((end - now + NS_PER_MS - 1) / NS_PER_MS)) < 0)
			break;
	}
	return e->report.delivered;
}

int remote_loop__fd(struct engine *e)
{
	return e->both;
}

void remote_loop__stop(struct engine *e)
{
	e->stopped = true;
	engine__arm(e, 0);
}

int remote_loop__counters(struct engine *e, uint64_t counts[XR_COUNTERS])
{
	memcpy(counts, e->report.counts, sizeof(e->report.counts));
	counts[XR_SYMBOLS_SENT] = e->report.texts;
	for (struct remote_target *t = e->targets; t; t = t->next)
		counts[XR_SYMBOLS_SENT] += remote_walk__texts(t->walk);
	return 0;
}

const char *remote_loop__event(struct engine *e)
{
	(void)e;
	return "timer";
}

void remote_loop__close(struct engine *e)
{
	struct remote_target *t;
	int fds[3];

	if (!e)
		return;
	fds[0] = e->both;
	fds[1] = e->timer;
	fds[2] = e->stops;
	while ((t = e->targets)) { /* the kernel lets go of what is held, when we end */
		e->targets = t->next;
		target__free(e, t);
	}
	remote_children__free(&e->family);
	for (size_t i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (e->priority_raised)
		priority__lower();
	/* only what was blocked here: others may have changed the mask since */
	if (!sigismember(&e->old_mask, SIGCHLD)) {
		sigset_t child;

		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		sigprocmask(SIG_UNBLOCK, &child, NULL);
	}
	free(e);
}
