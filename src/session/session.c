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
#include "session/sweep.h"

#define POLL_SOON_MS 10	  /* at most, until the first sample, */
#define SOON_MS	     2000 /* for so long after a process came */
#define ADMIT_MS     50	  /* in one poll, for looking at processes that were found */
#define ANSWER_MS    5	  /* in it, for answers about them */
#define FIRST_MS     500  /* at the start, for those that are there */
#define FLUSH_MS     2000 /* at most, for waits that are not over then */
#define DRAIN_MS     5000 /* at most, for what is left after the end */
#define SILENT_TICKS 20	  /* due of CPU time; fewer may all fall on moments that are not sampled */

struct session {
	const struct session_config *config;
	struct lifecycle life;
	const struct engine_ops *ops;
	struct engine *engine;
	struct discovery *discovery;
	struct pids found; /* by discovery */
	struct sweep sweep;
	uint32_t asked;	   /* Hz: config's, until told otherwise */
	bool sinking;	   /* the sink was begun */
	bool said_dropped; /* that names or stacks find no room */
};

/* What ended the session is kept where its processes' failures are: there is one reason. */
static int session__fail(struct session *s, int err)
{
	if (err && !s->life.err)
		s->life.err = err;
	return s->life.err;
}

static void on_engine_note(void *arg, const char *line)
{
	const struct session *s = arg;

	notes__user(&s->config->notes, "%s", line);
}

/* The events that are sampled in place of ticks. */
static const struct event_list *session__events(const struct session *s)
{
	static const struct event_list none;

	return s->config->events ? s->config->events : &none;
}

/* What is sampled: what was asked for, which no engine changes, or what the engine has else. */
static const char *session__clock(const struct session *s)
{
	static const char *const clocks[] = {
		[ENGINE_CLOCK_CPU] = "cpu",
		[ENGINE_CLOCK_WALL] = "wall",
	};

	return s->config->clock == ENGINE_CLOCK_DEFAULT ? s->ops->clock : clocks[s->config->clock];
}

/*
 * The first engine that works here.  When none does, the reason given is the first one's: it is the
 * one to be preferred.
 */
static int session__open_engine(struct session *s)
{
	const struct notes *notes = &s->config->notes;
	struct engine_config config = {
		.freq = s->config->freq,
		.all = s->config->all,
		.follow = s->config->follow,
		.stopped = s->config->stopped,
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
		.verbose = notes->lowest == NOTES_DEBUG,
		.note = on_engine_note,
		.note_arg = s,
	};
	struct errmsg fault = {""}, *why = &s->life.reason;
	int err, first = 0;

	for (const struct engine_ops *const *e = s->config->engines; *e; e++) {
		if (config.capture & XR_ROW_OFF_CPU && config.clock != ENGINE_CLOCK_WALL &&
		    !(*e)->off_cpu)
			err = errmsg__set(
				&fault, -ENOTSUP,
				"engine %s cannot separate time on a CPU from other time: leave "
				"out --off-cpu, or use --clock wall for both together",
				(*e)->name);
		else if (session__events(s)->n && !(*e)->events)
			err = errmsg__set(
				&fault, -ENOTSUP,
				"engine %s does not sample at events (--event): use engine bpf",
				(*e)->name);
		else
			err = (*e)->open(&s->engine, &config, &fault);
		if (!err) {
			s->ops = *e;
			if (first)
				notes__user(notes, "using engine %s (%s clock), because %s",
					    s->ops->name, session__clock(s), why->text);
			return 0;
		}
		s->engine = NULL;
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
	return session__fail(s, err);
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
	s->asked = config->freq;
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
	const struct sink *sink = &s->life.sink;
	struct profile_about about = {
		.freq = session__freq(s),
		.engine = s->ops->name,
		.clock = session__clock(s),
		.event = s->ops->event(s->engine),
		.began = os__now(),
		.began_real = os__real_time(),
	};

	if (s->config->capture & XR_ROW_OFF_CPU && !lifecycle__one_type(&s->life))
		about.types[PROFILE_TYPE_OFF_CPU] =
			(struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
	if (s->config->capture & XR_ROW_MEMORY && !s->config->one_type)
		about.types[PROFILE_TYPE_ALLOC] =
			(struct profile_type){"alloc_space", PROFILE_BYTES};
	about.no_ticks = session__events(s)->n && !lifecycle__one_type(&s->life);
	for (uint32_t i = 0; i < session__events(s)->n && about.no_ticks; i++) {
		const struct event_name *e = &session__events(s)->all[i];

		about.types[PROFILE_TYPE_EVENTS + i] =
			(struct profile_type){e->text, e->unit == XR_UNIT_NS ? PROFILE_NANOSECONDS
						       : e->unit == XR_UNIT_BYTES ? PROFILE_BYTES
										  : PROFILE_COUNT};
	}
	return sink__begin(sink, &about);
}

/* Filters may be wrong, and who waits for what they leave out should know at once. */
static void session__say_unmatched(const struct session *s)
{
	const struct session_config *c = s->config;
	char text[256];

	if (s->life.counted)
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
	err = lifecycle__attach(l, s->ops, s->engine);
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
	return session__fail(s, session__start_parts(s));
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
	return session__fail(s, err);
}

static int session__poll_engine(struct session *s, int timeout_ms)
{
	struct lifecycle *l = &s->life;
	int n = s->ops->poll(s->engine, timeout_ms, lifecycle__record, l);

	if (n == -EINTR)
		return 0;
	if (n < 0 && !l->err)
		l->err = errmsg__set(&l->reason, n, "engine %s stopped working: %s", s->ops->name,
				     strerror(-n));
	return n;
}

/* Is the first sample about to come?  The engine wakes nobody for it. */
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
	int fd = s->ops->fd ? s->ops->fd(s->engine) : -1;

	timeout_ms = pids__empty(&s->found) && pids__empty(&l->sampled)
			     ? lifecycle__due(l, timeout_ms)
			     : 0;
	if (session__soon(l) && timeout_ms > POLL_SOON_MS)
		timeout_ms = POLL_SOON_MS;
	timeout_ms = asker__due(l->asker, timeout_ms);
	timeout_ms = discovery__wait(s->discovery, fd, !s->ops->fd, timeout_ms, &l->reason);
	if (timeout_ms < 0)
		session__fail(s, timeout_ms);
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
	if (l->told && sweep__run(&s->sweep, l, now))
		session__fail(s, discovery__scan(s->discovery, &l->reason));
	session__admit_all(s);
	if (l->counted)
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

uint64_t session__began(const struct session *s)
{
	return s->life.began;
}

const struct errmsg *session__why(const struct session *s)
{
	return &s->life.reason;
}

/* @now: until when it sampled. */
static int session__count(const struct session *s, struct stats *stats, uint64_t now)
{
	const struct lifecycle *l = &s->life;
	uint64_t counts[XR_COUNTERS] = {0};
	int err;

	err = s->ops->counters(s->engine, counts);
	stats->seconds = l->began ? (double)(now - l->began) / (double)NS_PER_S : 0;
	stats->engine = s->ops->name;
	stats->event = s->ops->event(s->engine);
	stats->clock = session__clock(s);
	stats->freq = s->asked;
	stats->rate = session__freq(s);
	stats->first_sample = l->first_sample;
	stats->processes = l->counted;
	stats->programs = l->programs;
	stats__fill(stats, counts, decoder__stats(l->decoder));
	stats->rows_full += l->crowd.counted;
	lifecycle__hidden(l, &stats->hidden);
	stats->native.modules = l->natives.modules.made;
	stats->native.no_room = l->natives.modules.no_room;
	stats->native.table_bytes = 8 * l->natives.slabs.used;
	stats->native.name_bytes = l->natives.modules.names;
	stats->nevents = session__events(s)->n;
	for (uint32_t i = 0; i < stats->nevents; i++) {
		stats->events[i] = l->events[i];
		stats->events[i].name = session__events(s)->all[i].text;
		stats->events[i].unit = session__events(s)->all[i].unit;
	}
	stats->silent = asker__silent(l->asker);
	stats->waits.idle_ns += l->idle_ns;
	return err;
}

int session__stats(const struct session *s, struct stats *stats)
{
	*stats = (struct stats){0};
	return session__count(s, stats, os__now());
}

void session__flush(struct session *s, int limit_ms)
{
	struct lifecycle *l = &s->life;
	int n = 0;

	if (!s->engine || !s->ops->flush)
		return;
	session__poll_engine(s, 0); /* in order of time */
	if (!l->err)
		n = s->ops->flush(s->engine, limit_ms, lifecycle__record, l);
	if (n < 0)
		notes__debug(&s->config->notes, "cannot read unfinished waits: %s", os__reason(n));
}

/* What was taken is delivered, and counted. */
static void session__drain(struct session *s, struct stats *stats)
{
	uint64_t now, end;
	struct lifecycle *l = &s->life;
	int err;

	session__flush(s, FLUSH_MS);
	now = os__now();
	end = now + DRAIN_MS * NS_PER_MS;
	s->ops->stop(s->engine);
	/* Decode the rest also after a failure of the sink: ticks are counted by their records. */
	while (session__poll_engine(s, 0) > 0 && os__now() < end)
		;
	err = session__count(s, stats, now);
	if (err && !l->err)
		l->err = errmsg__set(&l->reason, err, "engine %s: cannot read its counters: %s",
				     s->ops->name, strerror(-err));
}

uint32_t session__freq(const struct session *s)
{
	return s->engine && s->ops->freq ? s->ops->freq(s->engine) : s->asked;
}

int session__set_freq(struct session *s, uint32_t freq, struct errmsg *f)
{
	int err = s->ops->set_freq(s->engine, freq, f);

	if (!err)
		s->asked = freq;
	return err;
}

void session__gauges(const struct session *s, struct session_gauges *g)
{
	const struct session_config *c = s->config;
	uint64_t counts[XR_COUNTERS];

	*g = (struct session_gauges){
		.freq = session__freq(s),
		.max_processes = c->max_processes ? c->max_processes : LIMIT_SAMPLED,
		.processes = s->life.rows,
	};
	if (!s->life.rows && crowd__starved(&s->life.crowd, os__now()))
		g->starved = s->life.full.text;
	g->workers_ns = s->life.asker ? asker__cpu(s->life.asker) : 0;
	g->names = decoder__memory(s->life.decoder, &g->max_names);
	if (!s->engine || s->ops->counters(s->engine, counts))
		return;
	g->ticks = counts[XR_TICKS];
	*(s->ops->own_time ? &g->sampled_ns : &g->kernel_ns) = counts[XR_SPENT_NS];
}

/* Processes that used the CPU for SILENT_TICKS ticks were not seen once: that is no profile. */
static void session__check_silent(struct session *s, const struct stats *stats)
{
	struct lifecycle *l = &s->life;
	const double cpu = (double)l->verdict.cpu_ns / (double)NS_PER_S;

	if (l->err || session__events(s)->n || stats->ticks || stats->throttled || stats->missed ||
	    cpu * session__freq(s) < SILENT_TICKS)
		return;
	l->err = errmsg__set(&l->reason, -ENODATA,
			     "engine %s took no sample of %u process%s that used %.2f s of CPU: "
			     "its event (%s) did not occur; try another --engine",
			     s->ops->name, l->verdict.processes,
			     l->verdict.processes == 1 ? "" : "es", cpu, s->ops->event(s->engine));
}

int session__stop(struct session *s, struct stats *stats)
{
	struct lifecycle *l = &s->life;
	int err = 0;

	*stats = (struct stats){0};
	if (s->engine)
		session__drain(s, stats);
	if (s->sinking && l->ops)
		lifecycle__stop(l);
	if (s->engine)
		session__check_silent(s, stats);
	notes__settle(&s->config->notes, os__now(), true);
	if (s->sinking)
		err = sink__finish(&l->sink, stats);
	s->sinking = false;
	if (l->err != -EPIPE)
		stats->unwritten += l->unsunk;
	stats__unwritten(stats);
	if (err) { /* what was written is not all there */
		l->err = err;
		l->reason = *sink__why(&l->sink);
	}
	return l->err;
}

void session__free(struct session *s)
{
	if (!s)
		return;
	discovery__close(s->discovery);
	lifecycle__close(&s->life); /* what it has in the slabs of the engine goes with it */
	if (s->engine)
		s->ops->close(s->engine);
	pids__free(&s->found);
	free(s);
}
