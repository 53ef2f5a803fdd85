/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk (walk.h) as the kernel runs it: how it reads, what it remembers, how it sends.
 *
 * All state is in one record per CPU, for BPF has 512 bytes of stack; a program on a perf event
 * cannot be interrupted by another on the same CPU (bpf_prog_active, kernel/events/core.c).
 */
#ifndef XR_WALK_BPF_H
#define XR_WALK_BPF_H

#define WALK_FN static __always_inline

#include "walk.h"

/* A small direct-mapped memory of symbols whose names were sent: saves a hash look-up a frame. */
#define KNOWN_SLOTS 512

struct known {
	__u64 sym;
	__u32 serial;
	__u32 pad;
};

/*
 * One CPU's working memory.  `part` and `text` are records being made: they are copied into the
 * ring as they are.  The padding after `text` lets it be hashed by whole words.
 */
struct scratch {
	struct walk walk;
	struct known known[KNOWN_SLOTS];
	struct xr_text text;
	__u8 text_bytes[XR_TEXT_MAX];
	__u64 text_pad;
	struct xr_sample part;
	struct xr_slot slots[XR_CHUNK_SLOTS];
	__u64 wake_time;
	/* the leader of the thread group: its context switches when the sample began */
	__u64 leader_switches;
	__u32 leader_off; /* it was on no CPU then */
	__u32 pad;
};

_Static_assert(sizeof(struct scratch) <= 32768, "per-CPU map values are at most 32 KB");

#endif
