/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of processes that have a row: a forked child gets a copy before it runs its first
 * instruction, a row goes when its process runs another program or ends.  Raw tracepoints: they
 * need no tracefs.
 */
#ifndef XR_LIFECYCLE_H
#define XR_LIFECYCLE_H

#include "emit.h"
#include "task.h"
#include "wait.h"

/*
 * Serial numbers of rows made here: bit 31 keeps them apart from those of user space, the low bits
 * (the CPU, cfg_cpu_bits) from those of other CPUs.  (BPF has no fetch-and-add before 5.12.)  What
 * is between goes round: on eight CPUs after 2^28 forks on one, which is a year and a half at five
 * a second.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} serials SEC(".maps");

static __always_inline __u32 serial__next(void)
{
	__u32 zero = 0, *n = bpf_map_lookup_elem(&serials, &zero);
	__u32 bits = cfg_cpu_bits & 31;
	__u32 cpu = bpf_get_smp_processor_id() & ((1U << bits) - 1);

	return n ? 0x80000000U | ++*n << bits | cpu : 0x80000000U;
}

/* trace_sched_process_fork(parent, child): kernel/fork.c, before the child runs. */
SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0];
	struct task_struct *child = (void *)ctx->args[1];
	struct pids parent_pids, child_pids;
	struct xr_row *row, *copy;
	__u32 parent_serial;

	if (BPF_CORE_READ(child, tgid) != BPF_CORE_READ(child, pid)) /* a thread */
		return 0;
	if (task__pids(parent, &parent_pids))
		return 0;
	row = bpf_map_lookup_elem(&rows, &parent_pids.tgid);
	if (!row || !(row->flags & XR_ROW_FOLLOW) || task__start_time(parent) != row->start_time)
		return 0;
	if (task__pids(child, &child_pids))
		return 0;
	parent_serial = row->serial;
	/* the child does not run yet: a sample finds the copy as it is at the end of this */
	if (bpf_map_update_elem(&rows, &child_pids.tgid, row, BPF_ANY)) {
		count(XR_ROWS_FULL);
		return 0;
	}
	copy = bpf_map_lookup_elem(&rows, &child_pids.tgid);
	if (!copy)
		return 0;
	copy->serial = serial__next();
	copy->start_time = task__start_time(child);
	copy->pid = child_pids.tgid;
	/* the one thread of the child is that which called fork: R's, as far as is known */
	copy->r_tid = 0;
	process__tell(child, XR_PROCESS_FORK, copy->serial, copy->pid, parent_serial,
		      parent_pids.tgid);
	return 0;
}

static __always_inline void row__drop(struct task_struct *task, __u32 event)
{
	struct xr_row *row;
	struct pids pids;
	__u32 serial;

	if (task__pids(task, &pids))
		return;
	row = bpf_map_lookup_elem(&rows, &pids.tgid);
	if (!row)
		return;
	serial = row->serial;
	bpf_map_delete_elem(&rows, &pids.tgid);
	process__tell(task, event, serial, pids.tgid, 0, 0);
}

/* trace_sched_process_exec(task, old_pid, bprm): fs/exec.c; the task is now its group's leader. */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	row__drop((void *)ctx->args[0], XR_PROCESS_EXEC);
	return 0;
}

/* trace_sched_process_exit(task): kernel/exit.c, after signal->live was counted down. */
SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];

	wait__forget(task);
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		row__drop(task, XR_PROCESS_EXIT);
	return 0;
}

#endif
