/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine for Windows: looks at the stack while R runs on, then suspends the thread that runs R,
 * and no other, for the few reads that must agree (remote_walk.h).
 *
 * A thread stays suspended when the one that suspended it is ended in between: Windows keeps no
 * account of who did.  Ctrl-C and the closing of the console therefore end the session only between
 * samples; but a TerminateProcess() within these microseconds leaves the thread suspended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "os/os.h"
#include "engine/remote/report.h"
#include "os/win32/proc_win32.h"
#include <mmsystem.h>

#define SCAN_MS	   20  /* between two looks at which targets have ended */
#define PROVE_EACH 3u  /* samples between two looks for R's thread */
#define PROVE_WITH 64u /* contexts to tell it by */

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x2 /* Windows 10, version 1803 */
#endif

struct win32_target {
	struct win32_target *next;
	struct xr_row row;
	HANDLE process, thread; /* thread NULL: it is not known yet which one is R's */
	uint32_t tid;
	uint32_t prove_in;
	struct remote_walk *walk;
	bool said_suspended;
};

struct engine {
	struct win32_target *targets;
	struct remote_report report;
	HANDLE timer;
	bool coarse;		   /* the timer is of the kind that timeBeginPeriod() makes finer */
	uint64_t period, deadline; /* ns; deadline 0: nothing is sampled yet */
	uint64_t scanned;
	bool stopped;
};

static int win32__open(struct engine **out, const struct engine_config *config, struct errmsg *f)
{
	struct engine *e;

	if (config->clock == ENGINE_CLOCK_CPU)
		return errmsg__set(
			f, -ENOTSUP,
			"engine win32 samples wall time, waiting included: --clock cpu is "
			"not possible on Windows");
	e = calloc(1, sizeof(*e));
	if (!e)
		return errmsg__set(f, -ENOMEM, "out of memory");
	remote_report__open(&e->report, config);
	e->period = NS_PER_S / config->freq;
	e->timer = CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
					  TIMER_ALL_ACCESS);
	if (!e->timer) {
		e->timer = CreateWaitableTimerExW(NULL, NULL, 0, TIMER_ALL_ACCESS);
		e->coarse = true;
	}
	if (!e->timer) {
		free(e);
		return errmsg__set(f, -EIO, "cannot make a timer: error %lu", GetLastError());
	}
	if (e->coarse)
		timeBeginPeriod(1);
	/* a tick that comes late is a sample less */
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_HIGHEST);
	*out = e;
	return 0;
}

static void target__free(struct engine *e, struct win32_target *t)
{
	remote_report__free_walk(&e->report, t->walk);
	if (t->thread)
		CloseHandle(t->thread);
	if (t->process)
		CloseHandle(t->process);
	free(t);
}

static struct win32_target **engine__find(struct engine *e, uint32_t pid)
{
	struct win32_target **at;

	for (at = &e->targets; *at; at = &(*at)->next)
		if ((*at)->row.pid == pid)
			return at;
	return NULL;
}

static int win32__add(struct engine *e, const struct xr_row *row, struct errmsg *f)
{
	const DWORD access = PROCESS_VM_READ | PROCESS_QUERY_INFORMATION | SYNCHRONIZE;
	struct mem_reader reader;
	struct win32_target *t;
	DWORD code;
	int err;

	if (engine__find(e, row->pid))
		return errmsg__set(f, -EEXIST, "process %u is sampled already", row->pid);
	t = calloc(1, sizeof(*t));
	if (!t)
		return errmsg__set(f, -ENOMEM, "out of memory");
	t->row = *row;
	t->process = proc_win32__open(row->pid, access, &code);
	if (!t->process || proc_win32__start_time(t->process) != row->start_time) {
		err = errmsg__set(f, -ESRCH, "process %u ended while it was looked at", row->pid);
		goto failed;
	}
	reader = proc_win32__reader(t->process);
	err = remote_walk__new(&t->walk, row, &reader, os__now);
	if (err) {
		errmsg__set(f, err, "out of memory");
		goto failed;
	}
	remote_walk__sink(t->walk, remote_report__record, &e->report);
	t->next = e->targets;
	e->targets = t;
	if (!e->deadline)
		e->deadline = os__now() + e->period;
	return 0;

failed:
	target__free(e, t);
	return err;
}

static int win32__update(struct engine *e, const struct xr_row *row)
{
	struct win32_target **at = engine__find(e, row->pid);

	if (!at || (*at)->row.serial != row->serial)
		return -ESRCH;
	(*at)->row = *row;
	remote_walk__row((*at)->walk, row);
	return 0;
}

static void engine__drop(struct engine *e, struct win32_target **at)
{
	struct win32_target *t = *at;

	*at = t->next;
	target__free(e, t);
}

static void win32__remove(struct engine *e, uint32_t pid, uint32_t serial)
{
	struct win32_target **at = engine__find(e, pid);

	if (at && (*at)->row.serial == serial)
		engine__drop(e, at);
}

static bool win32__holds(struct engine *e, uint32_t pid, uint32_t serial)
{
	struct win32_target **at = engine__find(e, pid);

	return at && (*at)->row.serial == serial;
}

/* Which thread is R's is looked for while it is not known, and there is a stack to tell by. */
static void target__prove(struct win32_target *t)
{
	uint64_t contexts[PROVE_WITH];
	uint32_t n;

	if (t->thread || t->prove_in-- > 0)
		return;
	t->prove_in = PROVE_EACH;
	n = remote_walk__contexts(t->walk, contexts, PROVE_WITH);
	t->tid = proc_win32__thread(t->row.pid, t->process, contexts, n);
	if (t->tid)
		t->thread = OpenThread(THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT |
					       THREAD_QUERY_INFORMATION,
				       FALSE, t->tid);
}

/*
 * Suspend R's thread.  SuspendThread() only asks; the thread stands still once its registers can be
 * read.  0; -ESRCH: it has ended; -EBUSY: somebody else has suspended it, a debugger for one.
 */
static int thread__suspend(HANDLE thread)
{
	CONTEXT registers = {.ContextFlags = CONTEXT_CONTROL};
	DWORD before = SuspendThread(thread);

	if (before == (DWORD)-1)
		return -ESRCH;
	if (!before && GetThreadContext(thread, &registers))
		return 0;
	ResumeThread(thread);
	return before ? -EBUSY : -ESRCH;
}

/*
 * The second look (remote_walk.h): what became of the sample.  -EBUSY: the thread was suspended
 * already.
 */
static int target__look(struct win32_target *t)
{
	int result, err;

	if (!t->thread)
		return remote_walk__moving(t->walk);
	err = thread__suspend(t->thread);
	if (err)
		return err == -ESRCH ? -XR_EXITING : err;
	result = remote_walk__still(t->walk);
	ResumeThread(t->thread);
	return result;
}

/* One tick of one target.  One whose thread somebody else has suspended is not sampled. */
static void target__sample(struct engine *e, struct win32_target *t)
{
	int result;

	result = remote_walk__ahead(t->walk);
	if (result != -XR_EXITING)
		result = target__look(t);
	if (result == -EBUSY) {
		if (!t->said_suspended)
			remote_report__note(&e->report,
					    "process %u: its R thread is suspended, by a debugger "
					    "perhaps: it is sampled again when it goes on",
					    t->row.pid);
		t->said_suspended = true;
		return;
	}
	t->said_suspended = false;
	if (result >= 0)
		result = remote_walk__finish(t->walk);
	remote_report__sample(&e->report, t->walk, t->row.pid, t->tid, result);
	target__prove(t);
}

static void engine__tell_exit(struct engine *e, const struct win32_target *t)
{
	struct xr_process record = {
		.head = {.type = XR_REC_PROCESS, .size = sizeof(record)},
		.time = os__now(),
		.event = XR_PROCESS_EXIT,
		.serial = t->row.serial,
		.pid = t->row.pid,
	};

	proc_win32__comm(t->row.pid, record.comm, sizeof(record.comm));
	remote_report__record(&e->report, &record, sizeof(record));
}

static void engine__scan(struct engine *e)
{
	struct win32_target **at = &e->targets, *t;

	while ((t = *at)) {
		if (WaitForSingleObject(t->process, 0) != WAIT_OBJECT_0) {
			at = &t->next;
			continue;
		}
		engine__tell_exit(e, t);
		engine__drop(e, at);
	}
}

/* Take the sample that is due; those missed are counted. */
static void engine__tick(struct engine *e, uint64_t now)
{
	uint64_t missed;

	if (!e->deadline || now < e->deadline)
		return;
	missed = (now - e->deadline) / e->period;
	e->deadline += (missed + 1) * e->period;
	for (struct win32_target *t = e->targets; t; t = t->next) {
		e->report.counts[XR_MISSED] += missed;
		target__sample(e, t);
	}
}

/* Sleep until @until, ns. */
static void engine__sleep(struct engine *e, uint64_t until)
{
	uint64_t now = os__now();
	LARGE_INTEGER due;

	if (now >= until)
		return;
	due.QuadPart = -(LONGLONG)((until - now + 99) / 100);
	if (SetWaitableTimer(e->timer, &due, 0, NULL, NULL, FALSE))
		WaitForSingleObject(e->timer, INFINITE);
	else
		Sleep(1);
}

static int win32__poll(struct engine *e, int timeout_ms, engine_sink sink, void *arg)
{
	uint64_t now = os__now(), end = now + (uint64_t)timeout_ms * NS_PER_MS, until;

	remote_report__begin(&e->report, sink, arg);
	for (;;) {
		if (!e->stopped)
			engine__tick(e, now);
		now = os__now();
		if (now - e->scanned >= SCAN_MS * NS_PER_MS && !e->stopped) {
			e->scanned = now;
			engine__scan(e);
		}
		if (now >= end || e->stopped)
			break;
		until = e->deadline && e->deadline < end ? e->deadline : end;
		if (until - now > SCAN_MS * NS_PER_MS)
			until = now + SCAN_MS * NS_PER_MS;
		engine__sleep(e, until);
		now = os__now();
	}
	return e->report.delivered;
}

static void win32__stop(struct engine *e)
{
	e->stopped = true;
}

static int win32__counters(struct engine *e, uint64_t counts[XR_COUNTERS])
{
	memcpy(counts, e->report.counts, sizeof(e->report.counts));
	counts[XR_SYMBOLS_SENT] = e->report.texts;
	for (struct win32_target *t = e->targets; t; t = t->next)
		counts[XR_SYMBOLS_SENT] += remote_walk__texts(t->walk);
	return 0;
}

static const char *win32__event(struct engine *e)
{
	(void)e;
	return "timer";
}

static void win32__close(struct engine *e)
{
	if (!e)
		return;
	while (e->targets)
		engine__drop(e, &e->targets);
	if (e->coarse)
		timeEndPeriod(1);
	CloseHandle(e->timer);
	free(e);
}

const struct engine_ops engine_win32 = {
	.name = "win32",
	.help = "from outside, suspending R's thread for some microseconds each time",
	.clock = "wall",
	.open = win32__open,
	.add = win32__add,
	.update = win32__update,
	.remove = win32__remove,
	.poll = win32__poll,
	.holds = win32__holds,
	.stop = win32__stop,
	.counters = win32__counters,
	.event = win32__event,
	.close = win32__close,
};
