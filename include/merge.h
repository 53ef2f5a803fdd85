/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two stacks of one thread made into one, exactly and by addresses alone: native frames, and R's
 * contexts.  Both come innermost first.
 *
 * A frame owns the bytes of the stack from where the stack pointer is in it to its canonical frame
 * address, [lo, hi).  A context is a local variable of the C function that made it, so it lies in
 * its frame (src/main/eval.c, R 3.4 to 4.6).  Since R 4.4 byte code has contexts of calls it makes
 * itself on the heap; but each context keeps R_BCpc, the address of a local variable of the running
 * bcEval(), and for these that is the bcEval() which made it.  So a context has a key: its address
 * if that is on the thread's stack, else its bcpc; and the frame whose bytes the key is in owns it.
 * No names, no symbols, no counts: inlined functions, C++ and R called from C make no difference.
 *
 * Keys ascend from frame to frame, so one comparison tells which comes next.  (Those of one frame
 * need not: while R's own profiler runs bcEval() has a context of each builtin it calls, wherever
 * among its variables.)  A context below the current frame has no frame any more: a longjmp or a
 * C++ exception went over it, and R has not noticed yet.  R's own profiler writes it, so it is
 * emitted, and counted.
 */
#ifndef XR_MERGE_H
#define XR_MERGE_H

#include "abi.h"

/* What comes next. */
enum merge_next {
	MERGE_DONE,    /* both ended */
	MERGE_UNWIND,  /* nothing: go on to the caller of the current frame, then ask again */
	MERGE_FRAME,   /* the current frame */
	MERGE_CONTEXT, /* the current context, which the frame emitted last owns */
	MERGE_DEAD,    /* the current context, which no frame owns */
	MERGE_REST,    /* the current context; the frames ended, so its owner is not known */
};

enum merge_frame {
	MERGE_FRAME_NEW,   /* not emitted yet */
	MERGE_FRAME_TOLD,  /* contexts of it may follow */
	MERGE_FRAME_ENDED, /* there are no more */
};

struct merge {
	__u64 lo, hi;	 /* of the current frame */
	__u64 key;	 /* of the current context; 0: further out than all frames */
	__u32 frame;	 /* enum merge_frame */
	__u32 contexts;	 /* 1: there is a current one; 0: they ended */
	__u32 dead;	 /* contexts so far that no frame owns */
	__u32 descended; /* contexts so far further in than the one before: this must not be */
};

/* merge__begin - there is no frame and no context yet: give both before the first merge__next. */
WALK_FN void merge__begin(struct merge *m)
{
	m->lo = 0;
	m->hi = 0;
	m->key = 0;
	m->frame = MERGE_FRAME_ENDED;
	m->contexts = 0;
	m->dead = 0;
	m->descended = 0;
}

/* merge__frame - the next frame outward: [@lo, @hi). */
WALK_FN void merge__frame(struct merge *m, __u64 lo, __u64 hi)
{
	m->lo = lo;
	m->hi = hi;
	m->frame = MERGE_FRAME_NEW;
}

/* merge__no_frame - there is no further one: it is the outermost, or cannot be unwound. */
WALK_FN void merge__no_frame(struct merge *m)
{
	m->frame = MERGE_FRAME_ENDED;
}

/*
 * merge__context - the next context outward.  @key 0: not known, it goes with the one
 * before; without one before, behind all frames.
 */
WALK_FN void merge__context(struct merge *m, __u64 key)
{
	if (key && key < m->key && key < m->lo)
		m->descended++;
	if (key)
		m->key = key;
	m->contexts = 1;
}

/* merge__no_context - there is no further one. */
WALK_FN void merge__no_context(struct merge *m)
{
	m->contexts = 0;
}

/* merge__owns - does the current frame own the current context? */
WALK_FN int merge__owns(const struct merge *m)
{
	return m->contexts && m->key && m->key >= m->lo && m->key < m->hi;
}

/* merge__is_next - what comes next; nothing changes. */
WALK_FN int merge__is_next(const struct merge *m)
{
	if (m->frame == MERGE_FRAME_ENDED)
		return m->contexts ? MERGE_REST : MERGE_DONE;
	if (m->contexts && m->key && m->key < m->lo)
		return MERGE_DEAD;
	if (m->frame == MERGE_FRAME_NEW)
		return MERGE_FRAME;
	return m->contexts && m->key && m->key < m->hi ? MERGE_CONTEXT : MERGE_UNWIND;
}

/*
 * merge__next - what comes next, and it will be emitted.  After MERGE_FRAME and a context the same
 * is to be asked again, with the next context.
 */
WALK_FN int merge__next(struct merge *m)
{
	const int next = merge__is_next(m);

	if (next == MERGE_DEAD)
		m->dead++;
	if (next == MERGE_FRAME)
		m->frame = MERGE_FRAME_TOLD;
	return next;
}

#endif
