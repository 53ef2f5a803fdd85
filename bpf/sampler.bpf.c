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

/* A tick of a perf event on the thread it interrupted. */
#define TICK(ctx)                                                                                  \
	{                                                                                          \
		.weight = 1, .unit = XR_UNIT_TICKS, .event = XR_EVENT_TICK,                        \
		.kernel = !XR_REGS_USER(&(ctx)->regs), .ctx = ctx                                  \
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
