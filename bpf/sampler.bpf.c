/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sampler's entry points: a program for each thing that makes it run, in two forms of which the
 * loader takes one: *_loop for kernels with bpf_loop (5.17), *_bounded for those without.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "sample.h"
#include "lifecycle.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A tick of a perf event on the thread it interrupted, or one of the user's that is one. */
#define TICK(ctx_)                                                                                 \
	{                                                                                          \
		.named = true, .counted = cfg_window_ns || cfg_collections, .perf = ctx_,          \
		.ctx = ctx_                                                                        \
	}

SEC("perf_event")
int sample_loop(struct bpf_perf_event_data *ctx)
{
	const struct trigger tick = TICK(ctx);

	return sample__take(&tick, SAMPLE_LOOP);
}

SEC("perf_event")
int sample_bounded(struct bpf_perf_event_data *ctx)
{
	const struct trigger tick = TICK(ctx);

	return sample__take(&tick, SAMPLE_BOUNDED);
}

/* Events without a period: each is a sample, or one of cfg_every (event.h). */
#define HIT(ctx_, kernel_, preempted_)                                                             \
	{                                                                                          \
		.named = true, .kernel = kernel_, .counted = true, .preempted = preempted_,        \
		.ctx = ctx_                                                                        \
	}

/*
 * A tracepoint of the kernel, by its number: the loader attaches it.  1: perf events of others on
 * it go on counting (perf_trace_run_bpf_submit(), kernel/events/core.c).
 */
SEC("tracepoint")
int sample_point_loop(void *ctx)
{
	const struct trigger hit = HIT(ctx, true, false);

	sample__take(&hit, SAMPLE_LOOP);
	return 1;
}

SEC("tracepoint")
int sample_point_bounded(void *ctx)
{
	const struct trigger hit = HIT(ctx, true, false);

	sample__take(&hit, SAMPLE_BOUNDED);
	return 1;
}

/* An instruction of a file: the thread is about to execute it. */
SEC("uprobe")
int sample_probe_loop(struct pt_regs *ctx)
{
	const struct trigger hit = HIT(ctx, false, true);

	sample__take(&hit, SAMPLE_LOOP);
	return 1;
}

SEC("uprobe")
int sample_probe_bounded(struct pt_regs *ctx)
{
	const struct trigger hit = HIT(ctx, false, true);

	sample__take(&hit, SAMPLE_BOUNDED);
	return 1;
}

/*
 * trace_sched_switch(preempt, prev, next): kernel/sched/core.c, __schedule(), with the run queue
 * locked.  prev is the current thread.
 */
SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task, *next;
	__u32 state;

	if (cfg_state_arg == WAIT_STATE_FIRST) {
		task = (void *)ctx->args[2];
		next = (void *)ctx->args[3];
		state = ctx->args[1];
	} else {
		task = (void *)ctx->args[1];
		next = (void *)ctx->args[2];
		state = cfg_state_arg == WAIT_STATE_LAST ? ctx->args[3] : task__state(task);
	}
	wait__begin(task, ctx->args[0], state);
	wait__switched((__u64)next); /* both tell the time as late */
	if (cfg_wait_syscall)
		wait__pause(next);
	return 0;
}

/* A thread is back on a CPU, and had been away. */
static __always_inline int wait__sample(void *ctx, enum sample_walk how)
{
	struct trigger back = {.ctx = ctx};

	return wait__end(&back) ? sample__take(&back, how) : 0;
}

/* trace_sched_exit_tp(is_switch): the end of __schedule(), in the thread that is back (6.15). */
SEC("raw_tp/sched_exit_tp")
int sample_back_loop(struct bpf_raw_tracepoint_args *ctx)
{
	return wait__sample(ctx, SAMPLE_LOOP);
}

/* Where there is none: the first function that it calls (its name may have a suffix). */
SEC("kprobe/finish_task_switch")
int sample_finish_loop(struct pt_regs *ctx)
{
	return wait__sample(ctx, SAMPLE_LOOP);
}

SEC("kprobe/finish_task_switch")
int sample_finish_bounded(struct pt_regs *ctx)
{
	return wait__sample(ctx, SAMPLE_BOUNDED);
}

/* Where there are no kprobes either: the end of a system call in which it waited. */
SEC("raw_tp/sys_exit")
int sample_exit_loop(struct bpf_raw_tracepoint_args *ctx)
{
	return wait__sample(ctx, SAMPLE_LOOP);
}

SEC("raw_tp/sys_exit")
int sample_exit_bounded(struct bpf_raw_tracepoint_args *ctx)
{
	return wait__sample(ctx, SAMPLE_BOUNDED);
}
