/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One sample of the current thread, whatever made the sampler run.
 *
 * Whose stack is it?  R runs on one thread; the chain of contexts is stable only for as long as
 * that thread does not run.  So:
 *   - a process of one thread: the current thread is R's.
 *   - of several: it is R's if one of the contexts belongs to the current thread's own stack
 *     (enum walk_whose in walk_state.h).  The row keeps the thread (r_tid) for samples in which R
 *     executes no call.
 *   - another thread (BLAS, OpenMP) is given the R stack only if R's thread is known, is the
 *     thread group's leader, was on no CPU before and after the walk, and was not scheduled in
 *     between.  Otherwise the sample is sent without frames, marked XR_F_OTHER_THREAD.
 *
 * What a sample costs before its first context: the task (7 loads), the row (a look-up), working
 * memory and counts (an array look-up each), the time, and R_GlobalContext (the one read of user
 * memory; with --lines three to five more).  After its last: two questions to the ring, a copy
 * into it, and the time again.  The row is copied only when it is another, or was changed, since
 * the last sample here.
 */
#ifndef XR_SAMPLE_H
#define XR_SAMPLE_H

#include "budget.h"
#include "collection.h"
#include "emit.h"
#include "event.h"
#include "native_bpf.h"
#include "task.h"
#include "walk_parts.h"

/*
 * Why a sample is taken.  The programs' own.  What is asked for late is not kept on their stack,
 * most of which is in use (walk_parts.h): hence `perf` and `named`.
 */
struct trigger {
	__u64 weight;	/* how much the sample stands for, in `unit` */
	__u32 unit;	/* enum xr_unit */
	__u32 event;	/* enum xr_event */
	__u32 flags;	/* XR_F_* of the sample */
	__u32 detail;	/* of the sample */
	bool kernel;	/* the thread was in the kernel */
	bool named;	/* unit and event are those of the user's event (event.h) */
	bool counted;	/* what causes it has no period: event__due() */
	bool preempted; /* the program may be, in the middle */
	struct bpf_perf_event_data *perf; /* a perf event: it tells weight and kernel */
	void *ctx;			  /* of a perf event, or what else bpf_get_stack() takes */
};

/* scratch__take - mark @s as used; false: it is.  An interrupt in between gives it back itself. */
static __always_inline bool scratch__take(struct scratch *s)
{
	if (s->busy)
		return false;
	*(volatile __u32 *)&s->busy = 1;
	barrier();
	return true;
}

/*
 * scratch__take_shared - the same where another thread may come in between.  Each adds itself, and
 * who finds itself alone has it: of two one or none.  What interrupts in between uses another
 * level, or came before and is over.  (Each takes itself out again; comparing and exchanging came
 * with Linux 5.12.)
 */
static __always_inline bool scratch__take_shared(struct scratch *s)
{
	__sync_fetch_and_add(&s->busy, 1);
	if (*(volatile __u32 *)&s->busy == 1)
		return true;
	__sync_fetch_and_add(&s->busy, -1);
	return false;
}

/*
 * The working memory of a level that no program on this CPU uses, and its counts; NULL: all are in
 * use.
 * @shared: the program may be preempted in the middle (event.h).
 *
 * The level is read back from where it was noted: to the verifier it is then any number, whichever
 * was found, and it goes through what follows once instead of once for each level.
 */
static __always_inline struct scratch *scratch__claim(struct tally **tally, bool shared)
{
	struct scratch *s = NULL;
	__u32 level;

#pragma unroll
	for (level = 0; level < XR_LEVELS; level++) {
		s = scratch__get(level);
		if (!s)
			return NULL;
		if (shared ? scratch__take_shared(s) : scratch__take(s))
			break;
	}
	if (level == XR_LEVELS)
		return NULL;
	s->level = level;
	level = *(volatile __u32 *)&s->level;
	*tally = tally__get(level);
	return scratch__get(level);
}

static __always_inline void scratch__release(struct scratch *s, bool shared)
{
	barrier();
	if (shared)
		__sync_fetch_and_add(&s->busy, -1); /* somebody may be trying it */
	else
		*(volatile __u32 *)&s->busy = 0;
}

/* The row, as far as this level's copy of it is not the same. */
static __always_inline void sample__row(struct scratch *s, const struct xr_row *row)
{
	if (s->walk.row.serial != row->serial || s->walk.row.revision != row->revision)
		__builtin_memcpy(&s->walk.row, row, sizeof(*row));
	s->walk.row.r_tid = row->r_tid; /* the sampler sets it */
	s->walk.row.asked = row->asked;
	if (!walk__wants(&s->walk, XR_ROW_LABELS))
		return;
	s->walk.row.labels_value = row->labels_value;
	s->walk.row.labels_stamp = row->labels_stamp;
	s->walk.row.labels_hash = row->labels_hash;
}

/* What @t says, in the record; @weight: event__due(). */
static __always_inline void sample__cause(struct scratch *s, const struct trigger *t, __u64 weight)
{
	const bool kernel = t->perf ? !XR_REGS_USER(&t->perf->regs) : t->kernel;

	if (t->counted)
		s->part.weight = weight;
	else
		s->part.weight = t->perf ? event__weight(t->perf) : t->weight;
	s->part.unit = t->named ? cfg_unit : t->unit;
	s->part.event = t->named ? cfg_event : t->event;
	s->part.detail = t->detail;
	s->part.flags = t->flags | (kernel ? XR_F_KERNEL : 0);
}

/* No R function was being called: the sample is counted, and not sent. */
static __always_inline void sample__none(struct scratch *s, struct tally *tally)
{
	tally->counts[XR_NO_R_FRAMES]++;
	if (s->part.event == XR_EVENT_SWITCH && !(s->part.flags & XR_F_PREEMPTED))
		tally->counts[XR_WAITS_NONE_NS] += s->part.weight;
}

/* The same of R's thread, whose calls are over. */
static __always_inline void sample__none_of_r(struct scratch *s, struct tally *tally)
{
	sample__none(s, tally);
	if (!walk__wants(&s->walk, XR_ROW_CALLS))
		return;
	s->part.flags = (s->part.flags & (XR_F_KERNEL | XR_F_WAIT)) | XR_F_NONE;
	if (part__send(s, 0))
		count(XR_EVENTS_LOST);
}

/*
 * The start of a sample: everything but the loop over contexts.  0: go on; WALK_CUT: it may cost no
 * more; SAMPLE_COUNTED: it has an end already and is counted.
 */
#define SAMPLE_COUNTED 3
static __always_inline int sample__begin(struct scratch *s, struct tally *tally,
					 const struct current *now, struct xr_row *row,
					 const struct trigger *t, __u64 weight)
{
	int err;

	tally->counts[XR_TICKS]++;
	s->part.time = clock__now();
	if (now->exiting) {
		tally->counts[XR_EXITING]++;
		return SAMPLE_COUNTED;
	}
	sample__row(s, row);

	s->part.head.type = XR_REC_SAMPLE;
	sample__cause(s, t, weight);
	s->part.serial = s->walk.row.serial;
	s->part.pid = now->pids.tgid;
	s->part.tid = now->pids.tid;
	s->part.cpu = bpf_get_smp_processor_id();
	s->part.part = 0;
	s->part.nslots = 0;
	s->part.file = 0;
	s->part.line = 0;
	s->part.level = s->level;

	task__stack(now, s);
	s->walk.steady = !s->walk.sp_top || s->walk.row.r_tid == now->pids.tid;
	sample_budget__begin(&s->walk.budget, row, s->part.time,
			     cfg_sample_ns + (sample__native(s) ? NATIVE_NS : 0), cfg_sample_work);
	if (walk__wants(&s->walk, XR_ROW_PACKAGES))
		s->part.flags |= XR_F_PACKAGES;
	err = walk__begin(&s->walk);
	if (err < 0) {
		tally__add(tally, current__in_exec() ? XR_EXITING : -err);
		return SAMPLE_COUNTED;
	}
	if (err == WALK_DONE) {
		sample__none(s, tally);
		return SAMPLE_COUNTED;
	}
	if (walk__wants(&s->walk, XR_ROW_LABELS) && labels(s->level)) {
		tally__add(tally, XR_LOST);
		return SAMPLE_COUNTED;
	}
	if (s->walk.row.gc_begin && !s->walk.row.gc_at && walk__wants(&s->walk, XR_ROW_GC)) {
		__u64 ip = task__user_ip((struct task_struct *)bpf_get_current_task());

		s->walk.gc = ip >= s->walk.row.gc_begin && ip < s->walk.row.gc_end;
	}
	if (cfg_collections) /* it is in each of them */
		s->walk.gc = false;
	if (s->walk.gc)
		s->part.flags |= XR_F_GC;
	s->part.flags |= s->walk.first;
	if (walk__wants(&s->walk, XR_ROW_LINES)) {
		s->part.flags |= XR_F_LINES;
		err = innermost(s->level);
		if (err < 0)
			tally__add(tally, -err);
		else if (err && sample__native(s))
			native__clear(&s->native, NATIVE_FULL);
		if (err)
			return err < 0 ? SAMPLE_COUNTED : err;
		s->part.file = s->walk.file;
		s->part.line = s->walk.line;
		if (s->walk.unproven)
			s->part.flags |= XR_F_UNPROVEN;
	}
	return 0;
}

/* Native frames that were sent are kept when R's are not: they come first, for no frame owns R's.
 */
static __always_inline void sample__other_thread(struct scratch *s)
{
	const __u32 first = XR_FIRST_SLOTS(s->part.flags);
	__u32 n = s->kernels + first;

	if (s->part.flags & XR_F_LABELS) /* they are R's thread's */
		s->slots[masked(first - 1, XR_CHUNK_SLOTS - 1)].word = 0;
	if (sample__native(s))
		n += s->native.frames;
	s->part.flags |= XR_F_OTHER_THREAD;
	if (s->part.part || n > s->part.nslots) {
		sample__discard(s);
		s->part.flags &= ~(XR_F_MEMORY | XR_F_CALLS | XR_F_LABELS);
		s->native.end = NATIVE_FULL;
		return;
	}
	s->part.nslots = n;
}

/*
 * The frames of the kernel, if the thread was in it.  They come before others, and find room in the
 * first part.
 */
static __always_inline void sample__kernel(struct scratch *s, const struct trigger *t)
{
	long bytes;
	__u32 i;

	s->kernels = 0;
	if (!walk__wants(&s->walk, XR_ROW_KERNEL) || !(s->part.flags & XR_F_KERNEL) || !t->ctx)
		return;
	bytes = bpf_get_stack(t->ctx, s->kernel, sizeof(s->kernel), 0);
	for (i = 0; i < XR_KERNEL_MAX; i++) {
		if ((long)(8 * (i + 1)) > bytes)
			break;
		walk__emit(&s->walk,
			   ((__u64)XR_FORM_KERNEL << XR_FORM_SHIFT) | (s->kernel[i] & XR_WORD_MASK),
			   0);
	}
	s->kernels = i;
}

/*
 * Does R run on the current thread?  If R executes no call, its thread is the one proven last, or,
 * before any was, the first.
 */
static __always_inline bool sample__is_r(const struct scratch *s)
{
	const __u32 r_tid = s->walk.row.r_tid;

	if (!s->walk.sp_top || s->walk.whose != WALK_NOBODY)
		return s->walk.whose != WALK_ELSEWHERE;
	return s->part.tid == (r_tid ? r_tid : s->part.pid);
}

/* The end of a sample: @result is the last step's. */
static __always_inline void sample__end(struct scratch *s, struct tally *tally, int result)
{
	const bool waited = s->part.event == XR_EVENT_SWITCH;
	/* at R's prompt, or in Rserve between two requests: waits for work, which are asked for */
	const bool all = waited && s->walk.row.flags & XR_ROW_IDLE;
	bool idle = false; /* it waits, and is not R's thread */
	__u32 flags;

	if (result == 0)
		result = WALK_CUT;
	if (result > 0 && s->walk.whose == WALK_HERE)
		task__remember_thread(s);
	if (result > 0 && !sample__is_r(s) &&
	    (s->walk.frames || s->walk.gc || s->part.file || result == WALK_CUT || all)) {
		/*
		 * If R's thread may have moved nothing of it is sent.  Nor if this one waited: it
		 * did not for R's.
		 */
		if (!waited && task__leader_still(s)) {
			s->part.flags |= XR_F_ELSEWHERE;
		} else {
			result = WALK_DONE;
			sample__other_thread(s);
			idle = waited && !all;
		}
	}
	if (result < 0) {
		sample__discard(s);
		tally__add(tally, -result);
		return;
	}
	if (idle || (!s->walk.frames && !s->walk.gc && !s->part.file && result != WALK_CUT &&
		     !all && !(s->part.flags & XR_F_OTHER_THREAD))) {
		sample__discard(s);
		if (idle)
			sample__none(s, tally);
		else
			sample__none_of_r(s, tally);
		return;
	}
	flags = result == WALK_CUT ? XR_F_TRUNCATED : 0;
	if (sample__native(s))
		native__end(s, tally);
	if (part__send(s, flags)) {
		tally->counts[XR_LOST]++;
		return;
	}
	tally->counts[XR_WRITTEN]++;
	if (flags)
		tally->counts[XR_TRUNCATED]++;
	if (flags && s->walk.budget.over)
		tally->counts[XR_OVER_BUDGET]++;
	if (s->part.flags & XR_F_OTHER_THREAD)
		tally->counts[XR_OTHER_THREAD]++;
}

/* A separate function, for the stack of the programs (walk_parts.h). */
__noinline int sample_end(__u32 level, int result)
{
	struct scratch *s = scratch__get(level);
	struct tally *tally = tally__get(level);

	if (s && tally)
		sample__end(s, tally, result);
	return 0;
}

/* Steps of one sample: each context, and each native frame twice (it, and on to its caller). */
#define SAMPLE_STEPS (XR_CONTEXTS_MAX + 1 + 2 * XR_NATIVE_MAX + 2)

struct loop_state {
	struct scratch *scratch;
	int result;
};

static long loop_step(__u32 i, void *state)
{
	struct loop_state *l = state;

	l->result = part__room(l->scratch) ? -XR_LOST : walk__step(&l->scratch->walk);
	return l->result != 0;
}

static long loop_native(__u32 i, void *state)
{
	struct loop_state *l = state;

	l->result = native_step(l->scratch->level);
	return l->result != 0;
}

/* Without bpf_loop: loops with a bound, one inside a function that is verified by itself. */
#define BOUNDED_STEPS 256

__noinline int steps(__u32 level)
{
	int result = 0, i;

	for (i = 0; i < BOUNDED_STEPS && !result; i++)
		result = step(level);
	return result;
}

__noinline int native_steps(__u32 level)
{
	int result = 0, i;

	for (i = 0; i < BOUNDED_STEPS && !result; i++)
		result = native_step(level);
	return result;
}

/* How contexts are gone through: a constant of the program that is built. */
enum sample_walk { SAMPLE_LOOP, SAMPLE_BOUNDED };

static __always_inline int sample__walk(struct scratch *s, enum sample_walk how, bool native)
{
	struct loop_state l = {.scratch = s};
	int result = 0, i;

	if (how == SAMPLE_LOOP) {
		if (native)
			bpf_loop(SAMPLE_STEPS, loop_native, &l, 0);
		else
			bpf_loop(SAMPLE_STEPS, loop_step, &l, 0);
		return l.result;
	}
	for (i = 0; i < (int)SAMPLE_STEPS / BOUNDED_STEPS + 1 && !result; i++)
		result = native ? native_steps(s->level) : steps(s->level);
	return result;
}

/*
 * For tests: the stack without native frames, before the one with them.  Nothing of it is sent but
 * names.  (Not where functions have little stack.)
 */
static __always_inline int sample__first(struct scratch *s, enum sample_walk how)
{
	int err;

	s->sum = 0;
	err = sample__walk(s, how, false);
	sample__discard(s);
	s->first_sum = err == WALK_DONE ? s->sum : 0;
	err = walk__begin(&s->walk);
	if (!err && walk__wants(&s->walk, XR_ROW_LABELS))
		err = labels(s->level);
	s->sum = 0;
	if (!err && walk__wants(&s->walk, XR_ROW_LINES))
		err = innermost(s->level);
	return err;
}

/*
 * sample__take - take a sample of the current thread, if it is one of a process with a row, and
 * send it.  May interrupt another on this CPU.
 */
static __always_inline int sample__take(const struct trigger *t, enum sample_walk how)
{
	struct tally *tally = NULL;
	struct current now;
	struct xr_row *row;
	struct scratch *s;
	__u64 ns, weight = 0;
	int result;

	if (current__get(&now))
		return 0;
	row = bpf_map_lookup_elem(&rows, &now.pids.tgid);
	/* or: another process that got the pid of one that had a row */
	if (!row || !current__started(&now, row->start_time))
		return 0;
	if (t->counted) {
		weight = cfg_collections ? collection__weight(now.pids.tgid, !t->perf)
					 : event__due(how == SAMPLE_LOOP);
		if (!weight)
			return 0;
	}
	s = scratch__claim(&tally, t->preempted);
	if (!s || !tally) {
		count(XR_TICKS);
		count(XR_LOST);
		return 0;
	}
	result = sample__begin(s, tally, &now, row, t, weight);
	if (result == 0 && how == SAMPLE_LOOP && cfg_twice && sample__native(s))
		result = sample__first(s, how);
	if (result == 0)
		sample__kernel(s, t);
	if (result == 0 && sample__native(s))
		result = native_begin(s->level);
	if (result == 0)
		result = sample__walk(s, how, sample__native(s));
	/* what took too long was cut wherever that was */
	if (how == SAMPLE_LOOP && cfg_twice && result == WALK_DONE && s->first_sum &&
	    sample__native(s)) {
		tally->counts[XR_TWICE]++;
		tally->counts[XR_TWICE_DIFFER] += s->sum != s->first_sum;
	}
	if (result != SAMPLE_COUNTED)
		sample_end(s->level, result);
	ns = budget__spent(s, tally);
	if (result != SAMPLE_COUNTED) {
		budget__end(s, tally, ns);
		/* a collection takes longer than reading the stack: its samples are never reduced
		 */
		if (!cfg_collections && (s->walk.budget.over || row->strikes))
			budget_note(s->level);
	}
	scratch__release(s, t->preempted);
	return 0;
}

#endif
