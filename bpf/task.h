/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF programs ask of a task: ids, start time, its stack, whether it moves. */
#ifndef XR_TASK_H
#define XR_TASK_H

#include "maps.h"

#define PIDNS_DEPTH 8 /* nested pid namespaces looked through; the kernel's limit is 32 */

struct pids {
	__u32 tgid, tid;
};

/* The level of the profiler's pid namespace, once one of its tasks was seen. */
__u32 pidns_level;

static __always_inline __u32 pid__number(struct pid *pid, __u32 level, __u32 *ns)
{
	struct upid upid = {};

	bpf_probe_read_kernel(&upid, bpf_core_type_size(struct upid),
			      (void *)__builtin_preserve_access_index(&pid->numbers) +
				      level * bpf_core_type_size(struct upid));
	*ns = BPF_CORE_READ(upid.ns, ns.inum);
	return upid.nr;
}

/*
 * task__pids - the ids of @task as the profiler's pid namespace knows them.
 * Negative: the task is not in that namespace or one below it.
 */
static __always_inline int task__pids(struct task_struct *task, struct pids *pids)
{
	struct pid *pid, *leader;
	__u32 level, ns, i;

	if (!cfg_pidns) {
		pids->tgid = BPF_CORE_READ(task, tgid);
		pids->tid = BPF_CORE_READ(task, pid);
		return 0;
	}
	pid = BPF_CORE_READ(task, thread_pid);
	leader = BPF_CORE_READ(task, group_leader, thread_pid);
	if (!pid || !leader)
		return -1;
	level = pidns_level;
	for (i = 0; i < PIDNS_DEPTH; i++) {
		if (!level || i)
			level = i;
		if (level > BPF_CORE_READ(pid, level))
			return -1;
		pids->tid = pid__number(pid, level, &ns);
		if (ns == cfg_pidns) {
			pidns_level = level;
			pids->tgid = pid__number(leader, level, &ns);
			return 0;
		}
	}
	return -1;
}

/*
 * When the process of @task started, as /proc/PID/stat has it for the profiler, with the offset of
 * the time namespace of who reads it (fs/proc/array.c, do_task_stat()).
 */
static __always_inline __u64 task__start_time(struct task_struct *task)
{
	return (BPF_CORE_READ(task, group_leader, start_boottime) + cfg_boottime) / cfg_tick_ns;
}

/* What a sample must know of the current task. */
struct current {
	struct pids pids;
	__u64 start_ns; /* when its process started, ns of CLOCK_BOOTTIME as the profiler has it */
	__u32 exiting;	/* its memory is being, or was, torn down: reads fail from here on */
	__u32 nr_threads;
};

/*
 * current__get - of the interrupted task; negative: it is not the profiler's business (idle, a
 * kernel thread, not of its pid namespace).  With bpf_get_current_task_btf (5.11) the fields are
 * loaded directly; else each costs a call.
 */
static __always_inline int current__get(struct current *c)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct task_struct *task;

	if (!(id >> 32))
		return -1;
	c->pids.tgid = id >> 32;
	c->pids.tid = (__u32)id;
	if (cfg_have_task_btf) {
		task = bpf_get_current_task_btf();
		c->start_ns = task->group_leader->start_boottime;
		c->exiting = (task->flags & PF_EXITING) || !task->mm;
		c->nr_threads = task->signal->nr_threads;
	} else {
		task = (struct task_struct *)bpf_get_current_task();
		c->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
		c->exiting = (BPF_CORE_READ(task, flags) & PF_EXITING) || !BPF_CORE_READ(task, mm);
		c->nr_threads = BPF_CORE_READ(task, signal, nr_threads);
	}
	c->start_ns += cfg_boottime;
	if (!cfg_pidns)
		return 0;
	return task__pids((struct task_struct *)bpf_get_current_task(), &c->pids);
}

/* Did its process start at @start_time, as task__start_time() has it?  (Without a division.) */
static __always_inline bool current__started(const struct current *c, __u64 start_time)
{
	return c->start_ns - start_time * cfg_tick_ns < cfg_tick_ns;
}

/*
 * Is the current task between two programs?  exec gives it new memory before the tracepoint that
 * drops its row (fs/exec.c, begin_new_exec()).
 */
static __always_inline bool current__in_exec(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

/*
 * The user's registers of the current task, kernel memory: they were saved on entry to the kernel,
 * at the top of its kernel stack, also when the interrupt itself was the entry.
 */
static __always_inline bpf_user_pt_regs_t *task__user_regs(struct task_struct *task)
{
	if (cfg_have_task_regs)
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return (void *)BPF_CORE_READ(task, stack) + XR_THREAD_SIZE - XR_STACK_PADDING -
	       XR_KERNEL_REGS_SIZE;
}

/* The system call in which the current task is, and 1; 0: none. */
static __always_inline __u32 task__syscall(struct task_struct *task)
{
	bpf_user_pt_regs_t *regs = task__user_regs(task);
	XR_SYSCALL_TYPE nr = -1;

	bpf_probe_read_kernel(&nr, sizeof(nr), XR_SYSCALL_AT(regs));
	return nr >= 0 && nr < XR_SYSCALLS_MAX ? (__u32)nr + 1 : 0;
}

static __always_inline __u64 task__user_sp(struct task_struct *task)
{
	bpf_user_pt_regs_t *regs = task__user_regs(task);
	__u64 sp = 0;

	bpf_probe_read_kernel(&sp, sizeof(sp), &XR_REGS_SP(regs));
	return sp;
}

static __always_inline __u64 task__user_ip(struct task_struct *task)
{
	bpf_user_pt_regs_t *regs = task__user_regs(task);
	__u64 ip = 0;

	bpf_probe_read_kernel(&ip, sizeof(ip), &XR_REGS_IP(regs));
	return ip;
}

static __always_inline void task__leader_state(struct task_struct *task, __u64 *switches,
					       __u32 *off)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	*switches = BPF_CORE_READ(leader, nvcsw) + BPF_CORE_READ(leader, nivcsw);
	*off = !BPF_CORE_READ(leader, on_cpu);
}

/*
 * task__stack_top - the end of the current thread's stack; @sp is its stack pointer.  The stack of
 * a thread made by pthread_create() ends above its thread pointer (glibc nptl/allocatestack.c and
 * musl pthread_create.c put the thread's own block at the top of its stack).  That of the first
 * thread ends at mm->start_stack, unless a thread made by pthread_create() forked the process.
 * 1: not known; then nothing lies on it.
 */
static __always_inline __u64 task__stack_top(struct task_struct *task, const struct pids *pids,
					     __u64 sp)
{
	__u64 top = XR_THREAD_POINTER(task);

	if (top <= sp && pids->tgid == pids->tid)
		top = BPF_CORE_READ(task, mm, start_stack);
	return top ?: 1;
}

/*
 * task__stack - set where the current thread's stack lies, for the walk to tell whose contexts it
 * reads; not for a process of one thread.
 */
static __always_inline void task__stack(const struct current *c, struct scratch *s)
{
	struct task_struct *task;

	s->walk.sp = 0;
	s->walk.sp_top = 0;
	if (c->nr_threads <= 1)
		return;
	task = (struct task_struct *)bpf_get_current_task();
	s->walk.sp = task__user_sp(task);
	s->walk.sp_top = task__stack_top(task, &c->pids, s->walk.sp);
	task__leader_state(task, &s->leader_switches, &s->leader_off);
}

/*
 * task__runs_r - does R's innermost call run on the current thread?  As walk__key() of walk.h, for
 * a thread that R did not run on when it was looked at last.
 */
static __always_inline bool task__runs_r(struct task_struct *task, const struct pids *pids,
					 const struct xr_row *row)
{
	const __u64 sp = task__user_sp(task), top = task__stack_top(task, pids, sp);
	__u64 at = 0, pc = 0;

	if (bpf_probe_read_user(&at, sizeof(at), (void *)row->head_at))
		return false;
	if (at >= sp && at < top)
		return true;
	if (!row->layout.bcpc ||
	    bpf_probe_read_user(&pc, sizeof(pc), (void *)(at + row->layout.bcpc)))
		return false;
	return pc >= sp && pc < top;
}

/* R's thread is known, is the leader, and did not run since the sample began. */
static __always_inline bool task__leader_still(struct scratch *s)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 switches;
	__u32 off;

	if (s->walk.row.r_tid != s->walk.row.pid || !s->leader_off)
		return false;
	task__leader_state(task, &switches, &off);
	return off && switches == s->leader_switches;
}

/* The interrupted thread was proven to be R's: remember it in the row. */
static __always_inline void task__remember_thread(struct scratch *s)
{
	__u32 pid = s->walk.row.pid;
	struct xr_row *row;

	if (s->walk.row.r_tid == s->part.tid)
		return;
	row = bpf_map_lookup_elem(&rows, &pid);
	if (row && row->serial == s->walk.row.serial)
		row->r_tid = s->part.tid;
}

#endif
