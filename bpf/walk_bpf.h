/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk (walk.h) as the kernel runs it: how it reads, what it remembers, how it sends.
 *
 * All state is in a record, for BPF has 512 bytes of stack: one per CPU and nesting level.  A
 * program on a perf event cannot be interrupted by another on the same CPU (bpf_prog_active,
 * kernel/events/core.c); one on a raw tracepoint can.
 */
#ifndef XR_WALK_BPF_H
#define XR_WALK_BPF_H

#define WALK_FN	     static __always_inline
#define WALK_CAPTURE cfg_capture

const volatile __u32 cfg_capture; /* what any row may ask for: XR_CAPTURE */

#include "native_walk.h"

/* What the profiler's time namespace adds to the kernel's CLOCK_MONOTONIC: ns, modulo 2^64. */
const volatile __u64 cfg_monotonic;

/* CLOCK_MONOTONIC as the profiler has it, ns. */
static __always_inline __u64 clock__now(void)
{
	return bpf_ktime_get_ns() + cfg_monotonic;
}

/* A small direct-mapped memory of symbols whose names were sent: saves a hash look-up a frame. */
#define KNOWN_SLOTS 512

struct known {
	__u64 sym;
	__u32 serial;
	__u32 pad;
};

/* The working memory of one CPU and level.  `part` is copied into the ring as it is. */
struct scratch {
	struct walk walk; /* first: see scratch__of() */
	struct known known[KNOWN_SLOTS];
	__u64 wake_ns; /* when user space was woken last */
	/* the leader of the thread group: its context switches when the sample began */
	__u64 leader_switches;
	__u64 longest_ns; /* of the samples taken with it, */
	__u32 most_work;  /* and their work */
	__u32 pad;
	__u64 text_at; /* arguments of walk__text() */
	__u32 text_len;
	__u32 leader_off; /* the leader was on no CPU when the sample began */
	__u32 level;	  /* this record's */
	__u32 busy;	  /* a sample is being taken with it */
	__u32 kernels;	  /* frames of the kernel in it */
	__u32 pad2;
	__u64 sum, first_sum; /* with cfg_twice: of R's slots, now and of the walk before */
	struct native native;
	__u64 kernel[XR_KERNEL_MAX]; /* instructions, innermost first */
	struct xr_sample part;
	struct xr_slot slots[XR_CHUNK_SLOTS];
};

_Static_assert(sizeof(struct scratch) <= 32768, "per-CPU map values are at most 32 KB");

/* A text being made, copied into the ring as it is: room for what a mask lets through. */
#define TEXT_BYTES 16384

struct text_record {
	struct xr_text text;
	__u8 bytes[TEXT_BYTES];
};

_Static_assert(TEXT_BYTES > XR_NAME_MAX && TEXT_BYTES > XR_TEXT_MAX, "a power of two above both");

static __always_inline struct scratch *scratch__of(struct walk *w)
{
	return (struct scratch *)w;
}

static __always_inline struct scratch *scratch__of_native(struct native *n)
{
	return (struct scratch *)((void *)n - offsetof(struct scratch, native));
}

static __always_inline int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len,
				      __u64 addr)
{
	return bpf_probe_read_user(dst, len, (const void *)addr);
}

static __always_inline __u64 walk__now(struct walk *w)
{
	return clock__now();
}

#endif
