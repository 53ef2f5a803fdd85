/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sampler: runs at each tick of a perf event on the thread it interrupted, walks R's contexts
 * and sends the stack.  Two programs, of which the loader takes one: sample_loop for kernels with
 * bpf_loop (5.17), sample_nested for those without.
 *
 * Whose stack is it?  R runs on one thread; the chain of contexts is stable only for as long as
 * that thread does not run.  So:
 *   - a process of one thread: the interrupted thread is R's.
 *   - of several: it is R's if one of the contexts lies on the interrupted thread's own stack
 *     (between its stack pointer and the top of its stack).  Some always do: the first call from
 *     top level is made by eval(), with its context on the C stack, in all versions.
 *   - another thread (BLAS, OpenMP) is given the R stack only if R's thread is known, is the
 *     thread group's leader, was on no CPU before and after the walk, and was not scheduled in
 *     between.  Otherwise the sample is sent without frames, marked XR_F_OTHER_THREAD.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "maps.h"
#include "task.h"
#include "lifecycle.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline struct scratch *scratch__get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* The walk is the first member of its scratch record. */
static __always_inline struct scratch *scratch__of(struct walk *w)
{
	return (struct scratch *)w;
}

static __always_inline int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len,
				      __u64 addr)
{
	return bpf_probe_read_user(dst, len, (const void *)addr);
}

/* Wake user space when much is waiting, and at most once a millisecond and CPU: a wake-up costs. */
static __always_inline __u64 ring__flags(struct scratch *s)
{
	__u64 now;

	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < cfg_wake_at)
		return BPF_RB_NO_WAKEUP;
	now = bpf_ktime_get_ns();
	if (now - s->wake_time < 1000000)
		return BPF_RB_NO_WAKEUP;
	s->wake_time = now;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline struct known *known__slot(struct scratch *s, __u64 sym)
{
	/* a cell is 56 bytes: bits 3 and up differ between neighbours */
	return &s->known[((sym >> 3) ^ (sym >> 12)) & (KNOWN_SLOTS - 1)];
}

static __always_inline int walk__known(struct walk *w, __u64 sym)
{
	struct known *k = known__slot(scratch__of(w), sym);

	return k->sym == sym && k->serial == w->row.serial;
}

static __always_inline void known__add(struct walk *w, __u64 sym)
{
	struct known *k = known__slot(scratch__of(w), sym);

	k->sym = sym;
	k->serial = w->row.serial;
}

/*
 * @n with no bits but those of @mask, for an offset or a length.  The compiler leaves out a mask
 * that a branch before it made superfluous; verifiers from 5.10 to 6.18 lose what the branch told
 * them when another copy of @n was tested than is used.  So it is hidden from the compiler.
 */
static __always_inline __u64 masked(__u64 n, __u64 mask)
{
	asm volatile("" : "+r"(n));
	return n & mask;
}

/* Read @len bytes at @addr into the text record. */
static __always_inline int text__read(struct scratch *s, __u64 addr, __u32 len)
{
	__u64 n = len > XR_TEXT_MAX ? XR_TEXT_MAX : len;

	s->text.len = n;
	/* what follows text_bytes would take the excess that the mask lets through */
	n = masked(n, 2 * XR_TEXT_MAX - 1);
	if (n && bpf_probe_read_user(s->text_bytes, n, (const void *)addr))
		return -XR_BAD_SYMBOL;
	return 0;
}

/* Send the text record as the text of @id.  It is marked as sent only when it is in the ring. */
static __always_inline int text__send(struct scratch *s, __u64 id, __u32 kind)
{
	struct sent_key key = {.id = id, .serial = s->walk.row.serial, .kind = kind};
	__u32 size = s->text.len;
	__u8 one = 1;

	if (size > XR_TEXT_MAX)
		return -XR_BAD_SYMBOL;
	size += sizeof(struct xr_text);
	s->text.head.type = XR_REC_TEXT;
	s->text.head.size = size;
	s->text.id = id;
	s->text.serial = key.serial;
	s->text.kind = kind;
	s->text.pad = 0;
	if (bpf_ringbuf_output(&ring, &s->text, size, ring__flags(s)))
		return -XR_LOST;
	bpf_map_update_elem(&sent, &key, &one, BPF_ANY);
	count(XR_SYMBOLS_SENT);
	return 0;
}

static __always_inline bool text__sent(struct walk *w, __u64 id, __u32 kind)
{
	struct sent_key key = {.id = id, .serial = w->row.serial, .kind = kind};

	return bpf_map_lookup_elem(&sent, &key);
}

static __always_inline int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	struct scratch *s = scratch__of(w);
	int err;

	if (!text__sent(w, sym, XR_TEXT_SYMBOL)) {
		err = text__read(s, addr, len);
		if (!err)
			err = text__send(s, sym, XR_TEXT_SYMBOL);
		if (err)
			return err;
	}
	known__add(w, sym);
	return 0;
}

/*
 * The hash that names a text: its words, mixed by multiplication.  A function of its own so that
 * the verifier goes through the loop once.
 */
__noinline int text__hash(void)
{
	struct scratch *s = scratch__get();
	__u64 h, word;
	__u32 len, i;

	if (!s)
		return -XR_BAD_SYMBOL;
	len = s->text.len & (2 * XR_TEXT_MAX - 1);
	h = len * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < XR_TEXT_MAX / 8; i++) {
		if (i * 8 >= len)
			break;
		word = *(__u64 *)(s->text_bytes + i * 8);
		if (len - i * 8 < 8)
			word &= (1ULL << (((len - i * 8) & 7) * 8)) - 1;
		h = (h ^ word) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	s->walk.hash = h | 1; /* 0 stands for no text */
	return 0;
}

static __always_inline int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	struct scratch *s = scratch__of(w);
	int err = text__read(s, addr, len);

	if (!err)
		err = text__hash();
	if (!err && !text__sent(w, w->hash, XR_TEXT_HASHED))
		err = text__send(s, w->hash, XR_TEXT_HASHED);
	return err;
}

/* Send the slots gathered so far as one part.  @flags: XR_F_*. */
static __always_inline int part__send(struct scratch *s, __u32 flags)
{
	__u32 n = s->part.nslots;
	int err;

	if (n > XR_CHUNK_SLOTS)
		return -XR_LOST;
	s->part.flags = (s->part.flags & ~XR_F_MORE) | flags;
	s->part.head.size = sizeof(struct xr_sample) + n * sizeof(struct xr_slot);
	err = bpf_ringbuf_output(&ring, &s->part,
				 sizeof(struct xr_sample) + n * sizeof(struct xr_slot),
				 ring__flags(s));
	s->part.part++;
	s->part.nslots = 0;
	return err ? -XR_LOST : 0;
}

static __always_inline int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct scratch *s = scratch__of(w);
	__u32 n = s->part.nslots;
	struct xr_slot *slot;

	if (n >= XR_CHUNK_SLOTS) {
		if (part__send(s, XR_F_MORE))
			return -XR_LOST;
		n = 0;
	}
	slot = &s->slots[masked(n, XR_CHUNK_SLOTS - 1)];
	slot->word = word;
	slot->more = more;
	s->part.nslots = n + 1;
	return 0;
}

/*
 * Parts of the walk are functions of their own, global, so that the verifier goes through each
 * once. On 5.10 such a function may take no pointer but a context, so they take nothing and look
 * the scratch record up again.
 */
__noinline int name_slow(void)
{
	struct scratch *s = scratch__get();

	return s ? walk__name_slow(&s->walk, s->walk.word) : -XR_BAD_FUN;
}

static __always_inline int walk__name(struct walk *w, __u64 fun)
{
	w->word = fun;
	return name_slow();
}

__noinline int lines_file(void)
{
	struct scratch *s = scratch__get();

	return s ? lines__file_slow(&s->walk, s->walk.lines.ref) : -XR_BAD_LINE;
}

static __always_inline int walk__lines_file(struct walk *w, __u64 env)
{
	w->lines.ref = env;
	return lines_file();
}

__noinline int lines_srcref(void)
{
	struct scratch *s = scratch__get();

	return s ? lines__srcref_slow(&s->walk, s->walk.lines.ref) : -XR_BAD_LINE;
}

static __always_inline int walk__lines_srcref(struct walk *w, __u64 ref)
{
	w->lines.ref = ref;
	return lines_srcref();
}

__noinline int lines_bc(void)
{
	struct scratch *s = scratch__get();

	return s ? lines__bc_slow(&s->walk) : -XR_BAD_LINE;
}

static __always_inline int walk__lines_bc(struct walk *w)
{
	return lines_bc();
}

__noinline int location(void)
{
	struct scratch *s = scratch__get();

	return s ? lines__of_context(&s->walk) : -XR_BAD_LINE;
}

static __always_inline int walk__location(struct walk *w)
{
	return cfg_lines ? location() : lines__none(w);
}

__noinline int innermost(void)
{
	struct scratch *s = scratch__get();

	return s ? lines__innermost(&s->walk) : -XR_BAD_LINE;
}

__noinline int step(void)
{
	struct scratch *s = scratch__get();

	return s ? walk__step(&s->walk) : -XR_BAD_CONTEXT;
}

/* The start of a sample: everything but the loop over contexts.  0: go on; 1: nothing to walk. */
static __always_inline int sample__begin(struct bpf_perf_event_data *ctx)
{
	struct current now;
	struct xr_row *row;
	struct scratch *s;
	int err;

	if (current__get(&now))
		return 1;
	row = bpf_map_lookup_elem(&rows, &now.pids.tgid);
	if (!row)
		return 1;
	s = scratch__get();
	if (!s || now.start_time != row->start_time)
		return 1; /* another process that got the pid of one that had a row */
	count(XR_TICKS);
	if (now.exiting) {
		count(XR_EXITING);
		return 1;
	}
	__builtin_memcpy(&s->walk.row, row, sizeof(*row));

	s->part.head.type = XR_REC_SAMPLE;
	s->part.time = bpf_ktime_get_ns();
	s->part.weight = 1;
	s->part.unit = XR_UNIT_TICKS;
	s->part.serial = row->serial;
	s->part.pid = now.pids.tgid;
	s->part.tid = now.pids.tid;
	s->part.cpu = bpf_get_smp_processor_id();
	s->part.flags = XR_REGS_USER(&ctx->regs) ? 0 : XR_F_KERNEL;
	s->part.part = 0;
	s->part.nslots = 0;
	s->part.file = 0;
	s->part.line = 0;
	s->part.level = 0;
	s->part.event = XR_EVENT_TICK;

	task__stack(&now, s);
	s->walk.steady = !s->walk.sp_top || row->r_tid == now.pids.tid;
	err = walk__begin(&s->walk);
	if (err < 0) {
		count(current__in_exec() ? XR_EXITING : -err);
		return 1;
	}
	if (err == WALK_DONE) {
		count(XR_NO_R_FRAMES);
		return 1;
	}
	if (s->walk.row.gc_begin && !s->walk.row.gc_at && (row->flags & XR_ROW_GC)) {
		__u64 ip = task__user_ip((struct task_struct *)bpf_get_current_task());

		s->walk.gc = ip >= s->walk.row.gc_begin && ip < s->walk.row.gc_end;
	}
	if (s->walk.gc)
		s->part.flags |= XR_F_GC;
	if (cfg_lines && (s->walk.row.flags & XR_ROW_LINES)) {
		s->part.flags |= XR_F_LINES;
		err = innermost();
		if (err) {
			count(-err);
			return 1;
		}
		s->part.file = s->walk.file;
		s->part.line = s->walk.line;
	}
	return 0;
}

/* The end of a sample: @result is the last step's. */
static __always_inline int sample__end(int result)
{
	struct scratch *s = scratch__get();
	__u32 flags;

	if (!s)
		return 0;
	if (result == 0)
		result = WALK_CUT;
	if (result > 0 && s->walk.sp_top) {
		if (s->walk.on_stack) {
			task__remember_thread(s);
		} else if (s->walk.frames && !task__leader_still(s)) {
			/* not R's thread, and R's may have moved: nothing of it is sent */
			s->part.flags |= XR_F_OTHER_THREAD;
			result = WALK_DONE;
			if (s->part.part) {
				part__send(s, XR_F_DISCARD);
				s->part.part = 0;
			}
			s->part.nslots = 0;
			s->part.flags &= ~XR_F_DISCARD;
		}
	}
	if (result < 0) {
		if (s->part.part)
			part__send(s, XR_F_DISCARD);
		count(-result);
		return 0;
	}
	if (!s->walk.frames && !s->walk.gc && !s->part.file &&
	    !(s->part.flags & XR_F_OTHER_THREAD)) {
		count(XR_NO_R_FRAMES);
		return 0;
	}
	flags = result == WALK_CUT ? XR_F_TRUNCATED : 0;
	if (part__send(s, flags)) {
		count(XR_LOST);
		return 0;
	}
	count(XR_WRITTEN);
	if (flags)
		count(XR_TRUNCATED);
	if (s->part.flags & XR_F_OTHER_THREAD)
		count(XR_OTHER_THREAD);
	return 0;
}

struct loop_state {
	struct scratch *scratch;
	int result;
};

static long loop_step(__u32 i, void *state)
{
	struct loop_state *l = state;

	l->result = walk__step(&l->scratch->walk);
	return l->result != 0;
}

SEC("perf_event")
int sample_loop(struct bpf_perf_event_data *ctx)
{
	struct loop_state l = {.scratch = scratch__get()};

	if (!l.scratch || sample__begin(ctx))
		return 0;
	bpf_loop(XR_CONTEXTS_MAX + 1, loop_step, &l, 0);
	return sample__end(l.result);
}

/* Without bpf_loop: loops with a bound, one inside a function that is verified by itself. */
#define NESTED_STEPS 256

__noinline int steps(void)
{
	int result = 0, i;

	for (i = 0; i < NESTED_STEPS && !result; i++)
		result = step();
	return result;
}

SEC("perf_event")
int sample_nested(struct bpf_perf_event_data *ctx)
{
	int result = 0, i;

	if (sample__begin(ctx))
		return 0;
	for (i = 0; i < (int)XR_CONTEXTS_MAX / NESTED_STEPS + 1 && !result; i++)
		result = steps();
	return sample__end(result);
}
