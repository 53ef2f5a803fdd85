/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program for perf events that does nothing. */
#ifndef XR_TEST_NOTHING_H
#define XR_TEST_NOTHING_H

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "tap.h"

/* nothing__load - its descriptor, the caller's; negative: BPF is not allowed here. */
static inline int nothing__load(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "nothing", "GPL", insns, COUNT(insns), NULL);
}

#endif
