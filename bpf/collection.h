/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collections of R's garbage as an event: the stack at the start of one is that of the allocation
 * for which there was no room, and stands for all bytes that were allocated since the last one
 * ended.
 *
 * R counts what is in use (memory.c: R_SmallVallocSize, R_LargeVallocSize, R_NodesInUse).  An
 * allocation adds to these, after the collection that it may cause; nothing takes from them but
 * RunGenCollect().  R_gc_internal() sets R_in_gc, calls that, and clears R_in_gc: at the first the
 * counts are what they were after the last allocation, at the second what is left.  The same holds
 * where it is entered and where it returns, except for what finalizers allocate in between.
 */
#ifndef XR_COLLECTION_H
#define XR_COLLECTION_H

#include "maps.h"
#include "task.h"

const volatile bool cfg_collections; /* this is the event */

#define COLLECTION_MOST (1ULL << 48) /* bytes: a larger count is not one of R's */

/*
 * Between the beginnings of two that are samples.  The shortest of R, gc(full = FALSE) with no
 * package but base, were seen to take 144 us.  The flag is the target's: one that writes it all the
 * time shall not take the room in the ring from others.
 */
#define COLLECTION_APART_NS 50000

/* Bytes in use; 0: not available. */
static __always_inline __u64 heap__bytes(const struct xr_row *row)
{
	__u64 count = 0, bytes;

	if (!row->small_at || !row->large_at || !row->nodes_at || !row->node_size)
		return 0;
	if (bpf_probe_read_user(&count, sizeof(count), (void *)row->small_at))
		return 0;
	bytes = count * 8;
	if (bpf_probe_read_user(&count, sizeof(count), (void *)row->large_at))
		return 0;
	bytes += count * 8;
	if (bpf_probe_read_user(&count, sizeof(count), (void *)row->nodes_at))
		return 0;
	return bytes + count * row->node_size;
}

/*
 * Does one begin?  Else it has ended.  @code: R_gc_internal() was entered, or has returned (a
 * probe); else R_in_gc was written, just now (a watchpoint).
 */
static __always_inline bool collection__begins(const struct xr_row *row, __u32 code)
{
	__u32 flag = 0;
	__u64 ip;

	if (code) {
		ip = task__user_ip((struct task_struct *)bpf_get_current_task());
		return ip == row->gc_begin;
	}
	if (row->gc_size == 1)
		bpf_probe_read_user(&flag, 1, (void *)row->gc_at);
	else
		bpf_probe_read_user(&flag, sizeof(flag), (void *)row->gc_at);
	return flag;
}

/*
 * collection__weight - the current thread is of process @pid, which has a row.  Bytes, if a
 * collection begins now that is a sample; else 0.  @code: as above.
 *
 * The row has the bytes in use when the last collection ended.  It has 0 while one runs, so that a
 * collection with two signs counts once.  It has 0 before the first, which is not a sample.  A
 * forked child goes on from what its parent had.  Separate functions keep the stack of the samplers
 * small (walk_parts.h).
 */
__noinline __u64 collection__weight(__u32 pid, __u32 code)
{
	struct xr_row *row = bpf_map_lookup_elem(&rows, &pid);
	__u64 bytes = row ? heap__bytes(row) : 0, base, now;

	if (!row || !bytes)
		return 0;
	if (!collection__begins(row, code)) {
		row->heap_base = bytes;
		return 0;
	}
	base = row->heap_base;
	row->heap_base = 0;
	if (!base || bytes <= base || bytes - base >= COLLECTION_MOST)
		return 0;
	now = clock__now();
	if (now - row->collected_at < COLLECTION_APART_NS) {
		count(XR_THROTTLED);
		return 0;
	}
	row->collected_at = now;
	return bytes - base;
}

#endif
