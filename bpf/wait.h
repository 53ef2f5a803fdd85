/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time not on a CPU.  When a thread of a process that asks for it leaves its CPU, the time and why
 * are noted; when it is back, it is known how long it was away, and its stack is still what it was.
 *
 * Waits are sampled by their duration, so that the cost does not grow with the number of switches
 * and nothing long is missed: one of d ns is a sample of weight d if d is the period P or more,
 * else one of weight P with probability d/P.  The weights add up to the time away (they are
 * unbiased: Σ d = E Σ weight), and there are at most 1/P samples a second of a thread, whatever it
 * does.
 */
#ifndef XR_WAIT_H
#define XR_WAIT_H

#include "sample.h"

/*
 * Of threads, not of CPUs: they come back on others.  Preallocated, as the rows are; waits that do
 * not fit are counted.  (Task storage would do from 5.13 on: one way for all kernels is less to
 * test, and a look-up in this one is what it costs there.)  Entries stay until their thread ends.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct xr_wait);
} waits SEC(".maps");

/* User space alone puts entries here (open_waits.c). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct xr_wait_told);
} waits_told SEC(".maps");

bool any_told; /* there may be entries; user space sets it */

/*
 * Which thread a CPU was last given to, and when: its wait is over then.  The rest of the switch is
 * time on the CPU, in which ticks may come.  (Some 0.9 us, measured: of a thread that is switched
 * 100,000 times a second 9 % of the time would count twice.)
 */
struct switched {
	__u64 task;
	__u64 at; /* ns */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct switched);
} switched SEC(".maps");

/*
 * That is noted of those alone that are away, by a hash of their task: to tell the time costs more
 * than all else that a switch of others has to do with.  A thread whose mark went with another's
 * gets it back when it leaves its CPU again.
 */
#define AWAY_BITS 12

__u8 away[1 << AWAY_BITS];

static __always_inline __u8 *away__mark(__u64 task)
{
	return &away[(task * 0x9e3779b97f4a7c15ULL >> (64 - AWAY_BITS)) & ((1 << AWAY_BITS) - 1)];
}

/* The states of a task, include/linux/sched.h: the same since 4.14. */
#define STATE_UNINTERRUPTIBLE 0x02
#define STATE_STOPPED	      0x0c /* by a signal, or a tracer */

/* Before 5.14 (kernel commit 2f064a59a11f). */
struct task_struct___state {
	long state;
} __attribute__((preserve_access_index));

/* Where the state that a task was switched out with is among the tracepoint's arguments. */
#define WAIT_STATE_READ	 0 /* nowhere, before 5.18: it is read, and may just have been changed */
#define WAIT_STATE_FIRST 1 /* behind `preempt`: some of 5.18 (commit fa2c3254d7cf) */
#define WAIT_STATE_LAST	 2 /* (commit 9c2136be0878) */
const volatile __u32 cfg_state_arg;
/* Nothing runs in a thread that is back: its sample is taken at the end of its system call. */
const volatile bool cfg_wait_syscall;
__u64 wait_ns = 10101010; /* the period, P; the loader changes it */

static __always_inline __u32 task__state(struct task_struct *task)
{
	struct task_struct___state *old = (void *)task;

	return bpf_core_field_exists(task->__state) ? BPF_CORE_READ(task, __state)
						    : BPF_CORE_READ(old, state);
}

/* By which number a thread is known here; 0: it is not the profiler's business. */
static __always_inline __u32 wait__tid(struct task_struct *task)
{
	struct pids pids;

	return task__pids(task, &pids) ? 0 : pids.tid;
}

static __always_inline __u32 wait__flags(bool preempted, __u32 state)
{
	if (preempted || !state)
		return XR_F_PREEMPTED;
	if (state & STATE_STOPPED)
		return XR_F_STOPPED;
	return state & STATE_UNINTERRUPTIBLE ? XR_F_DISK : 0;
}

/* wait__switched - the CPU is given to @task. */
static __always_inline void wait__switched(__u64 task)
{
	struct switched *last;
	__u32 zero = 0;

	if (!*away__mark(task))
		return;
	last = bpf_map_lookup_elem(&switched, &zero);
	if (!last)
		return;
	last->task = task;
	last->at = clock__now();
}

/* When the current thread, which left at @since, got its CPU; now, if that was not noted. */
static __always_inline __u64 wait__back_at(__u64 since)
{
	const struct switched *last;
	__u32 zero = 0;

	last = bpf_map_lookup_elem(&switched, &zero);
	return last && last->task == bpf_get_current_task() && last->at > since ? last->at
										: clock__now();
}

/* wait__begin - the current thread leaves its CPU. */
static __always_inline void wait__begin(struct task_struct *task, bool preempted, __u32 state)
{
	struct xr_wait *wait, first = {};
	struct current now;
	struct xr_row *row;
	__u32 tid;

	if (current__get(&now) || now.exiting)
		return;
	row = bpf_map_lookup_elem(&rows, &now.pids.tgid);
	if (!row || !(row->flags & XR_ROW_OFF_CPU) || !current__started(&now, row->start_time))
		return;
	/* what waits for work all its life is not R's thread */
	if (row->r_tid && row->r_tid != now.pids.tid && !(row->flags & XR_ROW_IDLE) &&
	    !task__runs_r(task, &now.pids, row))
		return;
	tid = now.pids.tid;
	if (cfg_wait_syscall && (preempted || !state || !task__syscall(task)))
		return; /* nothing would report its stack when it is back */
	first.since = clock__now();
	first.flags = wait__flags(preempted, state);
	first.pid = now.pids.tgid;
	*away__mark((__u64)task) = 1;
	wait = bpf_map_lookup_elem(&waits, &tid);
	if (wait)
		first.away = wait->away;
	if (wait)
		*wait = first;
	else if (bpf_map_update_elem(&waits, &tid, &first, BPF_ANY))
		count(XR_WAITS_LOST);
}

/* wait__weight - how much a wait of @ns stands for; 0: it is not a sample. */
static __always_inline __u64 wait__weight(__u64 ns)
{
	const __u64 period = wait_ns;

	if (ns >= period)
		return ns;
	return ((__u64)bpf_get_prandom_u32() * period >> 32) < ns ? period : 0;
}

/*
 * When @wait of thread @tid, which is over, begins to count.  An entry is marked as used before
 * @wait is over for others: user space keeps its sample then (open_wait__counts()).
 */
static __always_inline __u64 wait__from(__u32 tid, const struct xr_wait *wait)
{
	struct xr_wait_told *told = any_told ? bpf_map_lookup_elem(&waits_told, &tid) : NULL;

	if (!told || told->since != wait->since)
		return wait->since;
	*(volatile __u64 *)&told->since = 0;
	return told->until;
}

/* wait__pause - @task is about to be on a CPU again; it is not the current one. */
static __always_inline void wait__pause(struct task_struct *task)
{
	__u32 tid = wait__tid(task);
	struct xr_wait *wait = tid ? bpf_map_lookup_elem(&waits, &tid) : NULL;
	__u64 from, now = clock__now();

	if (!wait || !wait->since)
		return;
	from = wait__from(tid, wait);
	if (now > from)
		wait->away += now - from;
	wait->since = 0;
}

/* How long the wait was that is over now; 0: it was none, or is counted. */
static __always_inline __u64 wait__length(__u32 tid, struct xr_wait *wait)
{
	__u64 from, now, ns;

	if (cfg_wait_syscall) {
		ns = wait->away;
		wait->away = 0;
		return ns;
	}
	if (!wait->since)
		return 0;
	from = wait__from(tid, wait);
	now = wait__back_at(wait->since);
	wait->since = 0;
	return now > from ? now - from : 0;
}

/*
 * wait__end - the current thread is back.  True: the wait is a sample, as @t says.  Not for threads
 * that no row asks for: they have no entry.
 */
static __always_inline bool wait__end(struct trigger *t)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct xr_wait *wait;
	__u64 ns;

	if (tid && cfg_pidns)
		tid = wait__tid(task);
	if (!tid)
		return false;
	wait = bpf_map_lookup_elem(&waits, &tid);
	ns = wait ? wait__length(tid, wait) : 0;
	if (!ns)
		return false;
	count_more(XR_WAITS, 1);
	count_more(XR_WAITED_NS, ns);
	t->weight = wait__weight(ns);
	t->unit = XR_UNIT_NS;
	t->event = XR_EVENT_SWITCH;
	t->flags = wait->flags;
	t->detail = wait->flags & XR_F_PREEMPTED ? 0 : task__syscall(task);
	t->kernel = true;
	return t->weight;
}

/* wait__forget - a thread ends; its number may be another's soon. */
static __always_inline void wait__forget(struct task_struct *task)
{
	__u32 tid;

	if (!(cfg_capture & XR_ROW_OFF_CPU))
		return;
	tid = wait__tid(task);
	if (!tid)
		return;
	bpf_map_delete_elem(&waits, &tid);
	*away__mark((__u64)task) = 0;
	if (any_told)
		bpf_map_delete_elem(&waits_told, &tid);
}

#endif
