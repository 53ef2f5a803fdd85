/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/lifecycle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "session/admission.h"
#include "session/stats.h"

#define FOUND_MS     1 /* between two looks at one before its first sample */
#define SWEEP_MS     1000
#define GONE_MS	     5	  /* at least, between two questions who has ended, */
#define GONE_EACH_MS 1	  /* and for each process so much more: it is asked by itself, */
#define GONE_MOST_MS 1000 /* and the engine reports most */

/* Polls after which no record of an ended process can come, if the last one read all there was. */
#define DRAIN_POLLS 2
#define DRAIN_MOST  200 /* and if none does: the engine never catches up */

#define FREED_MUCH ((size_t)4 << 20) /* bytes; a small process has some 100 KiB */

int lifecycle__fail(struct lifecycle *l, int err)
{
	if (!l->err)
		l->err = err;
	return l->err;
}

void lifecycle__sunk(struct lifecycle *l, int err)
{
	if (!err || l->err)
		return;
	l->err = err;
	l->reason = *sink__why(&l->sink);
}

int lifecycle__no_memory(struct lifecycle *l)
{
	l->err = errmsg__set(&l->reason, -ENOMEM, "out of memory");
	return l->err;
}

/* How many there are at each place where there may be no room. */
static void lifecycle__sizes(const struct lifecycle *l, uint32_t sizes[WAITING_PLACES])
{
	sizes[WAITING_ENGINE] = l->rows;
	sizes[WAITING_LIST] = l->live;
}

void lifecycle__no_room(struct lifecycle *l, enum waiting_place place, pid_t pid,
			uint64_t start_time)
{
	uint32_t sizes[WAITING_PLACES];

	lifecycle__sizes(l, sizes);
	waiting__full(&l->waiting, place, sizes[place], &l->reason, os__now());
	if (!l->waiting.counted)
		notes__user(&l->config->notes, "%s", l->reason.text);
	waiting__count(&l->waiting, pid, start_time);
}

bool lifecycle__left_out(struct lifecycle *l, pid_t pid)
{
	uint32_t sizes[WAITING_PLACES];

	if (!l->waiting.full || !waiting__knows(&l->waiting, pid, proc__start_time(pid)))
		return false;
	lifecycle__sizes(l, sizes);
	return !waiting__try(&l->waiting, sizes, os__now());
}

void lifecycle__sampled(struct lifecycle *l, struct process *p)
{
	p->state = PROCESS_SAMPLED;
	waiting__fits(&l->waiting, ++l->rows);
}

void lifecycle__end(struct lifecycle *l, struct process *p)
{
	if (p->state == PROCESS_ENDED)
		return;
	if (p->state == PROCESS_SAMPLED) {
		l->ops->remove(l->engine, p->pid, p->serial);
		l->rows--;
	}
	p->state = PROCESS_ENDED;
	if (!p->ended_at) /* a record of its end may still come */
		p->ended_at = os__now();
	p->drained = 0;
	l->live--;
}

void lifecycle__report(const struct lifecycle *l, struct process *p)
{
	if (!(l->config->asked & XR_ROW_GC))
		p->hidden.said[HIDDEN_GC] = true;
	advice__hidden(&l->advice, p, l->ops->by_code);
}

struct process *lifecycle__new(struct lifecycle *l, uint32_t serial, uint32_t pid,
			       enum process_origin origin)
{
	struct process *p = processes__add(&l->processes, serial, pid);

	if (!p) {
		lifecycle__no_memory(l);
		return NULL;
	}
	l->live++;
	p->origin = origin;
	return p;
}

void lifecycle__hint(struct process *p)
{
	p->hinted = p->asked;
	if (p->state == PROCESS_WAITING)
		p->retry_at = 0;
}

int lifecycle__add(struct lifecycle *l, pid_t pid, enum process_origin origin)
{
	const uint32_t sampled =
		l->config->max_processes ? l->config->max_processes : LIMIT_SAMPLED;
	uint64_t now = os__now();
	struct process *p;
	int err;

	if (l->processes.count >= LIMIT_PROCESSES((size_t)sampled)) {
		err = errmsg__set(
			&l->reason, -E2BIG,
			"process %d is not profiled: the limit of %u processes is reached",
			(int)pid, LIMIT_PROCESSES(sampled));
		lifecycle__no_room(l, WAITING_LIST, pid, proc__start_time(pid));
		return err;
	}
	p = lifecycle__new(l, 0, (uint32_t)pid, origin);
	if (!p)
		return l->err;
	p->since = now;
	if (!process__named(p))
		l->added_at = now;
	return admission__ask(l, p, ASK_FIND, now);
}

bool lifecycle__unanswered(const struct lifecycle *l)
{
	const struct process *p = NULL;

	while ((p = processes__next(&l->processes, p)))
		if (process__named(p) && p->asked && p->state == PROCESS_WAITING &&
		    (!p->looked || (p->mine && !p->undecided)))
			return true;
	return false;
}

int lifecycle__attach(struct lifecycle *l)
{
	struct process *p, *next;
	uint64_t now = os__now();

	natives__open(&l->natives, l->ops, l->engine, l->config->capture, l->config->memory,
		      &l->config->notes);
	for (p = processes__next(&l->processes, NULL); p; p = next) {
		next = processes__next(&l->processes, p);
		if (p->state != PROCESS_FOUND)
			continue;
		/* while the engine was opened nothing was looked at */
		p->hidden.opened_at = p->hidden.due_at = now;
		admission__go_on(l, p, now);
	}
	if (l->err)
		return l->err;
	return l->live ? 0 : l->failed;
}

/*
 * An exec: the row is gone.  What runs there now is looked at as if new, as it may be R again.  Of
 * children that R forked only where they are followed: most of those become other programs.
 */
static void lifecycle__replaced(struct lifecycle *l, struct process *p)
{
	const struct session_config *c = l->config;

	lifecycle__end(l, p);
	(process__named(p) ? notes__user : notes__debug)(
		&c->notes, "process %u executed another program; looking for R in it", p->pid);
	if (c->follow && process__named(p))
		lifecycle__add(l, (pid_t)p->pid, p->origin);
	else if (c->follow || c->all || process__named(p) || p->origin == PROCESS_REPLACED)
		lifecycle__add(l, (pid_t)p->pid, PROCESS_REPLACED);
}

static void lifecycle__retry(struct lifecycle *l, struct process *p, uint64_t now)
{
	if (!p->asked && now >= p->retry_at)
		admission__ask(l, p, p->undecided ? ASK_LAYOUT : ASK_FIND, now);
}

static void lifecycle__add_hidden(const struct lifecycle *l, const struct process *p, bool settled,
				  struct hidden_stats *s)
{
	if (p->counted && l->ops)
		advice__count_hidden(p, l->ops->by_code, settled, s);
}

void lifecycle__hidden(const struct lifecycle *l, bool settled, struct hidden_stats *s)
{
	const struct process *p = NULL;

	*s = l->advice.hidden;
	while ((p = processes__next(&l->processes, p)))
		lifecycle__add_hidden(l, p, settled, s);
}

uint32_t lifecycle__freq(const struct lifecycle *l)
{
	return l->engine && l->ops->freq ? l->ops->freq(l->engine) : l->freq;
}

const char *lifecycle__clock(const struct lifecycle *l)
{
	if (l->config->clock == ENGINE_CLOCK_DEFAULT)
		return l->ops->clock;
	return l->config->clock == ENGINE_CLOCK_WALL ? "wall" : "cpu";
}

/*
 * Whether to warn that a process mostly waited: not if the profile already contains its waits, or
 * is not of time.
 */
static const struct notes *lifecycle__cpu_clock(const struct lifecycle *l)
{
	static const struct notes none;

	return !strcmp(lifecycle__clock(l), "wall") || l->config->capture & XR_ROW_OFF_CPU ||
			       session_config__nevents(l->config)
		       ? &none
		       : &l->config->notes;
}

/* @p as the sink sees it last, with what is presumed of a process that did not answer. */
static struct profile_process lifecycle__last(struct lifecycle *l, struct process *p)
{
	if (l->config->labels && !p->described)
		admission__presume(l, p);
	return process__profile(p);
}

/* The profile of @p is complete; the sink does not know one that was never sampled. */
static void lifecycle__complete_profile(struct lifecycle *l, struct process *p,
					enum profile_event event)
{
	struct profile_process profile;

	if (p->refused || (!p->counted && p->origin != PROCESS_FORKED))
		return;
	profile = lifecycle__last(l, p);
	if (!l->err)
		lifecycle__sunk(l, call_track__stop(p->calls, &profile, p->ended_at, &l->sink));
	if (!l->err)
		lifecycle__sunk(l, sink__process(&l->sink, &profile, event));
	advice__lines_end(&l->advice, p);
	verdict__add(&l->advice.verdict, lifecycle__cpu_clock(l), &p->use, p->pid, p->comm,
		     process__named(p));
}

/*
 * Forget the names of @p.  What malloc() keeps of many of them lies between what is in use, and
 * would stay for as long as this runs.
 */
static void lifecycle__forget_names(struct lifecycle *l, const struct process *p)
{
	size_t max;
	size_t used = decoder__memory(l->decoder, &max);

	decoder__forget(l->decoder, p->serial);
	l->freed += used - decoder__memory(l->decoder, &max);
	if (l->freed < FREED_MUCH)
		return;
	os__trim();
	l->freed = 0;
}

/* @p has ended: when nothing of it is on its way any more, its file is complete. */
static void lifecycle__drain(struct lifecycle *l, struct process *p)
{
	const bool behind = l->ops->behind && l->ops->behind(l->engine);

	if (p->drained++ < (behind ? DRAIN_MOST : DRAIN_POLLS))
		return;
	lifecycle__complete_profile(l, p, PROFILE_ENDED);
	lifecycle__forget_names(l, p);
	lifecycle__add_hidden(l, p, false, &l->advice.hidden);
	native__forget(&l->natives, p, os__now());
	processes__remove(&l->processes, p);
}

void lifecycle__stop(struct lifecycle *l)
{
	struct process *p = NULL;
	uint64_t now = os__now();

	sources__await(l);
	while ((p = processes__next(&l->processes, p))) {
		if (p->state == PROCESS_SAMPLED)
			process__look(p, now);
		lifecycle__complete_profile(l, p, PROFILE_STOPPED);
	}
	verdict__end(&l->advice.verdict, lifecycle__cpu_clock(l));
}

void lifecycle__finish(struct lifecycle *l, struct stats *stats)
{
	int err = sink__finish(&l->sink, stats);

	if (l->err != -EPIPE)
		stats->unwritten += l->records.unsunk;
	stats__unwritten(stats);
	if (!err)
		return;
	l->err = err;
	l->reason = *sink__why(&l->sink);
}

/* One that is sampled: its row may become more complete, and how much it works changes. */
static void lifecycle__complete(struct lifecycle *l, struct process *p, uint64_t now)
{
	if (cpu_use__due(&p->use, now, l->processes.count))
		process__look(p, now);
	if (admission__undescribed(l, p) && !p->asked)
		admission__describe(l, p, now);
	if (native__due(&l->natives, p) && native__due(&l->natives, p) <= now)
		native__look(l, p, now);
	admission__labels(l, p, now);
	if (!p->hidden.open || p->asked || verify_hidden__due(&l->verify, &p->hidden) > now)
		return;
	admission__look(l, p, now);
	lifecycle__report(l, p);
}

bool lifecycle__sweep(struct lifecycle *l, uint64_t now)
{
	const struct notes *notes = &l->config->notes;
	uint64_t counts[XR_COUNTERS];
	uint32_t sizes[WAITING_PLACES];
	struct process *p = NULL;
	bool again;

	if (now - l->sweep.at < SWEEP_MS * NS_PER_MS)
		return false;
	l->sweep.at = now;
	if (l->ops->counters(l->engine, counts))
		return false;
	if (counts[XR_ROWS_FULL] && !l->sweep.rows_full)
		notes__user(notes, "too many R processes start at once: some are not profiled");
	if (counts[XR_ROWS_FULL] != l->sweep.rows_full)
		waiting__full(&l->waiting, WAITING_ENGINE, l->rows, NULL, now);
	l->sweep.rows_full = counts[XR_ROWS_FULL];
	/* there is room again: which processes did not fit before? */
	lifecycle__sizes(l, sizes);
	again = waiting__over(&l->waiting, sizes, now);
	if (counts[XR_EVENTS_LOST] == l->sweep.events_lost || !l->ops->holds)
		return again;
	l->sweep.events_lost = counts[XR_EVENTS_LOST];
	notes__debug(notes, "records of forks, execs or exits were lost: scanning all processes");
	while ((p = processes__next(&l->processes, p)))
		if (p->state == PROCESS_SAMPLED && !l->ops->holds(l->engine, p->pid, p->serial))
			p->execed = true;
	return true;
}

void lifecycle__settle(struct lifecycle *l)
{
	struct process *p, *next;
	uint64_t now = os__now();
	uint64_t rest_ms = GONE_MS + l->processes.count * GONE_EACH_MS;
	bool ask =
		now - l->gone_at >= (rest_ms < GONE_MOST_MS ? rest_ms : GONE_MOST_MS) * NS_PER_MS;

	natives__tend(&l->natives, now);
	if (ask)
		l->gone_at = now;
	for (p = processes__next(&l->processes, NULL); p; p = next) {
		next = processes__next(&l->processes, p);
		if (p->state == PROCESS_ENDED) {
			lifecycle__drain(l, p);
		} else if (p->exited || (ask && process__gone(p, now))) {
			lifecycle__end(l, p);
		} else if (p->execed && p->state == PROCESS_SAMPLED) {
			lifecycle__replaced(l, p);
		} else if (p->state == PROCESS_WAITING) {
			lifecycle__retry(l, p, now);
		} else if (p->state == PROCESS_FOUND) {
			admission__go_on(l, p, now);
		} else if (p->state == PROCESS_SAMPLED) {
			lifecycle__complete(l, p, now);
		}
	}
}

/* When @p has to be looked at next; 0: only when something happens. */
static uint64_t lifecycle__due_of(const struct lifecycle *l, const struct process *p, uint64_t now)
{
	uint64_t due, native;

	if (p->asked && p->state != PROCESS_FOUND)
		return 0; /* the answer */
	if (p->state == PROCESS_WAITING)
		return p->retry_at ? p->retry_at : now;
	if (p->state == PROCESS_FOUND)
		return now + FOUND_MS * NS_PER_MS;
	if (admission__undescribed(l, p))
		return now;
	if (p->state != PROCESS_SAMPLED)
		return 0;
	due = verify_hidden__due(&l->verify, &p->hidden);
	native = native__due(&l->natives, p);
	return native && (!due || native < due) ? native : due;
}

int lifecycle__due(const struct lifecycle *l, int max)
{
	const struct process *p = NULL;
	uint64_t now = os__now(), due;

	while ((p = processes__next(&l->processes, p))) {
		due = lifecycle__due_of(l, p, now);
		if (!due)
			continue;
		if (due <= now)
			return 0;
		if (due - now < (uint64_t)max * NS_PER_MS)
			max = (int)((due - now + NS_PER_MS - 1) / NS_PER_MS);
	}
	return max;
}

int lifecycle__open(struct lifecycle *l, const struct session_config *config, struct sink sink)
{
	const struct decoder_ops decoder_ops = {
		.sample = records__sample,
		.process = records__process,
		.native = records__native,
		.source = sources__met,
		.raw = config->raw,
	};
	int err;

	*l = (struct lifecycle){
		.config = config,
		.sink = sink,
		.freq = config->freq,
		.opened = os__now(),
		.verify.notes = &config->notes,
		.advice.notes = &config->notes,
	};
	err = asker__open(&l->asker, config->labels, &l->reason);
	if (err)
		return err;
	err = decoder__new(&l->decoder, &decoder_ops, l, config->memory);
	return err ? errmsg__set(&l->reason, err, "cannot create a decoder: %s", strerror(-err))
		   : 0;
}

void lifecycle__close(struct lifecycle *l)
{
	struct process *p, *next;

	for (p = processes__next(&l->processes, NULL); p; p = next) {
		next = processes__next(&l->processes, p);
		native__forget(&l->natives, p, 0);
		processes__remove(&l->processes, p);
	}
	natives__close(&l->natives);
	sources__forget(&l->sources);
	kernel_names__free(&l->records.kernel);
	pids__free(&l->sampled);
	waiting__free(&l->waiting);
	verify_hidden__free(&l->verify);
	asker__close(l->asker);
	l->asker = NULL;
	decoder__free(l->decoder);
	l->decoder = NULL;
}
