/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/intervals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "output/encode.h"
#include "serve/index_line.h"
#include "serve/linux/push_body.h"

/* So near to the beginning of an interval, or a quarter of it if that is less, the clock of the day
 * is taken to be there. */
#define SNAP_NS (NS_PER_S / 2)

/* One profile that is being added up. */
struct interval {
	struct aggregate *sum;
	uint64_t began, until; /* ns, CLOCK_MONOTONIC */
	uint64_t began_real;   /* ns since 1970 */
	uint32_t id;	       /* of the request; 0: none */
	uint64_t samples;
	struct stats before; /* what had been counted when it began */
};

struct intervals {
	struct intervals_config config;
	struct profile_about about;
	struct interval open;
	struct interval asked[INTERVALS_ASKED_MAX];
	struct intervals_counts counts;
	struct call_counts calls;
	struct buf body, index, series;
	struct errmsg why;
};

/* --- one of them --- */

static int interval__begin(struct intervals *w, struct interval *win, uint64_t now, size_t memory)
{
	struct aggregate_config config = formats__find("pprof")->keeps;

	config.max = memory;
	config.rows = w->config.max_stacks;
	config.describe = true;
	*win = (struct interval){.began = now};
	win->began_real = os__real_time() - (os__now() - now);
	if (w->config.counts && !w->config.counts(w->config.arg, &win->before))
		win->before = (struct stats){0};
	return aggregate__new(&win->sum, &config);
}

static void interval__free(struct interval *win)
{
	aggregate__free(win->sum);
	*win = (struct interval){0};
}

/* Without its stack if that does not fit: only lack of memory is an error here. */
static int interval__add(struct interval *win, const struct profile_process *p,
			 const struct sample *s)
{
	int err = aggregate__take(win->sum, p, s);

	win->samples += sample__stands(s);
	return err;
}

/* What was counted since it began. */
static struct stats interval__stats(const struct intervals *w, const struct interval *win,
				    uint64_t end)
{
	struct stats s = {0};

	if (w->config.counts && w->config.counts(w->config.arg, &s)) {
		s.ticks -= win->before.ticks;
		s.lost -= win->before.lost;
		s.truncated -= win->before.truncated;
		s.unreadable -= win->before.unreadable;
		s.no_r_frames -= win->before.no_r_frames;
		s.exiting -= win->before.exiting;
	}
	s.written = win->samples;
	s.seconds = (double)(end - win->began) / (double)NS_PER_S;
	return s;
}

/* It ended at @end: hand it on as @kind.  Returns the first error. */
static int interval__send(struct intervals *w, const struct interval *win, uint64_t end,
			  enum channel_kind kind)
{
	const bool index = w->config.index && kind == CHANNEL_INTERVAL;
	struct stats stats = interval__stats(w, win, end);
	struct writer_config config = {
		.about = w->about,
		.roots = true,
		.labels = w->config.labels,
		.nlabels = w->config.nlabels,
		.described = true,
		.series = w->series.data,
	};
	struct channel_head head = {
		.kind = kind,
		.id = win->id,
		.began = win->began_real,
		.ended = win->began_real + (end - win->began),
		.samples = win->samples,
	};
	int err;

	config.about.began = win->began;
	config.about.began_real = win->began_real;
	w->body.len = w->index.len = 0;
	err = encode__profile(&w->body, formats__find("pprof"), &config, win->sum, &stats);
	if (!err && index)
		err = index_line__all(&w->index, win->sum, w->config.labels, w->config.nlabels,
				      about__interval(&w->about));
	if (err)
		return err;
	head.size = w->body.len;
	head.index_len = w->index.len;
	return w->config.send(w->config.arg, &head, w->body.data, w->index.data);
}

/* --- the interval that is open --- */

/* When the interval that begins at win->began ends. */
static void intervals__until(const struct intervals *w, struct interval *win)
{
	uint64_t length = w->config.interval, into = win->began_real % length;
	const uint64_t snap = length / 4 < SNAP_NS ? length / 4 : SNAP_NS;

	if (into + snap > length) {
		win->began_real += length - into;
		into = 0;
	} else if (into < snap) {
		win->began_real -= into;
		into = 0;
	}
	win->until = win->began + length - into;
}

static int intervals__open(struct intervals *w, uint64_t now)
{
	int err = interval__begin(w, &w->open, now, LIMIT_AGGREGATE(w->config.memory));

	if (!err)
		intervals__until(w, &w->open);
	return err ? errmsg__set(&w->why, err, "out of memory") : 0;
}

/* What did not fit into the open interval. */
static void counts__add(struct intervals_counts *counts, const struct aggregate *open)
{
	counts->stackless += aggregate__dropped(open);
	counts->uncalled += aggregate__uncalled(open);
	counts->unlabelled += aggregate__unlabelled(open);
}

/* The open interval ended at @end: it is handed on, and counted. */
static void intervals__over(struct intervals *w, uint64_t end)
{
	w->counts.ended++;
	counts__add(&w->counts, w->open.sum);
	if (w->config.intervals && interval__send(w, &w->open, end, CHANNEL_INTERVAL)) {
		w->counts.dropped++;
		w->counts.dropped_samples += w->open.samples;
	}
	interval__free(&w->open);
}

/* It ended at @end, and the next one begins. */
static int intervals__end(struct intervals *w, uint64_t end)
{
	intervals__over(w, end);
	return intervals__open(w, end);
}

/* All that has ended by @now.  After a long halt the interval is as long as that was. */
static int intervals__end_due(struct intervals *w, uint64_t now)
{
	uint64_t length = w->config.interval;

	if (!w->open.sum) /* there was no memory for it */
		return intervals__open(w, now);
	if (now < w->open.until)
		return 0;
	return intervals__end(w, now - w->open.until > length ? now : w->open.until);
}

/* --- those asked for --- */

/* There is nothing for request @id. */
static void asked__refuse(struct intervals *w, uint32_t id)
{
	w->config.send(w->config.arg, &(struct channel_head){.kind = CHANNEL_PROFILE, .id = id},
		       NULL, NULL);
}

static void asked__end(struct intervals *w, struct interval *win, uint64_t end)
{
	if (interval__send(w, win, end, CHANNEL_PROFILE))
		asked__refuse(w, win->id); /* a head fits where a profile does not */
	interval__free(win);
}

void intervals__ask(struct intervals *w, uint32_t id, uint32_t seconds)
{
	uint64_t now = os__now();

	for (size_t i = 0; i < INTERVALS_ASKED_MAX; i++) {
		struct interval *win = &w->asked[i];

		if (win->sum)
			continue;
		if (!w->open.sum || interval__begin(w, win, now, LIMIT_ASKED(w->config.memory)))
			break;
		win->id = id;
		win->until = now + seconds * NS_PER_S;
		return;
	}
	asked__refuse(w, id);
}

void intervals__forget(struct intervals *w, uint32_t id)
{
	for (size_t i = 0; i < INTERVALS_ASKED_MAX; i++)
		if (w->asked[i].sum && w->asked[i].id == id)
			interval__free(&w->asked[i]);
}

void intervals__forget_all(struct intervals *w)
{
	for (size_t i = 0; i < INTERVALS_ASKED_MAX; i++)
		interval__free(&w->asked[i]);
}

/* Those whose time is over by @now; @all: the others, too. */
static void intervals__answer(struct intervals *w, uint64_t now, bool all)
{
	for (size_t i = 0; i < INTERVALS_ASKED_MAX; i++) {
		struct interval *win = &w->asked[i];

		if (win->sum && (all || now >= win->until))
			asked__end(w, win, now < win->until ? now : win->until);
	}
}

/* --- as a sink --- */

static int on_begin(void *arg, const struct profile_about *about)
{
	struct intervals *w = arg;

	w->about = *about;
	w->about.host = w->config.host;
	return intervals__open(w, about->began);
}

/*
 * What is known of a process may come after its samples: at its end, if it never answered.  Those
 * that have no sample are in no profile, so none is added.
 */
static int on_process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct intervals *w = arg;

	if (event == PROFILE_BEGAN)
		return 0;
	if (w->open.sum)
		aggregate__update(w->open.sum, p);
	for (size_t i = 0; i < INTERVALS_ASKED_MAX; i++)
		if (w->asked[i].sum)
			aggregate__update(w->asked[i].sum, p);
	return 0;
}

static int on_sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct intervals *w = arg;
	int err = 0;

	if (!w->open.sum || s->time >= w->open.until)
		err = intervals__end_due(w, s->time);
	if (!err)
		err = interval__add(&w->open, p, s);
	for (size_t i = 0; i < INTERVALS_ASKED_MAX && !err; i++)
		if (w->asked[i].sum && s->time >= w->asked[i].began && s->time < w->asked[i].until)
			err = interval__add(&w->asked[i], p, s);
	return err && !w->why.text[0] ? errmsg__set(&w->why, err, "out of memory") : err;
}

/* Of one that goes on in another interval, each has as much as was known by its end. */
static int on_call(void *arg, const struct profile_process *p, const struct profile_call *call)
{
	struct intervals *w = arg;

	call_counts__add(&w->calls, p, call);
	if (w->open.sum)
		aggregate__learn(w->open.sum, call);
	for (size_t i = 0; i < INTERVALS_ASKED_MAX; i++)
		if (w->asked[i].sum)
			aggregate__learn(w->asked[i].sum, call);
	return 0;
}

static int on_tick(void *arg, uint64_t now)
{
	struct intervals *w = arg;

	intervals__answer(w, now, false);
	return intervals__end_due(w, now);
}

static int on_finish(void *arg, struct stats *stats)
{
	struct intervals *w = arg;
	uint64_t now = os__now();

	intervals__answer(w, now, true);
	if (w->open.sum)
		intervals__over(w, now);
	stats->stacks_dropped += w->counts.stackless;
	return 0;
}

static const struct errmsg *on_why(void *arg)
{
	const struct intervals *w = arg;

	return &w->why;
}

struct sink intervals__sink(struct intervals *w)
{
	static const struct sink_ops ops = {
		.begin = on_begin,
		.process = on_process,
		.sample = on_sample,
		.call = on_call,
		.tick = on_tick,
		.finish = on_finish,
		.why = on_why,
	};

	return (struct sink){.ops = &ops, .arg = w};
}

/* --- for its owner --- */

int intervals__new(struct intervals **out, const struct intervals_config *config)
{
	struct intervals *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return -ENOMEM;
	w->config = *config;
	return push_body__labels(&w->series, config->labels, config->nlabels);
}

int intervals__turn(struct intervals *w)
{
	return w->open.sum ? intervals__end(w, os__now()) : 0;
}

int intervals__freq(struct intervals *w, uint32_t freq)
{
	int err = 0;

	if (w->open.sum) {
		intervals__answer(w, os__now(), true);
		err = intervals__turn(w);
	}
	w->about.freq = freq;
	return err;
}

int intervals__due(const struct intervals *w, uint64_t now, int max)
{
	uint64_t due = w->open.sum ? w->open.until : UINT64_MAX;

	for (size_t i = 0; i < INTERVALS_ASKED_MAX; i++)
		if (w->asked[i].sum && w->asked[i].until < due)
			due = w->asked[i].until;
	if (due <= now)
		return 0;
	due = (due - now + NS_PER_MS - 1) / NS_PER_MS;
	return due < (uint64_t)max ? (int)due : max;
}

const struct profile_about *intervals__about(const struct intervals *w)
{
	return &w->about;
}

void intervals__lost(struct intervals *w, const struct channel_lost *lost)
{
	w->counts.dropped += lost->intervals;
	w->counts.dropped_samples += lost->samples;
}

struct intervals_counts intervals__counts(const struct intervals *w)
{
	struct intervals_counts counts = w->counts;
	size_t n = 0;

	if (w->open.sum) {
		aggregate__rows(w->open.sum, &n);
		counts__add(&counts, w->open.sum);
	}
	counts.stacks = n;
	return counts;
}

const struct call_counts *intervals__calls(const struct intervals *w)
{
	return &w->calls;
}

void intervals__free(struct intervals *w)
{
	if (!w)
		return;
	interval__free(&w->open);
	intervals__forget_all(w);
	buf__free(&w->body);
	buf__free(&w->index);
	buf__free(&w->series);
	free(w);
}
