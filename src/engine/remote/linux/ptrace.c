/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine that stops R's thread, and no other, for the few reads that must agree.
 *
 * The thread is attached to for each sample and let go at the end of it.  So between samples it is
 * nobody's: a debugger can have it, and a profiler that is itself stopped or killed holds nothing
 * up.  PTRACE_SEIZE without PTRACE_O_EXITKILL: when the tracer dies the kernel detaches and the
 * thread runs on (kernel/ptrace.c, exit_ptrace()).
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "engine/remote/linux/loop.h"
#include "os/os.h"
#include "engine/remote/linux/vm.h"

/*
 * How long to wait for a thread to stop.  One that is on a CPU does at once.  One that is not, for
 * others run or because it sleeps where it cannot be interrupted, stays where it is, and is looked
 * at without having stopped; it is let go when it does.
 */
#define STOP_WAIT_NS 300000

enum stopped {
	STOPPED = 0,
	STOPPED_NOT = 1, /* not yet */
};

/*
 * Wait until @tid stops.  A stop of a tracee is told by SIGCHLD, which loop.c blocks; taking
 * it with a time limit is what waitpid() cannot do.  *@signal gets the signal that was about
 * to be delivered to it, to be passed on.
 */
static int tracee__wait(pid_t tid, int64_t ns, int *signal)
{
	struct timespec limit = {.tv_sec = 0, .tv_nsec = ns};
	uint64_t end = os__now() + (uint64_t)ns;
	sigset_t child;
	int status;
	pid_t got;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	*signal = 0;
	for (;;) {
		got = waitpid(tid, &status, __WALL | WNOHANG);
		if (got < 0 && errno != EINTR)
			return -ESRCH;
		if (got == tid)
			break;
		if (os__now() >= end)
			return STOPPED_NOT;
		sigtimedwait(&child, NULL, &limit);
	}
	if (!WIFSTOPPED(status))
		return -ESRCH;
	/* an event is our stop, or one of the whole process by SIGSTOP and its kind */
	if (!(status >> 16))
		*signal = WSTOPSIG(status);
	return STOPPED;
}

static void tracee__let_go(pid_t tid, int signal)
{
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal);
}

static int tracee__stop(struct loop_target *t, int *signal)
{
	pid_t tid = t->thread.tid;
	int got;

	if (t->pending)
		return STOPPED_NOT;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return -errno;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	got = tracee__wait(tid, STOP_WAIT_NS, signal);
	t->pending = got == STOPPED_NOT;
	return got;
}

/* A thread that did not stop when it was told to may have since: it is let go. */
static void ptrace__settle(struct loop_target *t)
{
	int signal = 0, got = tracee__wait(t->thread.tid, 0, &signal);

	t->pending = got == STOPPED_NOT;
	if (got == STOPPED)
		tracee__let_go(t->thread.tid, signal);
}

static int ptrace__probe(const struct engine_config *config, engine_found found, void *arg,
			 struct errmsg *f)
{
	struct engine_finding finding = {.name = "ptrace", .ok = true};
	int err = remote_vm__probe(found, arg, f);

	(void)config;
	if (err && !found)
		return err;
	errmsg__set(&finding.value, 0, "yes");
	finding.meaning = "R's thread can be stopped while its stack is read";
	/* of a process that cannot be: allowed or not is another error */
	if (ptrace(PTRACE_DETACH, -1, NULL, NULL) && errno != ESRCH) {
		finding.ok = false;
		finding.meaning = "engine ptrace cannot be used";
		errmsg__set(&finding.value, 0,
			    "ptrace is forbidden by a seccomp filter: %s; allow it, or use "
			    "--engine vmread",
			    strerror(errno));
		if (!err)
			err = errmsg__set(f, -errno, "%s", finding.value.text);
	}
	if (found)
		found(arg, &finding);
	return err;
}

static int ptrace__usable(struct errmsg *f)
{
	return ptrace__probe(NULL, NULL, NULL, f);
}

static int ptrace__denied(const struct loop_target *t, int err, struct errmsg *f)
{
	pid_t tracer = remote_thread__tracer(t->pid, t->thread.tid);

	if (err == -ESRCH)
		return errmsg__set(f, err, "process %d ended before it could be read", (int)t->pid);
	if (tracer)
		return errmsg__set(f, -EBUSY,
				   "process %d is traced by process %d (a debugger?): end that, or "
				   "use --engine vmread",
				   (int)t->pid, (int)tracer);
	return errmsg__set(f, err,
			   "not allowed to stop process %d (%s): this needs the capability "
			   "CAP_SYS_PTRACE; run as root",
			   (int)t->pid, strerror(-err));
}

static int ptrace__check(struct loop_target *t, struct errmsg *f)
{
	int signal = 0, err = tracee__stop(t, &signal);

	if (err < 0)
		return ptrace__denied(t, err, f);
	if (err == STOPPED)
		tracee__let_go(t->thread.tid, signal);
	return 0;
}

/*
 * Where R has no flag that says so, the collector runs if the thread is in its code.  Only of a
 * thread that stands still.
 */
static bool tracee__collecting(const struct loop_target *t)
{
	struct user_regs_struct regs;
	struct iovec io = {.iov_base = &regs, .iov_len = sizeof(regs)};
	uint64_t at;

	if (!(t->base.row.flags & XR_ROW_GC) || t->base.row.gc_at || !t->base.row.gc_begin)
		return false;
	if (ptrace(PTRACE_GETREGSET, t->thread.tid, NT_PRSTATUS, &io))
		return false;
#ifdef __x86_64__
	at = regs.rip;
#else
	at = regs.pc;
#endif
	return at >= t->base.row.gc_begin && at < t->base.row.gc_end;
}

static int ptrace__look(struct engine *e, struct loop_target *t)
{
	pid_t tracer;
	int signal, result;

	if (!t->thread.proven)
		return remote_walk__moving(t->base.walk);
	result = tracee__stop(t, &signal);
	switch (result) {
	case STOPPED:
		result = remote_walk__still(t->base.walk);
		if (tracee__collecting(t))
			remote_walk__collecting(t->base.walk);
		tracee__let_go(t->thread.tid, signal);
		return result;
	case -ESRCH:
		return -XR_EXITING;
	case STOPPED_NOT:
		return remote_walk__moving(t->base.walk);
	default: /* somebody else has it */
		tracer = remote_thread__tracer(t->pid, t->thread.tid);
		if (!t->said_traced)
			remote_report__note(remote_loop__report(e),
					    "process %d is traced by process %d: it is sampled "
					    "without being stopped",
					    (int)t->pid, (int)tracer);
		t->said_traced = true;
		return remote_walk__moving(t->base.walk);
	}
}

static const struct remote_kind kind = {
	.usable = ptrace__usable,
	.check = ptrace__check,
	.look = ptrace__look,
	.settle = ptrace__settle,
};

static int ptrace__open(struct engine **out, const struct engine_config *config, struct errmsg *f)
{
	return remote_loop__open(out, config, &kind, "ptrace", f);
}

const struct engine_ops engine_ptrace = {
	.name = "ptrace",
	.help = "from outside, stopping R's thread for some microseconds each time",
	.probe = ptrace__probe,
	.open = ptrace__open,
	ENGINE_LOOP_OPS,
};
