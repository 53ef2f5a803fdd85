/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "session/admission.h"
#include "session/discovery.h"
#include "session/lifecycle.h"
#include "session/stats.h"

#define POLL_SOON_MS 10	  /* at most, until the first sample, */
#define SOON_MS	     2000 /* for so long after a process came */
#define ADMIT_MS     50	  /* in one poll, for looking at processes that were found */
#define ANSWER_MS    5	  /* in it, for answers about them */
#define FIRST_MS     500  /* at the start, for those that are there */
#define FLUSH_MS     2000 /* at most, for waits that are not over then */
#define DRAIN_MS     5000 /* at most, for what is left after the end */

struct session {
	const struct session_config *config;
	struct lifecycle life;
	struct discovery *discovery;
	struct pids found; /* by discovery */
	bool sinking;	   /* the sink was begun */
	bool said_dropped; /* that names or stacks do not fit */
};

static void on_engine_note(void *arg, const char *line)
{
	const struct session *s = arg;

	notes__user(&s->config->notes, "%s", line);
}

/*
 * Open the first engine that works here.  If none does, the reason is the first one's, which is the
 * preferred one.
 */
static int session__open_engine(struct session *s)
{
	const struct notes *notes = &s->config->notes;
	struct engine_config config = {
		.freq = s->config->freq,
		.all = s->config->all,
		.follow = s->config->follow,
		.stopped = s->config->stopped,
		.whole = s->config->whole,
		.threads = s->config->threads,
		.capture = s->config->capture,
		.clock = s->config->clock,
		.events = s->config->events,
		.period = s->config->period,
		.pids = s->config->pids,
		.npids = s->config->npids,
		.btf = s->config->btf,
		.max_sample_us = s->config->max_sample_us,
		.rate_changes = s->config->rate_changes,
		.max_processes = s->config->max_processes,
		.memory = s->config->memory,
		.helpers = asker__pool(s->life.asker),
		.verbose = notes->lowest == NOTES_DEBUG,
		.note = on_engine_note,
		.note_arg = s,
	};
	struct lifecycle *l = &s->life;
	struct errmsg fault = {""}, *why = &l->reason;
	int err, first = 0;

	for (const struct engine_ops *const *e = s->config->engines; *e; e++) {
		if (config.capture & XR_ROW_OFF_CPU && config.clock != ENGINE_CLOCK_WALL &&
		    !(*e)->off_cpu)
			err = errmsg__set(
				&fault, -ENOTSUP,
				"engine %s cannot separate time on a CPU from other time: leave "
				"out --off-cpu, or use --clock wall for both together",
				(*e)->name);
		else if (session_config__nevents(s->config) && !(*e)->events)
			err = errmsg__set(
				&fault, -ENOTSUP,
				"engine %s does not sample at events (--event): use engine bpf",
				(*e)->name);
		else
			err = (*e)->open(&l->engine, &config, &fault);
		if (!err) {
			l->ops = *e;
			if (first)
				notes__user(notes, "using engine %s (%s clock), because %s",
					    l->ops->name, lifecycle__clock(l), why->text);
			return 0;
		}
		l->engine = NULL;
		if (first) {
			notes__debug(notes, "engine %s: %s", (*e)->name, fault.text);
			continue;
		}
		first = err;
		*why = fault;
	}
	return first;
}

/* Act on the next answer about a process, if one comes within @wait_ms.  Returns whether. */
static bool session__answer(struct session *s, int wait_ms)
{
	struct ask a = {0};

	if (!asker__take(s->life.asker, &a, wait_ms))
		return false;
	if (a.kind == ASK_SEEMS || a.kind == ASK_PROGRAM)
		discovery__answered(s->discovery, &a);
	else
		admission__answered(&s->life, &a);
	return true;
}

/* The processes named are known before the engine is opened, or have not answered in time. */
static int session__add_named(struct session *s)
{
	const struct session_config *c = s->config;
	struct lifecycle *l = &s->life;

	for (size_t i = 0; i < c->npids && !l->err; i++)
		lifecycle__add(l, c->pids[i], PROCESS_NAMED);
	while (!l->err && lifecycle__unanswered(l))
		session__answer(s, ASK_DEADLINE_MS);
	if (l->err)
		return l->err;
	return c->npids && !l->live ? l->failed : 0;
}

/* A process that was found, perhaps not for the first time. */
static int session__admit(struct session *s, pid_t pid)
{
	const struct session_config *c = s->config;
	struct lifecycle *l = &s->life;
	struct process *p = processes__find_pid(&l->processes, (uint32_t)pid);

	if (p) {
		lifecycle__hint(p);
		return 0;
	}
	if (lifecycle__left_out(l, pid))
		return 0;
	if (c->filters && !filters__pass(c->filters, pid))
		return 0;
	lifecycle__add(l, pid, PROCESS_SEEN);
	return l->err;
}

/*
 * Take in what was found, and what is found by that: the children of those that are sampled now.
 * Each process is added once, so this comes to an end; but where there are many it may take long,
 * and the rest is left for the next time.
 *
 * A program may be short: where somebody was asked about, the answer is waited for, for a moment in
 * which it comes unless something is wrong.
 */
static int session__admit_all(struct session *s)
{
	uint64_t now = os__now(), end = now + ADMIT_MS * NS_PER_MS;
	struct lifecycle *l = &s->life;
	int err = l->err, wait_ms = 0;
	pid_t pid;

	while (!err && now < end) {
		if (pids__take(&s->found, &pid)) {
			err = session__admit(s, pid);
			wait_ms = ANSWER_MS;
		} else if (pids__take(&l->sampled, &pid)) {
			err = discovery__children(s->discovery, pid, &l->reason);
		} else if (session__answer(s, 0)) {
			err = l->err;
		} else if (wait_ms-- <= 0) {
			break;
		} else if (session__answer(s, 1)) {
			err = l->err;
		}
		now = os__now();
	}
	return lifecycle__fail(&s->life, err);
}

/* What is there at the start is found then; not what makes us wait. */
static int session__admit_first(struct session *s)
{
	uint64_t now = os__now(), end = now + FIRST_MS * NS_PER_MS;
	int err = session__admit_all(s);

	while (!err && asker__busy(s->life.asker) && (now = os__now()) < end) {
		session__answer(s, (int)((end - now) / NS_PER_MS) + 1);
		err = session__admit_all(s);
	}
	return err;
}

int session__open(struct session **out, const struct session_config *config, struct sink sink,
		  struct errmsg *f)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return errmsg__set(f, -ENOMEM, "out of memory");
	s->config = config;
	err = lifecycle__open(&s->life, config, sink);
	if (err) {
		*f = s->life.reason;
		session__free(s);
		return err;
	}
	*out = s;
	return 0;
}

static int session__begin_sink(struct session *s)
{
	const struct session_config *c = s->config;
	const struct lifecycle *l = &s->life;
	struct profile_about about = {
		.freq = session__freq(s),
		.engine = l->ops->name,
		.clock = lifecycle__clock(l),
		.event = l->ops->event(l->engine),
		.began = os__now(),
		.began_real = os__real_time(),
	};

	if (c->capture & XR_ROW_OFF_CPU && !lifecycle__one_type(l))
		about.types[PROFILE_TYPE_OFF_CPU] =
			(struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
	if (c->capture & XR_ROW_MEMORY && !c->one_type)
		about.types[PROFILE_TYPE_ALLOC] =
			(struct profile_type){"alloc_space", PROFILE_BYTES};
	about.no_ticks = session_config__nevents(c) && !lifecycle__one_type(l);
	for (uint32_t i = 0; i < session_config__nevents(c) && about.no_ticks; i++) {
		const struct event_name *e = &c->events->all[i];

		about.types[PROFILE_TYPE_EVENTS + i] =
			(struct profile_type){e->text, e->unit == XR_UNIT_NS ? PROFILE_NANOSECONDS
						       : e->unit == XR_UNIT_BYTES ? PROFILE_BYTES
										  : PROFILE_COUNT};
	}
	return sink__begin(&l->sink, &about);
}

/* Filters may be wrong: a user who waits for a process that they leave out should know at once. */
static void session__say_unmatched(const struct session *s)
{
	const struct session_config *c = s->config;
	char text[256];

	if (s->life.records.processes)
		return;
	if (c->npids && c->follow) {
		notes__user(&c->notes,
			    "no R process in process %d or its descendants yet; waiting for one",
			    (int)c->pids[0]);
		return;
	}
	if (!c->all || !c->filters || !filters__narrow(c->filters) || s->life.live)
		return;
	filters__text(c->filters, text, sizeof(text));
	notes__user(&c->notes, "no R process matches %s yet", text);
}

static int session__start_parts(struct session *s)
{
	const struct session_config *c = s->config;
	struct lifecycle *l = &s->life;
	int err;

	os__many_files(); /* each process, and each of its threads, may need some */
	err = session__add_named(s);
	if (err)
		return err;
	err = session__open_engine(s);
	if (err)
		return err;
	s->sinking = true;
	lifecycle__sunk(l, session__begin_sink(s));
	if (l->err)
		return l->err;
	err = lifecycle__attach(l);
	if (err)
		return err;
	err = discovery__open(&s->discovery, c, &s->found, l->asker, &l->reason);
	if (err)
		return err;
	l->told = discovery__tells(s->discovery);
	err = session__admit_first(s);
	if (err)
		return err;
	if (c->all || c->follow)
		notes__debug(&c->notes, "watching for R to appear; found so far: %u", l->live);
	session__say_unmatched(s);
	if (c->all)
		l->began = os__now();
	return 0;
}

int session__start(struct session *s)
{
	return lifecycle__fail(&s->life, session__start_parts(s));
}

int session__add_workload(struct session *s, pid_t pid)
{
	struct lifecycle *l = &s->life;
	int err;

	err = discovery__add_root(s->discovery, pid, &l->reason);
	if (!err)
		err = lifecycle__add(l, pid, PROCESS_WORKLOAD);
	/* it may be R at once, and short */
	session__answer(s, ANSWER_MS);
	return lifecycle__fail(&s->life, err);
}

static int session__poll_engine(struct session *s, int timeout_ms)
{
	struct lifecycle *l = &s->life;
	int n = l->ops->poll(l->engine, timeout_ms, records__take, l);

	if (n == -EINTR)
		return 0;
	if (n < 0 && !l->err)
		lifecycle__fail(l, errmsg__set(&l->reason, n, "engine %s stopped working: %s",
					       l->ops->name, strerror(-n)));
	return n;
}

/* Is the first sample about to come?  The engine does not wake this program for it. */
static bool session__soon(const struct lifecycle *l)
{
	uint64_t since = l->added_at > l->began ? l->added_at : l->began;

	return l->live && !decoder__stats(l->decoder)->samples &&
	       os__now() - since < SOON_MS * NS_PER_MS;
}

/* Wait, and act first on what was found: a program may be short. */
static int session__wait(struct session *s, int timeout_ms)
{
	struct lifecycle *l = &s->life;
	int fd = l->ops->fd ? l->ops->fd(l->engine) : -1;

	timeout_ms = pids__empty(&s->found) && pids__empty(&l->sampled)
			     ? lifecycle__due(l, timeout_ms)
			     : 0;
	if (session__soon(l) && timeout_ms > POLL_SOON_MS)
		timeout_ms = POLL_SOON_MS;
	timeout_ms = asker__due(l->asker, timeout_ms);
	timeout_ms = discovery__wait(s->discovery, fd, !l->ops->fd, timeout_ms, &l->reason);
	if (timeout_ms < 0)
		lifecycle__fail(&s->life, timeout_ms);
	else
		session__admit_all(s);
	discovery__rest(s->discovery);
	return l->err ? 0 : timeout_ms;
}

static void session__say_dropped(struct session *s)
{
	const struct decoder_stats *st = decoder__stats(s->life.decoder);

	if (s->said_dropped || (!st->names_dropped && !st->stacks_dropped))
		return;
	s->said_dropped = true;
	notes__user(&s->config->notes, "memory is full: more names or stacks are counted, and "
				       "shown as <no-room> or <0x...> (--max-memory)");
}

enum session_state session__poll(struct session *s, int timeout_ms)
{
	struct lifecycle *l = &s->life;
	uint64_t now;

	if (l->err)
		return SESSION_FAILED;
	session__poll_engine(s, session__wait(s, timeout_ms));
	lifecycle__settle(l);
	now = os__now();
	if (lifecycle__sweep(l, now))
		lifecycle__fail(&s->life, discovery__scan(s->discovery, &l->reason));
	session__admit_all(s);
	if (l->records.processes)
		discovery__profiled(s->discovery);
	session__say_dropped(s);
	notes__settle(&s->config->notes, now, false);
	if (!l->err)
		lifecycle__sunk(l, sink__tick(&l->sink, now));
	if (l->err)
		return SESSION_FAILED;
	if (!l->live && !asker__busy(l->asker) && !discovery__may_come(s->discovery, l->added_at))
		return SESSION_OVER;
	return SESSION_RUNS;
}

bool session__settled(const struct session *s)
{
	const struct process *p = NULL;

	while ((p = processes__next(&s->life.processes, p)))
		if (process__named(p) && p->state == PROCESS_FOUND)
			return false;
	return true;
}

uint64_t session__began(const struct session *s)
{
	return s->life.began;
}

const struct errmsg *session__why(const struct session *s)
{
	return &s->life.reason;
}

int session__stats(const struct session *s, struct stats *stats)
{
	return stats__take(stats, &s->life, os__now());
}

void session__flush(struct session *s, int limit_ms)
{
	struct lifecycle *l = &s->life;
	int n = 0;

	if (!l->engine || !l->ops->flush)
		return;
	session__poll_engine(s, 0); /* in order of time */
	if (!l->err)
		n = l->ops->flush(l->engine, limit_ms, records__take, l);
	if (n < 0)
		notes__debug(&s->config->notes, "cannot read unfinished waits: %s", os__reason(n));
}

/* Deliver what was taken, and count it. */
static void session__drain(struct session *s, struct stats *stats)
{
	uint64_t now, end;
	struct lifecycle *l = &s->life;
	int err;

	session__flush(s, FLUSH_MS);
	now = os__now();
	end = now + DRAIN_MS * NS_PER_MS;
	l->ops->stop(l->engine);
	/* Decode the rest also after a failure of the sink: ticks are counted by their records. */
	while (session__poll_engine(s, 0) > 0 && os__now() < end)
		;
	err = stats__take(stats, l, now);
	if (err && !l->err)
		lifecycle__fail(l, errmsg__set(&l->reason, err,
					       "engine %s: cannot read its counters: %s",
					       l->ops->name, strerror(-err)));
}

uint32_t session__freq(const struct session *s)
{
	return lifecycle__freq(&s->life);
}

int session__set_freq(struct session *s, uint32_t freq, struct errmsg *f)
{
	struct lifecycle *l = &s->life;
	int err = l->ops->set_freq(l->engine, freq, f);

	if (!err)
		l->freq = freq;
	return err;
}

void session__gauges(const struct session *s, struct session_gauges *g)
{
	stats__gauges(g, &s->life, os__now());
}

int session__stop(struct session *s, struct stats *stats)
{
	struct lifecycle *l = &s->life;

	*stats = (struct stats){0};
	if (l->engine)
		session__drain(s, stats);
	if (s->sinking)
		lifecycle__stop(l);
	if (l->engine && !l->err)
		lifecycle__fail(l, stats__check(stats, l, &l->reason));
	notes__settle(&s->config->notes, os__now(), true);
	if (s->sinking)
		lifecycle__finish(l, stats);
	s->sinking = false;
	return l->err;
}

void session__free(struct session *s)
{
	if (!s)
		return;
	discovery__close(s->discovery);
	lifecycle__close(&s->life); /* what it has in the slabs of the engine is freed with it */
	if (s->life.engine)
		s->life.ops->close(s->life.engine);
	pids__free(&s->found);
	free(s);
}
