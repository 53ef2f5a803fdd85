/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of the BPF programs, and what the loader sets before it loads them. */
#ifndef XR_MAPS_H
#define XR_MAPS_H

#include "layout.h"
#include "walk_bpf.h"

/* Set by the loader (engine_bpf.c); constants for the verifier. */
const volatile __u32 cfg_pidns;	  /* inode of the profiler's pid namespace, 0: the first one */
const volatile __u32 cfg_wake_at; /* bytes waiting in the ring from which user space is woken */
const volatile bool cfg_have_task_regs;	     /* bpf_task_pt_regs, 5.15 */
const volatile bool cfg_have_task_btf;	     /* bpf_get_current_task_btf, 5.11 */
const volatile bool cfg_lines;		     /* some row may ask for lines */
const volatile __u64 cfg_tick_ns = 10000000; /* 1e9 / USER_HZ: the unit of start times in /proc */

/*
 * One row a process, by thread group id as the profiler sees it.  Filled by user space, copied to
 * forked children by lifecycle.bpf.c.  Preallocated: programs on perf events may use no other.
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

/* enum xr_counter */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XR_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* Texts that were sent.  Losing an entry only means that it is sent again. */
struct sent_key {
	__u64 id;
	__u32 serial;
	__u32 kind; /* enum xr_text_kind */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct sent_key);
	__type(value, __u8);
} sent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &which);

	if (value)
		*value += 1; /* per CPU, and programs on one CPU do not interrupt each other */
}

#endif
