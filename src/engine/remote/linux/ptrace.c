/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine that stops R's thread, and no other, for the few reads that must agree.
 *
 * The thread is attached to for each sample and let go at the end of it (tracee.h).  So between
 * samples it is free: a debugger can have it.  A profiler that is itself stopped within a
 * sample lets it go first (watchdog.h), and when one is killed the kernel does: PTRACE_SEIZE
 * without PTRACE_O_EXITKILL (kernel/ptrace.c, exit_ptrace()).
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "engine/remote/linux/loop.h"
#include "engine/remote/linux/tracee.h"
#include "os/linux/refusal.h"

/*
 * How long to wait for a thread to stop: half of what there is for a sample, within these limits.
 * One that is on a CPU stops within 300 us, on a slow virtual machine 500.  One that is not,
 * for others run or because it has just fallen asleep, stays where it is, and is looked at without
 * having stopped; it is let go when it does.
 */
#define STOP_WAIT_MIN_NS 1000000
#define STOP_WAIT_MAX_NS 2000000

/*
 * Native frames are there only of one that stopped.  Others mostly have the CPU for no longer than
 * this (kernel/sched/fair.c, sysctl_sched_base_slice).
 */
#define STOP_WAIT_NATIVE_NS 4000000

/*
 * So often is a thread stopped for one sample.  A stop that took too long mostly did because others
 * kept this process from its CPU, or because the stack was another one than the look ahead had
 * seen.
 */
#define STOPS_MAX 3u

static int ptrace__probe(const struct engine_config *config, engine_found found, void *arg,
			 struct errmsg *f)
{
	struct engine_finding finding = {.name = "ptrace", .ok = true};
	int err = remote_vm__probe(found, arg, f);
	struct errmsg why;

	(void)config;
	if (err && !found)
		return err;
	errmsg__set(&finding.value, 0, "yes");
	finding.meaning = "R's thread can be stopped while its stack is read";
	if (refusal__filtered(REFUSAL_PTRACE)) {
		finding.ok = false;
		finding.meaning = "engine ptrace cannot be used";
		errmsg__set(&finding.value, 0, "ptrace: %s",
			    refusal__target(REFUSAL_PTRACE, getpid(), &why));
		if (!err)
			err = errmsg__set(f, -EPERM, "%s", finding.value.text);
	}
	if (found)
		found(arg, &finding);
	return err;
}

static int ptrace__denied(const struct loop_target *t, int err, struct errmsg *f)
{
	pid_t tracer = remote_thread__tracer(t->pid, t->thread.tid);
	struct errmsg why;

	if (err == -ESRCH)
		return errmsg__set(f, err, "process %d ended before it could be read", (int)t->pid);
	if (tracer)
		return errmsg__set(f, -EBUSY,
				   "process %d is traced by process %d (a debugger?): end that, or "
				   "use --engine vmread",
				   (int)t->pid, (int)tracer);
	return errmsg__set(f, err, "not allowed to stop process %d: %s", (int)t->pid,
			   refusal__target(REFUSAL_PTRACE, t->pid, &why));
}

/*
 * The kernel asks the same for reading memory as for stopping (ptrace_may_access() with
 * PTRACE_MODE_ATTACH_REALCREDS), except whether another process traces it.  It is not stopped for
 * this: it may be in a system call.
 */
static int ptrace__check(struct engine *e, struct loop_target *t, struct errmsg *f)
{
	int err = remote_vm__readable(t->pid, t->base.row.head_at);

	(void)e;
	if (!err && remote_thread__tracer(t->pid, t->thread.tid))
		err = -EPERM;
	return err ? ptrace__denied(t, err == -EPERM ? err : -ESRCH, f) : 0;
}

/* The registers of thread @tid, which stands still.  0, or negative. */
static int tracee__regs(const struct loop_target *t, pid_t tid, struct remote_regs *to)
{
	struct user_regs_struct regs;
	struct iovec io = {.iov_base = &regs, .iov_len = sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io))
		return -errno;
	*to = (struct remote_regs){.pc_mask = remote_thread__pc_mask()};
#ifdef __x86_64__
	to->pc = regs.rip;
	to->sp = regs.rsp;
	to->fp = regs.rbp;
	to->thread = regs.fs_base;
#else
	to->pc = regs.pc;
	to->sp = regs.sp;
	to->fp = regs.regs[29];
	to->lr = regs.regs[30];
	io = (struct iovec){.iov_base = &to->thread, .iov_len = sizeof(to->thread)};
	if (ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &io))
		to->thread = 0;
#endif
	to->top = tid == t->pid ? t->stack_top : to->thread;
	return 0;
}

/* If R has no flag for it, the collector runs if the thread is in its code. */
static bool tracee__asks_code(const struct loop_target *t)
{
	return t->base.row.flags & XR_ROW_GC && !t->base.row.gc_at && t->base.row.gc_begin;
}

/* What more there is to know of a thread that stands still. */
static void tracee__still(struct engine *e, const struct loop_target *t, int result)
{
	struct remote_native *native = remote_loop__native(e, t);
	struct remote_regs regs;

	if ((!native && !tracee__asks_code(t)) || tracee__regs(t, t->thread.tid, &regs))
		return;
	if (tracee__asks_code(t) && regs.pc >= t->base.row.gc_begin && regs.pc < t->base.row.gc_end)
		remote_walk__collecting(t->base.walk);
	if (native && result >= 0)
		remote_walk__finish_native(t->base.walk, native, &regs);
}

static int64_t tracee__patience(struct engine *e, const struct loop_target *t)
{
	const int64_t ns = (int64_t)(remote_loop__share(e) / 2);
	const int64_t max = remote_loop__native(e, t) ? STOP_WAIT_NATIVE_NS : STOP_WAIT_MAX_NS;

	if (ns < STOP_WAIT_MIN_NS)
		return STOP_WAIT_MIN_NS;
	return ns < max ? ns : max;
}

/* NULL: waiting for it would make the samples of other processes, or the next tick, too late. */
static struct alarm *tracee__alarm(const struct engine *e, struct loop_target *t)
{
	return remote_loop__has_time(e, ALARM_NS) ? &t->thread.alarm : NULL;
}

/* Without an alarm the thread is stopped where it next enters or leaves the kernel. */
static void tracee__no_alarm(struct engine *e, struct loop_target *t)
{
	const int err = t->thread.alarm.err;

	if (!err || err == -ESRCH || t->said_alarm)
		return;
	t->said_alarm = true;
	if (e->config.verbose)
		engine__note(&e->config,
			     "process %d has no alarm (perf_event_open: %s): short system "
			     "calls may have too many samples; set "
			     "kernel.perf_event_paranoid to 2, or run as root",
			     (int)t->pid, strerror(-err));
}

/* One second look: of a thread that stands still, if possible. */
static int tracee__look(struct engine *e, struct loop_target *t, struct remote_state *state)
{
	struct tracees *tracees = e->data;
	struct remote_state now;
	pid_t tracer;
	int result;

	/* what sleeps is not disturbed: most likely in a system call */
	if (!t->stop_waiting && !remote_thread__look(&t->thread, &now) && now.state != 'R') {
		*state = now;
		return remote_walk__moving(t->base.walk);
	}
	result = tracees__stop(tracees, t->pid, t->thread.tid, tracee__alarm(e, t),
			       tracee__patience(e, t));
	tracee__no_alarm(e, t);
	switch (result) {
	case STOPPED:
		result = remote_walk__still(t->base.walk);
		tracee__still(e, t, result);
		tracees__let_go(tracees);
		return result;
	case -ESRCH:
		return -XR_EXITING;
	case STOPPED_NOT:
		if (remote_loop__off_cpu(e, t))
			return LOOP_LATER;
		return remote_walk__moving(t->base.walk);
	default: /* somebody else has it */
		tracer = remote_thread__tracer(t->pid, t->thread.tid);
		if (!t->said_traced)
			engine__note(&e->config,
				     "process %d is traced by process %d: it is sampled "
				     "without being stopped",
				     (int)t->pid, (int)tracer);
		t->said_traced = true;
		return remote_walk__moving(t->base.walk);
	}
}

static int ptrace__look(struct engine *e, struct loop_target *t, struct remote_state *state)
{
	struct remote_walk *rw = t->base.walk;
	int result;

	if (!t->thread.proven)
		return remote_walk__moving(rw);
	for (uint32_t i = 1; i <= STOPS_MAX; i++) {
		/* what was cut before need not be looked at again */
		const bool last = i == STOPS_MAX || remote_walk__over(rw);

		result = tracee__look(e, t, state);
		if (last || !remote_walk__over(rw))
			break;
		remote_walk__ahead(rw);
	}
	return result;
}

static int ptrace__stop(struct engine *e, const struct loop_target *t, pid_t tid,
			struct remote_regs *regs)
{
	struct tracees *tracees = e->data;
	int err = tracees__stop(tracees, t->pid, tid, NULL, STOP_WAIT_NATIVE_NS);

	if (err)
		return err < 0 ? err : -EAGAIN;
	err = tracee__regs(t, tid, regs);
	if (err)
		tracees__let_go(tracees);
	return err;
}

static void ptrace__go(struct engine *e)
{
	tracees__let_go(e->data);
}

static bool ptrace__late(struct engine *e, const struct loop_target *t)
{
	return tracees__late(e->data, t->thread.tid);
}

static int ptrace__begin(struct engine *e, struct errmsg *f)
{
	struct tracees *tracees = NULL;
	int err = ptrace__probe(NULL, NULL, NULL, f);

	if (!err)
		err = tracees__open(&tracees, f);
	if (!err)
		e->watchdog = tracees__watchdog(tracees);
	e->data = tracees;
	return err;
}

static void ptrace__end(struct engine *e)
{
	tracees__close(e->data);
}

static const struct remote_kind kind = {
	.begin = ptrace__begin,
	.end = ptrace__end,
	.check = ptrace__check,
	.look = ptrace__look,
	.late = ptrace__late,
	.native = true,
	.stop = ptrace__stop,
	.go = ptrace__go,
};

static int ptrace__open(struct engine **out, const struct engine_config *config, struct errmsg *f)
{
	return remote_loop__open(out, config, &kind, "ptrace", f);
}

const struct engine_ops engine_ptrace = {
	.name = "ptrace",
	.help = "from outside, stopping R's thread for a few microseconds each time",
	.by_code = true,
	.probe = ptrace__probe,
	.open = ptrace__open,
	.slab = remote_targets__slab,
	ENGINE_LOOP_OPS,
};
