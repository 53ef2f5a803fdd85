/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Native frames (native_walk.h) as the kernel goes through them.  User space writes what is known
 * of code.  The sampler reports missing code to it, once for each state of a process' space.
 */
#ifndef XR_NATIVE_BPF_H
#define XR_NATIVE_BPF_H

#include "emit.h"
#include "task.h"

/* Time that a sample may take beside what R's part may: for XR_NATIVE_MAX frames. */
#define NATIVE_NS (XR_NATIVE_MAX * 400ULL)

#define TELL_NS 1000000000ULL /* it is reported again unless user space says otherwise */

/*
 * Each of these separate functions looks at this constant: before Linux 6.8 they are verified even
 * where nothing calls them, and without native frames their maps are not there.
 */
#define CAPTURE_NATIVE (cfg_capture & XR_ROW_NATIVE)

static __always_inline const __u64 *native__slab(struct native *n, __u32 slab)
{
	void *map = bpf_map_lookup_elem(&slabs, &slab);
	__u32 zero = 0;

	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

static __always_inline int unwind__read(struct unwind *u, __u64 *dst, __u32 words, __u64 addr)
{
	return bpf_probe_read_user(dst, 8 * words, (const void *)addr);
}

__noinline int native_find(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return CAPTURE_NATIVE && s ? native__find_slow(&s->native, &s->walk) : -1;
}

static __always_inline struct native_memo *native__memo(struct native *n, __u64 pc)
{
	__u32 level = scratch__of_native(n)->level;
	struct memos *memos = bpf_map_lookup_elem(&native_memos, &level);

	return memos ? &memos->memos[(pc ^ pc >> 9) & (NATIVE_MEMOS - 1)] : NULL;
}

static __always_inline int native__find(struct native *n)
{
	struct scratch *s = scratch__of_native(n);

	if (native__recall(n, native__memo(n, n->pc), s->walk.row.space_stamp))
		return 0;
	return native_find(s->level);
}

__noinline int native_builtin(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return CAPTURE_NATIVE && s ? native__builtin_slow(&s->native, &s->walk) : 0;
}

static __always_inline int native__builtin(struct native *n)
{
	return native_builtin(scratch__of_native(n)->level);
}

__noinline int native_frame(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return CAPTURE_NATIVE && s ? native__frame_slow(&s->native, &s->walk) : 0;
}

static __always_inline int native__frame(struct native *n)
{
	return native_frame(scratch__of_native(n)->level);
}

#ifdef NATIVE_RESYNC
__noinline int native_resync(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return CAPTURE_NATIVE && s ? native__resync_slow(&s->native, &s->walk) : 0;
}

static __always_inline int native__resync(struct native *n)
{
	return native_resync(scratch__of_native(n)->level);
}

static __always_inline int native__guard(struct native *n)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return bpf_probe_read_user(&n->guard, sizeof(n->guard),
				   (void *)(XR_THREAD_POINTER(task) + NATIVE_GUARD_OFFSET));
}
#endif

/* The registers and the stack of the current thread, and the frame that it is in. */
__noinline int native_begin(__u32 level)
{
	struct scratch *s = scratch__get(level);
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	bpf_user_pt_regs_t *from = task__user_regs(task), regs;
	struct native *n;

	if (!CAPTURE_NATIVE || !s)
		return -XR_BAD_HEAD;
	n = &s->native;
	if (bpf_probe_read_kernel(&regs, sizeof(regs), from))
		return -XR_BAD_HEAD;
	n->unwind.pc_mask = cfg_pc_mask;
	n->unwind.top = s->part.pid == s->part.tid ? BPF_CORE_READ(task, mm, start_stack)
						   : XR_THREAD_POINTER(task);
	if (n->unwind.top <= XR_REGS_SP(&regs)) /* another stack than the thread's own */
		n->unwind.top = 0;
	return native__begin(n, &s->walk, XR_REGS_IP(&regs), XR_REGS_SP(&regs), XR_REGS_FP(&regs),
			     XR_REGS_LR(&regs));
}

/* User space is to look again at what the process has mapped. */
__noinline int native_tell_unknown(__u32 level)
{
	struct scratch *s = scratch__get(level);
	__u64 *words, *quiet;
	struct xr_row *row;
	__u32 pid;

	if (!CAPTURE_NATIVE || !s)
		return 0;
	pid = s->walk.row.pid;
	row = bpf_map_lookup_elem(&rows, &pid);
	if (!row || row->serial != s->walk.row.serial)
		return 0;
	words = (__u64 *)native__slab(&s->native, row->space_slab);
	if (words && (__u32)native__word(words, row->space_first) == row->space_stamp) {
		quiet = &words[masked(row->space_first + 1, XR_SLAB_WORDS - 1)];
		if (*quiet > s->part.time)
			return 0;
		*quiet = s->part.time + TELL_NS;
	} else { /* user space has released the space: once is enough */
		if (row->asked == row->space_stamp)
			return 0;
		row->asked = row->space_stamp;
	}
	process__tell((struct task_struct *)bpf_get_current_task(), XR_PROCESS_UNMAPPED,
		      row->serial, row->pid, 0, 0);
	return 0;
}

/* The end of a sample that is sent: what became of its native frames. */
static __always_inline void native__end(struct scratch *s, struct tally *tally)
{
	native__count(&s->native, tally->counts);
	s->part.flags |= XR_F_NATIVE | (native__cut(&s->native) ? XR_F_NATIVE_CUT : 0);
	if (s->native.unknown)
		native_tell_unknown(s->level);
}

#endif
