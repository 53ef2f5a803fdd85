/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine for Windows: looks at the stack while R runs on, then suspends the thread that runs R,
 * and no other, for the few reads that must agree (remote_walk.h).
 *
 * A thread stays suspended when the one that suspended it is ended in between: Windows keeps no
 * account of who did.  Ctrl-C and the closing of the console therefore end the session only between
 * samples, and after a TerminateProcess() within these microseconds the keeper resumes the thread
 * (os/win32/keeper.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "os/os.h"
#include "engine/remote/targets.h"
#include "os/win32/keeper.h"
#include "os/win32/proc_win32.h"
#include <mmsystem.h>

#define PROVE_EACH 3u  /* samples between two looks for R's thread */
#define PROVE_WITH 64u /* addresses on its stack to tell it by */

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x2 /* Windows 10, version 1803 */
#endif

struct win32_target {
	struct remote_target base; /* first */
	HANDLE process, thread;	   /* thread NULL: it is not known yet which one is R's */
	struct keeper *keeper;	   /* borrowed */
	uint64_t lent;		   /* to it: the thread */
	uint32_t tid;
	bool said_suspended;
};

struct engine {
	struct remote_targets targets; /* first */
	struct keeper *keeper;	       /* NULL: none could be started */
	HANDLE timer;
	bool coarse;		   /* the timer is of the kind that timeBeginPeriod() makes finer */
	uint64_t period, deadline; /* ns; deadline 0: nothing is sampled yet */
};

static const struct remote_targets_ops target_ops;

/* A waitable timer, *@coarse: one that ticks at timeBeginPeriod()'s rate at best; NULL: none. */
static HANDLE timer__make(bool *coarse)
{
	HANDLE timer = CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
					      TIMER_ALL_ACCESS);

	*coarse = !timer;
	return timer ? timer : CreateWaitableTimerExW(NULL, NULL, 0, TIMER_ALL_ACCESS);
}

static int win32__probe(const struct engine_config *config, engine_found found, void *arg,
			struct errmsg *f)
{
	struct engine_finding finding = {.name = "timer"};
	bool coarse;
	HANDLE timer;

	if (config->clock == ENGINE_CLOCK_CPU)
		return errmsg__set(f, -ENOTSUP,
				   "engine win32 samples wall time, which includes waiting: "
				   "--clock cpu is not available on Windows");
	if (!found)
		return 0;
	timer = timer__make(&coarse);
	finding.ok = timer && !coarse;
	errmsg__set(&finding.value, 0, "%s", !timer ? "none" : coarse ? "coarse" : "fine");
	finding.meaning = finding.ok ? "samples can be taken at any rate"
				     : "at most 1000 samples a second can be taken";
	if (timer)
		CloseHandle(timer);
	found(arg, &finding);
	return timer ? 0 : errmsg__set(f, -EIO, "cannot create a timer: error %lu", GetLastError());
}

static int win32__open(struct engine **out, const struct engine_config *config, struct errmsg *f)
{
	struct engine *e;
	int err;

	err = win32__probe(config, NULL, NULL, f);
	if (err)
		return err;
	e = calloc(1, sizeof(*e));
	if (!e)
		return errmsg__set(f, -ENOMEM, "out of memory");
	remote_targets__open(&e->targets, &target_ops, config);
	e->period = NS_PER_S / config->freq;
	e->timer = timer__make(&e->coarse);
	if (!e->timer) {
		free(e);
		return errmsg__set(f, -EIO, "cannot create a timer: error %lu", GetLastError());
	}
	err = keeper__open(&e->keeper, f);
	if (err)
		engine__note(&e->targets.report.config, "%s", f->text);
	if (e->coarse)
		timeBeginPeriod(1);
	/* a tick that comes late is a sample less */
	SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_HIGHEST);
	*out = e;
	return 0;
}

static struct win32_target *target__of(struct remote_target *t)
{
	return (struct win32_target *)t;
}

static void target__free(struct remote_target *base)
{
	struct win32_target *t = target__of(base);

	keeper__take_back(t->keeper, t->lent);
	if (t->thread)
		CloseHandle(t->thread);
	if (t->process)
		CloseHandle(t->process);
	free(t);
}

static int win32__add(struct engine *e, const struct xr_row *row, struct errmsg *f)
{
	const DWORD access = PROCESS_VM_READ | PROCESS_QUERY_INFORMATION | SYNCHRONIZE;
	struct mem_reader reader;
	struct win32_target *t;
	DWORD code;
	int err;

	if (remote_targets__find(&e->targets, row->pid))
		return errmsg__set(f, -EEXIST, "process %u is already being sampled", row->pid);
	t = calloc(1, sizeof(*t));
	if (!t)
		return errmsg__set(f, -ENOMEM, "out of memory");
	t->process = proc_win32__open(row->pid, access, &code);
	if (!t->process || proc_win32__start_time(t->process) != row->start_time) {
		err = errmsg__set(f, -ESRCH, "process %u ended before it could be read", row->pid);
		goto failed;
	}
	reader = proc_win32__reader(t->process);
	err = remote_targets__init(&e->targets, &t->base, row, &reader, f);
	if (err)
		goto failed;
	remote_targets__put(&e->targets.first, &t->base);
	if (!e->deadline)
		e->deadline = os__now() + e->period;
	return 0;

failed:
	target__free(&t->base);
	return err;
}

/* Which thread is R's is looked for while it is not known, and there is a stack to tell by. */
static void target__prove(struct engine *e, struct win32_target *t)
{
	uint64_t keys[PROVE_WITH];
	uint32_t n;

	if (t->thread || t->base.prove_in-- > 0)
		return;
	t->base.prove_in = PROVE_EACH;
	n = remote_walk__keys(t->base.walk, keys, PROVE_WITH);
	t->tid = proc_win32__thread(t->base.row.pid, t->process, keys, n);
	if (t->tid)
		t->thread = OpenThread(THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT |
					       THREAD_QUERY_INFORMATION,
				       FALSE, t->tid);
	t->keeper = e->keeper;
	t->lent = keeper__lend(e->keeper, t->thread);
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
static int target__look(struct engine *e, struct win32_target *t)
{
	int result = 0, err;

	if (!t->thread)
		return remote_walk__moving(t->base.walk);
	keeper__hold(e->keeper, t->lent);
	err = thread__suspend(t->thread);
	if (!err) {
		result = remote_walk__still(t->base.walk);
		if (!ResumeThread(t->thread)) /* the keeper did, in between */
			result = -XR_TORN;
	}
	keeper__release(e->keeper);
	if (err)
		return err == -ESRCH ? -XR_EXITING : err;
	return result;
}

/* One tick of one target.  One whose thread somebody else has suspended is not sampled. */
static void target__sample(struct engine *e, struct remote_target *base)
{
	struct win32_target *t = target__of(base);
	int result;

	result = remote_walk__ahead(t->base.walk);
	if (result != -XR_EXITING)
		result = target__look(e, t);
	if (result == -EBUSY) {
		if (!t->said_suspended)
			engine__note(&e->targets.report.config,
				     "process %u: its R thread is suspended, by a debugger "
				     "perhaps: sampling resumes when it continues",
				     t->base.row.pid);
		t->said_suspended = true;
		return;
	}
	t->said_suspended = false;
	if (result >= 0)
		result = remote_walk__finish(t->base.walk);
	remote_report__sample(&e->targets.report, t->base.walk, t->base.row.pid, t->tid, result, 1);
	target__prove(e, t);
}

static enum xr_process_event target__check(struct engine *e, struct remote_target *base,
					   char comm[16])
{
	(void)e;
	if (WaitForSingleObject(target__of(base)->process, 0) != WAIT_OBJECT_0)
		return 0;
	proc_win32__comm(base->row.pid, comm, 16);
	return XR_PROCESS_EXIT;
}

/* The sample of one tick is taken; those missed are counted. */
static bool engine__due(struct engine *e, uint64_t *missed)
{
	uint64_t now = os__now();

	if (!e->deadline || now < e->deadline)
		return false;
	*missed = (now - e->deadline) / e->period;
	e->deadline += (*missed + 1) * e->period;
	return true;
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

static int engine__wait(struct engine *e, uint64_t now, uint64_t end)
{
	if (e->deadline && e->deadline < end)
		end = e->deadline;
	if (end > now) /* a tick can be due already: the last samples took long */
		engine__sleep(e, end - now > REMOTE_SCAN_NS ? now + REMOTE_SCAN_NS : end);
	return 0;
}

static int win32__set_freq(struct engine *e, uint32_t freq, struct errmsg *f)
{
	uint64_t now = os__now();

	(void)f;
	e->period = NS_PER_S / freq;
	if (e->deadline > now + e->period)
		e->deadline = now + e->period;
	return 0;
}

static const struct remote_targets_ops target_ops = {
	.due = engine__due,
	.sample = target__sample,
	.check = target__check,
	.wait = engine__wait,
	.free = target__free,
};

static void win32__close(struct engine *e)
{
	if (!e)
		return;
	remote_targets__close(&e->targets);
	keeper__close(e->keeper);
	if (e->coarse)
		timeEndPeriod(1);
	CloseHandle(e->timer);
	free(e);
}

const struct engine_ops engine_win32 = {
	.name = "win32",
	.help = "from outside, suspending R's thread for a few microseconds each time",
	ENGINE_REMOTE_OPS,
	.probe = win32__probe,
	.open = win32__open,
	.add = win32__add,
	.set_freq = win32__set_freq,
	.stop = remote_targets__stop,
	.close = win32__close,
};
