/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk's parts as the verifier wants them: separate functions. */
#ifndef XR_WALK_PARTS_H
#define XR_WALK_PARTS_H

#include "emit.h"
#include "native_bpf.h"

/*
 * Parts of the walk are separate global functions, so that the verifier goes through each once.  On
 * 5.10 such a function may take no pointer but a context, so they take the nesting level and look
 * the scratch record up again.  The deepest chain of them may have 512 bytes of stack, each rounded
 * up to 32, and eight functions (Linux 6.13 allows more stack: it is an older one that refuses):
 * sample_loop, loop_native, native_step, location, lines_bc, lines_srcref, lines_file, look.
 */
__noinline int name_slow(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? walk__name_slow(&s->walk, s->walk.word) : -XR_BAD_FUN;
}

static __always_inline int walk__name(struct walk *w, __u64 fun)
{
	w->word = fun;
	return name_slow(scratch__of(w)->level);
}

__noinline int text(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? walk__text_slow(&s->walk, s->text_at, s->text_len) : -XR_BAD_SYMBOL;
}

static __always_inline int walk__text(struct walk *w, __u64 addr, __u32 len)
{
	struct scratch *s = scratch__of(w);

	s->text_at = addr;
	s->text_len = len;
	return text(s->level);
}

/* text() and lines_tell() are called by lines_srcref(): lines_file() leaves them no stack. */
__noinline int lines_tell(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? lines__tell_slow(&s->walk, s->walk.lines.ref) : -XR_BAD_LINE;
}

static __always_inline int walk__lines_tell(struct walk *w, __u64 env)
{
	w->lines.ref = env;
	return lines_tell(scratch__of(w)->level);
}

__noinline int lines_file(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? lines__file_slow(&s->walk, s->walk.lines.ref) : -XR_BAD_LINE;
}

static __always_inline int walk__lines_file(struct walk *w, __u64 env)
{
	w->lines.ref = env;
	return lines_file(scratch__of(w)->level);
}

__noinline int lines_srcref(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? lines__srcref_slow(&s->walk, s->walk.lines.ref) : -XR_BAD_LINE;
}

static __always_inline int walk__lines_srcref(struct walk *w, __u64 ref)
{
	w->lines.ref = ref;
	return lines_srcref(scratch__of(w)->level);
}

__noinline int lines_bc(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? lines__bc_slow(&s->walk) : -XR_BAD_LINE;
}

static __always_inline int walk__lines_bc(struct walk *w)
{
	return lines_bc(scratch__of(w)->level);
}

__noinline int location(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? lines__of_context(&s->walk) : -XR_BAD_LINE;
}

static __always_inline int walk__location(struct walk *w)
{
	return location(scratch__of(w)->level);
}

__noinline int env_name(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? function__env_name_slow(&s->walk) : 0;
}

static __always_inline int walk__env_name(struct walk *w)
{
	return env_name(scratch__of(w)->level);
}

__noinline int package(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? function__package_slow(&s->walk) : 0;
}

static __always_inline int walk__package(struct walk *w)
{
	return package(scratch__of(w)->level);
}

__noinline int function(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? function__of_context(&s->walk) : 0;
}

static __always_inline int walk__function(struct walk *w)
{
	return function(scratch__of(w)->level);
}

__noinline int which_call(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? calls__of_context(&s->walk) : 0;
}

static __always_inline int walk__which_call(struct walk *w)
{
	return which_call(scratch__of(w)->level);
}

__noinline int filter(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? walk__filter_slow(&s->walk) : -XR_BAD_CONTEXT;
}

static __always_inline int walk__filter(struct walk *w)
{
	return filter(scratch__of(w)->level);
}

__noinline int look(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? walk__look_slow(&s->walk) : 1;
}

static __always_inline int walk__look(struct walk *w)
{
	return look(scratch__of(w)->level);
}

__noinline int innermost(__u32 level)
{
	struct scratch *s = scratch__get(level);

	return s ? lines__innermost(&s->walk) : -XR_BAD_LINE;
}

/* What was read is remembered in the row, for the samples of all CPUs. */
static __always_inline void labels__remember(struct scratch *s)
{
	const struct xr_row *read = &s->walk.row;
	struct xr_row *row = bpf_map_lookup_elem(&rows, &s->part.pid);

	if (!row || !read->labels_value || row->serial != read->serial)
		return;
	/* a sample that interrupts this one finds the three together, or nothing */
	row->labels_value = 0;
	barrier();
	row->labels_stamp = read->labels_stamp;
	row->labels_hash = read->labels_hash;
	barrier();
	row->labels_value = read->labels_value;
}

__noinline int labels(__u32 level)
{
	struct scratch *s = scratch__get(level);
	__u64 value, stamp;
	int err;

	if (!s || !walk__wants(&s->walk, XR_ROW_LABELS))
		return 0;
	value = s->walk.row.labels_value;
	stamp = s->walk.row.labels_stamp;
	err = labels__begin(&s->walk);
	if (s->walk.row.labels_value != value || s->walk.row.labels_stamp != stamp)
		labels__remember(s);
	return err;
}

/* Does this sample have native frames? */
static __always_inline bool sample__native(const struct scratch *s)
{
	return walk__wants(&s->walk, XR_ROW_NATIVE) && s->walk.row.space_stamp;
}

__noinline int step(__u32 level)
{
	struct scratch *s = scratch__get(level);

	if (!s)
		return -XR_BAD_CONTEXT;
	return part__room(s) ? -XR_LOST : walk__step(&s->walk);
}

__noinline int native_step(__u32 level)
{
	struct scratch *s = scratch__get(level);

	if (!CAPTURE_NATIVE || !s)
		return -XR_BAD_CONTEXT;
	return part__room(s) ? -XR_LOST : native__step(&s->native, &s->walk);
}

#endif
