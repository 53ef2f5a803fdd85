/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the sampler is measured against: a program that does nothing, and one that only reads. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define METER_READS 64

const volatile __u64 cfg_address; /* in the target: where to read 8 bytes */
__u64 reads, failed;

SEC("perf_event")
int meter_empty(struct bpf_perf_event_data *ctx)
{
	return 0;
}

/* Where --off-cpu has its programs. */
SEC("raw_tp/sched_switch")
int meter_leave(struct bpf_raw_tracepoint_args *ctx)
{
	return 0;
}

SEC("raw_tp/sched_exit_tp")
int meter_back(struct bpf_raw_tracepoint_args *ctx)
{
	return 0;
}

SEC("perf_event")
int meter_reads(struct bpf_perf_event_data *ctx)
{
	__u64 word;
	int i;

	for (i = 0; i < METER_READS; i++)
		if (bpf_probe_read_user(&word, sizeof(word), (const void *)cfg_address))
			__sync_fetch_and_add(&failed, 1);
	__sync_fetch_and_add(&reads, METER_READS);
	return 0;
}
