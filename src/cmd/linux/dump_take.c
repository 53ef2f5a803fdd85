/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_take.h"

#include <errno.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "os/os.h"
#include "session/session.h"

#define FREQ	    500 /* Hz: a stack that changed while it was read is read again so soon */
#define TRY_MS	    800 /* for one process, from the start of its session on */
#define UNPROVEN_MS 100 /* of that, for the line of the innermost frame to become known */
#define POLL_MS	    2
#define READ_US	    5000 /* for a stack, however deep */

/* The newest sample stands. */
static int newest__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct dump_take *t = arg;
	struct dump_process *now = t->now;

	(void)p;
	if (s->pid != (uint32_t)now->pid) /* a child */
		return 0;
	stacks__free(&t->stacks);
	stacks__init(&t->stacks, NULL, &t->last_id);
	now->stack = stacks__copy(&t->stacks, s->stack);
	if (!now->stack)
		return errmsg__set(&t->why, -ENOMEM, "out of memory");
	now->tid = (pid_t)s->tid;
	now->flags = s->flags;
	t->samples++;
	activity__read(&now->activity, now->pid, now->tid);
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

/* Is what came so far what is to be shown? */
static bool take__complete(const struct dump_take *t, struct session *s, uint64_t passed)
{
	struct stats stats;

	if (t->samples)
		return !(t->now->flags & XR_F_UNPROVEN) || passed >= UNPROVEN_MS * NS_PER_MS;
	return !session__stats(s, &stats) && stats.no_r_frames;
}

/* Its session has begun: take a sample.  0, or a negative errno with @f filled. */
static int take__sample(struct dump_take *t, struct session *s, struct errmsg *f)
{
	uint64_t began = os__now(), passed = 0;
	enum session_state state = SESSION_RUNS;
	struct stats stats;
	const char *why;

	while (state == SESSION_RUNS && passed < TRY_MS * NS_PER_MS) {
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
				   "process %d: its stack changed during each of %llu attempts to "
				   "read it; -e ptrace stops it for a moment",
				   (int)t->now->pid, (unsigned long long)stats.rows[XR_TORN]);
	return errmsg__set(f, -EIO, "process %d: its stack could not be read within %u ms",
			   (int)t->now->pid, TRY_MS);
}

static void on_note(void *arg, enum notes_level level, const char *line)
{
	(void)arg;
	(void)level;
	log__line("%s", line);
}

int dump_take__process(struct dump_take *t, const struct config *c, struct dump_process *now,
		       struct errmsg *f)
{
	const struct engine_ops *const engines[] = {c->engine, NULL};
	const struct session_config config = {
		.pids = &now->pid,
		.npids = 1,
		.stopped = true,
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
	t->samples = 0;
	err = session__open(&s, &config, sink, f);
	if (err)
		return err;
	err = session__start(s);
	if (err)
		*f = *session__why(s);
	else
		err = take__sample(t, s, f);
	session__stop(s, &stats);
	session__free(s);
	/* what stopped it when the sample came was engine ptrace, at its next one */
	if (!err && now->activity.state == 't')
		activity__read(&now->activity, now->pid, now->tid);
	return err;
}

void dump_take__free(struct dump_take *t)
{
	stacks__free(&t->stacks);
}
