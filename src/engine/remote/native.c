/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/remote/hooks.h"

#ifdef __x86_64__
#define NATIVE_RESYNC
#endif
#include "native_walk.h"

#define MEMOS	    1024u
#define STACK_BYTES 16384u
#define PAGE	    4096u /* the smallest there is */
/* Between two looks at the clock: so much, of which a frame is 1. */
#define LOOK_EACH    64u
#define WORK_READ    16u /* a read of the target */
#define WORK_BUILTIN 64u
#define TELL_NS	     NS_PER_S

struct remote_native {
	struct native native; /* the first member: the hooks get it */
	struct remote_walk *rw;
	uint64_t thread, deadline;
	uint64_t stack_at; /* what of the stack was read last */
	uint32_t stack_len;
	uint32_t work;	     /* since the last look at the clock */
	uint32_t gone_stamp; /* of a space that was gone when its code was reported */
	uint64_t *slabs[REMOTE_SLABS_MAX];
	bool lent; /* the slabs are */
	struct native_memo memos[MEMOS];
	uint8_t stack[STACK_BYTES];
};

int remote_native__new(struct remote_native **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void remote_native__free(struct remote_native *n)
{
	for (uint32_t i = 0; n && !n->lent && i < REMOTE_SLABS_MAX; i++)
		free(n->slabs[i]);
	free(n);
}

void remote_native__lend(struct remote_native *n, uint32_t slab, uint64_t *words)
{
	n->lent = true;
	if (slab < REMOTE_SLABS_MAX)
		n->slabs[slab] = words;
}

int remote_native__slab(struct remote_native *n, uint32_t slab, uint64_t **words)
{
	if (slab >= REMOTE_SLABS_MAX)
		return -E2BIG;
	if (!n->slabs[slab])
		n->slabs[slab] = calloc(XR_SLAB_WORDS, sizeof(uint64_t));
	*words = n->slabs[slab];
	return *words ? 0 : -ENOMEM;
}

static struct remote_native *remote__of(struct native *n)
{
	return (struct remote_native *)n;
}

static const __u64 *native__slab(struct native *n, __u32 slab)
{
	return slab < REMOTE_SLABS_MAX ? (const __u64 *)remote__of(n)->slabs[slab] : NULL;
}

static struct native_memo *native__memo(struct native *n, __u64 pc)
{
	return &remote__of(n)->memos[(pc ^ pc >> 10) % MEMOS];
}

static int native__find(struct native *n)
{
	struct walk *w = &remote__of(n)->rw->walk;

	if (native__recall(n, native__memo(n, n->pc), w->row.space_stamp))
		return 0;
	return native__find_slow(n, w);
}

/* The thread stands still: a builtin is found in its memory as it is now. */
static int native__builtin(struct native *n)
{
	struct remote_walk *rw = remote__of(n)->rw;
	int err;

	remote__of(n)->work += WORK_BUILTIN;
	rw->direct = true;
	err = native__builtin_slow(n, &rw->walk);
	rw->direct = false;
	return err;
}

static bool native__late(struct remote_native *rn)
{
	rn->work = 0;
	return rn->deadline && remote__clock(rn->rw) >= rn->deadline;
}

static int native__frame(struct native *n)
{
	struct remote_native *rn = remote__of(n);

	if (++rn->work >= LOOK_EACH && native__late(rn)) {
		n->end = NATIVE_FULL;
		merge__no_frame(&n->merge);
		return 0;
	}
	return native__frame_slow(n, &rn->rw->walk);
}

#ifdef NATIVE_RESYNC
static int native__resync(struct native *n)
{
	return native__resync_slow(n, &remote__of(n)->rw->walk);
}

static int native__guard(struct native *n)
{
	const struct remote_native *rn = remote__of(n);

	if (!rn->thread)
		return -1;
	return remote_memory__read(&rn->rw->memory, rn->thread + NATIVE_GUARD_OFFSET, &n->guard,
				   sizeof(n->guard));
}
#endif

/* Read the stack from the page of @addr on, as much of it as there is. */
static void stack__read(struct remote_native *rn, uint64_t addr)
{
	struct remote_memory *m = &rn->rw->memory;

	rn->work += WORK_READ;
	rn->stack_at = addr & ~(uint64_t)(PAGE - 1);
	rn->stack_len = STACK_BYTES;
	if (remote_memory__read(m, rn->stack_at, rn->stack, rn->stack_len))
		rn->stack_len = PAGE;
	if (rn->stack_len == PAGE && remote_memory__read(m, rn->stack_at, rn->stack, PAGE))
		rn->stack_len = 0;
}

static bool stack__has(const struct remote_native *rn, uint64_t addr, uint32_t len)
{
	return addr >= rn->stack_at && rn->stack_len >= len &&
	       addr - rn->stack_at <= rn->stack_len - len;
}

static int unwind__read(struct unwind *u, __u64 *dst, __u32 words, __u64 addr)
{
	struct remote_native *rn = (struct remote_native *)u;
	const uint32_t len = 8 * words;

	if (addr > UINT64_MAX - STACK_BYTES)
		return -1;
	if (!stack__has(rn, addr, len))
		stack__read(rn, addr);
	if (!stack__has(rn, addr, len)) {
		rn->work += WORK_READ;
		return remote_memory__read(&rn->rw->memory, addr, dst, len);
	}
	memcpy(dst, rn->stack + (addr - rn->stack_at), len);
	return 0;
}

/* As native__begin(). */
static int remote_native__begin(struct remote_native *n, struct remote_walk *rw,
				const struct remote_regs *regs, uint64_t deadline)
{
	n->rw = rw;
	n->thread = regs->thread;
	n->deadline = deadline;
	n->stack_len = n->work = 0;
	n->native.unwind.top = regs->top > regs->sp ? regs->top : 0;
	n->native.unwind.pc_mask = regs->pc_mask;
	return native__begin(&n->native, &rw->walk, regs->pc, regs->sp, regs->fp, regs->lr);
}

int remote_native__walk(struct remote_native *n, struct remote_walk *rw,
			const struct remote_regs *regs, uint64_t deadline)
{
	int err = remote_native__begin(n, rw, regs, deadline);

	while (!err)
		err = native__step(&n->native, &rw->walk);
	return err;
}

void remote_native__alone(struct remote_native *n, struct remote_walk *rw,
			  const struct remote_regs *regs, uint64_t deadline)
{
	const uint64_t fun_tab = rw->walk.row.fun_tab;
	int err = 0;

	rw->walk.contexts = XR_CONTEXTS_MAX; /* no more are read */
	rw->walk.row.fun_tab = 0;	     /* nor what R calls */
	remote_native__begin(n, rw, regs, deadline);
	while (!err && n->native.frames < XR_CHUNK_FULL)
		err = native__step(&n->native, &rw->walk);
	if (!err) /* a record has no more */
		n->native.end = NATIVE_FULL;
	rw->walk.row.fun_tab = fun_tab;
}

void remote_native__count(const struct remote_native *n, uint64_t counts[XR_COUNTERS])
{
	native__count(&n->native, (__u64 *)counts);
}

uint32_t remote_native__flags(const struct remote_native *n)
{
	return XR_F_NATIVE | (native__cut(&n->native) ? XR_F_NATIVE_CUT : 0);
}

bool remote_native__unknown(struct remote_native *n, const struct xr_row *row, uint64_t now)
{
	const __u64 *words = native__slab(&n->native, row->space_slab);
	struct xr_space *space;

	if (!n->native.unknown || !words || row->space_first > XR_SLAB_WORDS - XR_SPACE_WORDS)
		return false;
	n->native.unknown = 0;
	space = (struct xr_space *)(uintptr_t)(words + row->space_first);
	if (space->stamp == row->space_stamp) {
		if (space->quiet > now)
			return false;
		space->quiet = now + TELL_NS;
		return true;
	}
	/* the space is no more in use: once is enough */
	if (n->gone_stamp == row->space_stamp)
		return false;
	n->gone_stamp = row->space_stamp;
	return true;
}
