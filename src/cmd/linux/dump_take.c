/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_take.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "session/session.h"

#define FREQ	    500	 /* Hz: a stack that changed while it was read is read again so soon */
#define TRY_MS	    800	 /* for one process, from the start of its session on */
#define UNPROVEN_MS 100	 /* of that, for the line of the innermost frame to become known */
#define NATIVE_MS   8000 /* with native frames: unwind tables are made first */
#define LATE_MS	    2000 /* from the first sample on, for threads that do not stop in time */
#define THREADS_MAX 10000u
#define POLL_MS	    2
#define READ_US	    500000 /* for a stack, however deep; no thread is held up as long */

static void take__forget(struct dump_take *t)
{
	stacks__free(&t->stacks);
	stacks__init(&t->stacks, NULL, &t->last_id);
	t->nnatives = 0;
}

/* The native frames of a thread, without the mark that they are all there is. */
static const struct stack *stacks__native(struct stacks *s, const struct stack *from)
{
	uint32_t n = from->nframes;

	from = stacks__copy(s, from);
	if (from && n && from->frames[n - 1]->function == mark_other_thread.function)
		n--;
	return from ? stacks__stack(s, from->frames, n, from->top) : NULL;
}

static int newest__native(struct dump_take *t, const struct sample *s)
{
	struct dump_native *one = NULL;

	for (size_t i = 0; i < t->nnatives; i++)
		if (t->natives[i].tid == (pid_t)s->tid)
			one = &t->natives[i];
	if (!one && array__room(&t->natives, t->nnatives, &t->natives_cap, sizeof(*one)))
		return errmsg__set(&t->why, -ENOMEM, "out of memory");
	one = one ? one : &t->natives[t->nnatives++];
	t->sampled = t->sampled ? t->sampled : os__now();
	*one = (struct dump_native){
		.tid = (pid_t)s->tid,
		.late = s->flags & XR_F_NATIVE_CUT && !(s->flags & (XR_F_STOPPED | XR_F_DISK)),
		.stack = stacks__native(&t->stacks, s->stack),
	};
	return one->stack ? 0 : errmsg__set(&t->why, -ENOMEM, "out of memory");
}

static bool stack__has_native(const struct stack *stack)
{
	for (uint32_t i = 0; i < stack->nframes; i++)
		if (stack->frames[i]->kind == FRAME_NATIVE || stack->frames[i]->module)
			return true;
	return false;
}

/* With XR_ROW_CALLS: which call each frame of @s is; 0 of others than functions. */
static int newest__calls(struct dump_take *t, const struct sample *s)
{
	const uint32_t n = s->stack->nframes;

	if (array__room(&t->calls, n, &t->calls_cap, sizeof(*t->calls)))
		return -ENOMEM;
	memset(t->calls, 0, n * sizeof(*t->calls));
	for (uint32_t i = 0, k = 0; i < n && k < s->ncalls; i++)
		if (s->stack->frames[i] == s->calls[k].frame)
			t->calls[i] = s->calls[k++];
	t->now->calls = t->calls;
	return 0;
}

/* 't' is a stop of engine ptrace; 0: not known. */
static bool state__waits(char state)
{
	return state && state != 'R' && state != 't';
}

/* The newest sample stands. */
static int newest__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct dump_take *t = arg;
	struct dump_process *now = t->now;

	(void)p;
	if (s->pid != (uint32_t)now->pid) /* a child */
		return 0;
	if (s->flags & XR_F_OTHER_THREAD)
		return newest__native(t, s);
	take__forget(t);
	now->stack = stacks__copy(&t->stacks, s->stack);
	if (!now->stack || newest__calls(t, s))
		return errmsg__set(&t->why, -ENOMEM, "out of memory");
	now->tid = (pid_t)s->tid;
	now->flags = s->flags;
	t->late = s->flags & XR_F_NATIVE_CUT && !stack__has_native(now->stack);
	t->sampled = t->samples++ ? t->sampled : os__now();
	activity__read(&now->activity, now->pid, now->tid);
	/* one that waited and was stopped is about to wait again */
	if (!state__waits(now->activity.state) && state__waits(t->before.state))
		now->activity = t->before;
	return 0;
}

static const struct errmsg *newest__why(void *arg)
{
	struct dump_take *t = arg;

	return &t->why;
}

static const struct sink_ops sink_ops = {
	.sample = newest__sample,
	.why = newest__why,
};

static bool take__is_late(const struct dump_take *t)
{
	bool late = t->late;

	for (size_t i = 0; i < t->nnatives; i++)
		late = late || t->natives[i].late;
	return late;
}

/* Is what came so far what is to be shown? */
static bool take__complete(const struct dump_take *t, struct session *s, uint64_t passed)
{
	struct stats stats;

	if (t->sampled && os__now() < t->sampled + LATE_MS * NS_PER_MS && take__is_late(t))
		return false;
	if (t->samples)
		return !(t->now->flags & XR_F_UNPROVEN) || passed >= UNPROVEN_MS * NS_PER_MS;
	return !session__stats(s, &stats) && stats.no_r_frames;
}

static void take__before(struct dump_take *t)
{
	const uint64_t raised = rights__raise(RIGHTS_TARGET);

	if (activity__read(&t->before, t->now->pid, t->now->tid))
		t->before.state = 0;
	rights__lower(raised);
}

/* Its session has begun: take a sample.  0, or a negative errno with @f filled. */
static int take__sample(struct dump_take *t, struct session *s, uint32_t try_ms, struct errmsg *f)
{
	uint64_t began = os__now(), passed = 0;
	enum session_state state = SESSION_RUNS;
	struct stats stats;
	const char *why;

	while (state == SESSION_RUNS && passed < try_ms * NS_PER_MS) {
		if (t->now->native)
			take__before(t);
		state = session__poll(s, POLL_MS);
		passed = os__now() - began;
		if (take__complete(t, s, passed))
			break;
	}
	if (t->samples)
		return 0;
	if (session__stats(s, &stats))
		stats = (struct stats){0};
	if (stats.no_r_frames) {
		activity__read(&t->now->activity, t->now->pid, t->now->tid);
		return 0;
	}
	why = session__why(s)->text;
	if (state == SESSION_FAILED || (*why && !stats.ticks))
		return errmsg__set(f, -EIO, "%s", why);
	if (state == SESSION_OVER)
		return errmsg__set(f, -ESRCH, "process %d ended before it could be read",
				   (int)t->now->pid);
	if (stats.rows[XR_TORN])
		return errmsg__set(f, -EAGAIN,
				   "process %d: its stack changed each time that it was read "
				   "(%llu); -e ptrace stops it for a moment",
				   (int)t->now->pid, (unsigned long long)stats.rows[XR_TORN]);
	return errmsg__set(f, -EIO, "process %d: its stack could not be read within %u ms",
			   (int)t->now->pid, try_ms);
}

static void on_note(void *arg, enum notes_level level, const char *line)
{
	(void)arg;
	(void)level;
	log__line("%s", line);
}

static const struct stack *take__native(const struct dump_take *t, pid_t tid)
{
	for (size_t i = 0; i < t->nnatives; i++)
		if (t->natives[i].tid == tid)
			return t->natives[i].stack;
	return NULL;
}

static int thread__compare(const void *a, const void *b)
{
	const struct dump_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* One that has ended is left out. */
static int take__thread(struct dump_take *t, pid_t tid)
{
	struct dump_thread one = {.tid = tid, .stack = take__native(t, tid)};
	char file[48];
	ssize_t n;

	if (activity__read(&one.activity, t->now->pid, tid))
		return 0;
	snprintf(file, sizeof(file), "task/%d/comm", (int)tid);
	n = proc__text(t->now->pid, file, one.name, sizeof(one.name));
	if (n > 0 && one.name[n - 1] == '\n')
		one.name[n - 1] = '\0';
	if (array__room(&t->threads, t->nthreads, &t->threads_cap, sizeof(one)))
		return -ENOMEM;
	t->threads[t->nthreads++] = one;
	return 0;
}

/* The threads of t->now, but R's. */
static int take__threads(struct dump_take *t, struct errmsg *f)
{
	const uint64_t raised = rights__raise(RIGHTS_TARGET);
	struct dirent *entry;
	unsigned int left_out = 0;
	char path[32];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->now->pid);
	dir = opendir(path);
	while (dir && !err && (entry = readdir(dir))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != t->now->tid && t->nthreads == THREADS_MAX)
			left_out++;
		else if (tid > 0 && tid != t->now->tid)
			err = take__thread(t, tid);
	}
	if (dir)
		closedir(dir);
	rights__lower(raised);
	if (left_out)
		log__line("process %d: %u %s left out: --threads shows %u at most",
			  (int)t->now->pid, left_out,
			  count__word(left_out, "thread is", "threads are"), THREADS_MAX);
	if (t->nthreads)
		qsort(t->threads, t->nthreads, sizeof(*t->threads), thread__compare);
	t->now->list_threads = true;
	t->now->threads = t->threads;
	t->now->nthreads = t->nthreads;
	return err ? errmsg__set(f, err, "out of memory") : 0;
}

int dump_take__process(struct dump_take *t, const struct config *c, bool threads,
		       struct dump_process *now, struct errmsg *f)
{
	const bool native = c->capture & XR_ROW_NATIVE;
	const struct engine_ops *const engines[] = {c->engine, NULL};
	const struct session_config config = {
		.pids = &now->pid,
		.npids = 1,
		.stopped = true,
		.whole = native,
		.threads = native && threads,
		.raw = c->native == NATIVE_RAW,
		.engines = engines,
		.freq = FREQ,
		.clock = ENGINE_CLOCK_WALL,
		.capture = c->capture,
		.max_sample_us = READ_US,
		.memory = LIMIT_MEMORY,
		.notes = {.line = c->verbose ? on_note : NULL, .lowest = NOTES_USER},
	};
	const struct sink sink = {.ops = &sink_ops, .arg = t};
	struct session *s = NULL;
	struct stats stats;
	int err;

	t->now = now;
	now->native = native;
	t->before.state = 0;
	t->samples = 0;
	t->sampled = 0;
	t->late = false;
	t->nthreads = 0;
	take__forget(t);
	err = session__open(&s, &config, sink, f);
	if (err)
		return err;
	err = session__start(s);
	if (err)
		*f = *session__why(s);
	else
		err = take__sample(t, s, native ? NATIVE_MS : TRY_MS, f);
	session__stop(s, &stats);
	session__free(s);
	/* what stopped it when the sample came was engine ptrace, at its next one */
	if (!err && now->activity.state == 't')
		activity__read(&now->activity, now->pid, now->tid);
	if (!err && !now->stack)
		now->stack = take__native(t, now->tid);
	return err || !threads ? err : take__threads(t, f);
}

void dump_take__free(struct dump_take *t)
{
	stacks__free(&t->stacks);
	free(t->calls);
	free(t->natives);
	free(t->threads);
	*t = (struct dump_take){0};
}
