/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of the BPF programs, and what the loader sets before it loads them. */
#ifndef XR_MAPS_H
#define XR_MAPS_H

#include "layout.h"
#include "walk_bpf.h"

/* Set by the loader (programs.c); constants for the verifier. */
const volatile __u32 cfg_pidns;	  /* inode of the profiler's pid namespace, 0: the first one */
const volatile __u32 cfg_wake_at; /* bytes waiting in the ring from which user space is woken */
const volatile bool cfg_have_task_regs;	  /* bpf_task_pt_regs, 5.15 */
const volatile bool cfg_have_task_btf;	  /* bpf_get_current_task_btf, 5.11 */
const volatile bool cfg_twice;		  /* tests: is R's part the same without native frames? */
const volatile __u64 cfg_pc_mask = ~0ULL; /* bits of a return address that are the address */
/* what one sample may take: walk_budget's deadline and work_max */
const volatile __u64 cfg_sample_ns = 1000ULL * XR_SAMPLE_US;
const volatile __u32 cfg_sample_work = XR_SAMPLE_WORK_A_US * XR_SAMPLE_US;
const volatile __u32 cfg_cpu_bits = 12;	     /* that the number of a CPU takes */
const volatile __u64 cfg_tick_ns = 10000000; /* 1e9 / USER_HZ: the unit of start times in /proc */

const volatile __u64 cfg_boottime; /* as cfg_monotonic, of CLOCK_BOOTTIME */

/*
 * One row a process, by thread group id as the profiler sees it.  Filled by user space, copied to
 * forked children by lifecycle.h.  Preallocated, as hash maps are by default: before Linux 6.1 a
 * program on a perf event may use no other (check_map_prog_compatibility, kernel/bpf/verifier.c).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct xr_row);
} rows SEC(".maps");

/* Records for user space, abi.h.  The loader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 * 1024 * 1024);
} ring SEC(".maps");

/*
 * Counts, enum xr_counter.  Those of samples are kept by level, for what is added to them can be
 * interrupted by the next level only; entry 0 is for everything else, and is added to in one step.
 */
struct tally {
	__u64 counts[XR_COUNTERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XR_LEVELS + 1);
	__type(key, __u32);
	__type(value, struct tally);
} tallies SEC(".maps");

/* Texts that were sent.  Losing an entry only means that it is sent again. */
#define SENT_PLACE 3

struct sent_key {
	__u64 id;
	__u32 serial;
	__u32 kind; /* enum xr_text_kind, or SENT_PLACE */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct sent_key);
	__type(value, __u8);
} sent SEC(".maps");

/* What is known of native code, space.h: user space makes the slabs, maps and fills them. */
struct slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, XR_SLAB_WORDS * 8);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 64);
	__type(key, __u32);
	__array(values, struct slab);
} slabs SEC(".maps");

/*
 * Working memory, by level.  As long as perf events alone make the sampler run the loader leaves
 * one level.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XR_LEVELS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XR_LEVELS);
	__type(key, __u32);
	__type(value, struct text_record);
} texts SEC(".maps");

/* What was found of code last, by its address. */
#define NATIVE_MEMOS 512

struct memos {
	struct native_memo memos[NATIVE_MEMOS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XR_LEVELS);
	__type(key, __u32);
	__type(value, struct memos);
} native_memos SEC(".maps");

static __always_inline struct scratch *scratch__get(__u32 level)
{
	return bpf_map_lookup_elem(&scratches, &level);
}

static __always_inline struct text_record *text__get(__u32 level)
{
	return bpf_map_lookup_elem(&texts, &level);
}

/* The counts of samples of @level. */
static __always_inline struct tally *tally__get(__u32 level)
{
	__u32 entry = level + 1;

	return bpf_map_lookup_elem(&tallies, &entry);
}

static __always_inline void tally__add(struct tally *tally, __u32 which)
{
	if (which < XR_COUNTERS)
		tally->counts[which]++;
}

/* Count what belongs to no sample that was taken. */
static __always_inline void count_more(__u32 which, __u64 n)
{
	__u32 zero = 0;
	struct tally *tally = bpf_map_lookup_elem(&tallies, &zero);

	if (tally && which < XR_COUNTERS)
		__sync_fetch_and_add(&tally->counts[which], n);
}

static __always_inline void count(__u32 which)
{
	count_more(which, 1);
}

#endif
