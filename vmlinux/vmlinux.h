/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types that the BPF programs use, and only the fields they use: libbpf finds each at
 * load time in the running kernel's BTF (CO-RE), so order and offsets here do not matter, names do.
 * Names with a suffix (___old) are of kernels before a change.
 *
 * tools/gen-vmlinux prints these types as a given kernel has them, to check against.
 */
#ifndef XR_VMLINUX_H
#define XR_VMLINUX_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef signed short __s16;
typedef unsigned int __u32;
typedef signed int __s32;
typedef unsigned long long __u64;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef int pid_t;
typedef _Bool bool;
enum { false = 0, true = 1 };

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum { BPF_F_MMAPABLE = 1U << 10 };

enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};

enum { BPF_RB_AVAIL_DATA = 0 };

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#include "arch.h"

/* include/uapi/linux/bpf_perf_event.h */
struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
	unsigned int level;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct mm_struct {
	unsigned long start_stack;
};

struct signal_struct {
	atomic_t live;
	int nr_threads;
};

struct task_struct {
	unsigned int flags;
	int on_cpu;
	unsigned int in_execve : 1;
	pid_t pid;
	pid_t tgid;
	void *stack;
	unsigned int __state; /* 5.14, kernel commit 2f064a59a11f; `state` before */
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct mm_struct *mm;
	struct pid *thread_pid;
	struct signal_struct *signal;
	unsigned long nvcsw;
	unsigned long nivcsw;
	u64 start_boottime; /* 5.5, kernel commit cf25e24db61c */
	char comm[16];
	struct thread_struct thread;
};

#pragma clang attribute pop

#define PF_EXITING 0x00000004 /* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

#endif
