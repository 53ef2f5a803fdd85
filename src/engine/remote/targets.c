/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/targets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "os/rights.h"

/* --- what is handed on --- */

/* An engine_sink; @arg is a struct remote_report. */
static void report__record(void *arg, const void *record, size_t size)
{
	struct remote_report *r = arg;

	r->sink(r->sink_arg, record, size);
	r->delivered++;
}

static void report__tick(struct remote_report *r, struct remote_walk *rw,
			 const struct xr_sample *like, int result)
{
	r->counts[XR_TICKS]++;
	if (result < 0) {
		r->counts[-result]++;
		if (result == -XR_NO_R_FRAMES)
			remote_walk__send_none(rw, like);
		return;
	}
	remote_walk__send(rw, like);
	r->counts[XR_WRITTEN]++;
	r->counts[XR_TRUNCATED] += result > 0;
	r->counts[XR_OVER_BUDGET] += result > 0 && remote_walk__over(rw);
	if (remote_walk__native(rw))
		remote_native__count(remote_walk__native(rw), r->counts);
	r->counts[XR_UNWIND_MOVED] += remote_walk__lacks_native(rw);
}

static struct xr_sample report__like(uint32_t pid, uint32_t tid, uint32_t flags)
{
	return (struct xr_sample){
		.time = os__now(),
		.weight = 1,
		.unit = XR_UNIT_TICKS,
		.pid = pid,
		.tid = tid,
		.flags = flags,
	};
}

void remote_report__sample(struct remote_report *r, struct remote_walk *rw, uint32_t pid,
			   uint32_t tid, int result, uint32_t ticks)
{
	const struct xr_sample like = report__like(pid, tid, result > 0 ? XR_F_TRUNCATED : 0);

	while (ticks--)
		report__tick(r, rw, &like, result);
}

void remote_report__other(struct remote_report *r, struct remote_walk *rw, uint32_t pid,
			  uint32_t tid, uint32_t flags)
{
	const struct xr_sample like = report__like(pid, tid, XR_F_OTHER_THREAD | flags);

	r->counts[XR_TICKS]++;
	remote_walk__send(rw, &like);
	r->counts[XR_WRITTEN]++;
	r->counts[XR_OTHER_THREAD]++;
	if (remote_walk__native(rw))
		remote_native__count(remote_walk__native(rw), r->counts);
}

void remote_report__process(struct remote_report *r, const struct xr_row *row,
			    enum xr_process_event event, const struct xr_row *parent,
			    const char comm[16])
{
	struct xr_process p = {
		.head = {.type = XR_REC_PROCESS, .size = sizeof(p)},
		.time = os__now(),
		.event = event,
		.serial = row->serial,
		.pid = row->pid,
		.parent_serial = parent ? parent->serial : 0,
		.parent_pid = parent ? parent->pid : 0,
	};

	snprintf(p.comm, sizeof(p.comm), "%.15s", comm);
	report__record(r, &p, sizeof(p));
}

/* --- the targets --- */

/* The targets are the first member of the engine. */
static struct remote_targets *targets__of(struct engine *e)
{
	return (struct remote_targets *)e;
}

static struct engine *engine__of(struct remote_targets *ts)
{
	return (struct engine *)ts;
}

void remote_targets__open(struct remote_targets *ts, const struct remote_targets_ops *ops,
			  const struct engine_config *config)
{
	ts->ops = ops;
	ts->max = config->max_processes ? config->max_processes : LIMIT_SAMPLED;
	ts->sample_ns = (config->max_sample_us ? config->max_sample_us : XR_SAMPLE_US) * NS_PER_US;
	ts->report.config = *config;
}

/* Give back all of @t, which is in the list no longer. */
static void targets__free(struct remote_targets *ts, struct remote_target *t)
{
	ts->n--;
	if (t->walk)
		ts->report.texts += remote_walk__texts(t->walk);
	remote_walk__free(t->walk);
	ts->ops->free(t);
}

void remote_targets__close(struct remote_targets *ts)
{
	struct remote_target *t;

	while ((t = ts->first)) {
		ts->first = t->next;
		targets__free(ts, t);
	}
	remote_native__free(ts->native);
	ts->native = NULL;
}

struct remote_target **remote_targets__find(struct remote_targets *ts, uint32_t pid)
{
	struct remote_target **at;

	for (at = &ts->first; *at; at = &(*at)->next)
		if ((*at)->row.pid == pid)
			return at;
	return NULL;
}

/* The link to the target with that pid and serial; NULL: there is none. */
static struct remote_target **targets__held(struct remote_targets *ts, uint32_t pid,
					    uint32_t serial)
{
	struct remote_target **at = remote_targets__find(ts, pid);

	return at && (*at)->row.serial == serial ? at : NULL;
}

int remote_targets__init(struct remote_targets *ts, struct remote_target *t,
			 const struct xr_row *row, const struct mem_reader *reader,
			 struct errmsg *f)
{
	int err;

	if (ts->n >= ts->max)
		return errmsg__set(f, -E2BIG,
				   "process %u is not profiled: the limit of %u %s is reached",
				   row->pid, ts->max, count__word(ts->max, "process", "processes"));
	err = remote_walk__new(&t->walk, row, reader, os__now);
	if (err)
		return errmsg__set(f, err, "out of memory");
	ts->n++;
	t->row = *row;
	remote_walk__limit(t->walk, ts->sample_ns);
	remote_walk__cpu(t->walk, os__cpu);
	remote_walk__sink(t->walk, report__record, &ts->report);
	return 0;
}

void remote_targets__put(struct remote_target **at, struct remote_target *t)
{
	t->next = *at;
	*at = t;
}

void remote_targets__drop(struct remote_targets *ts, struct remote_target **at)
{
	struct remote_target *t = *at;

	*at = t->next;
	if (ts->at == t)
		ts->at = t->next;
	targets__free(ts, t);
}

int remote_targets__update(struct engine *e, const struct xr_row *row)
{
	struct remote_target **at = targets__held(targets__of(e), row->pid, row->serial);

	if (!at)
		return -ESRCH;
	(*at)->row = *row;
	remote_walk__row((*at)->walk, row);
	return 0;
}

void remote_targets__remove(struct engine *e, uint32_t pid, uint32_t serial)
{
	struct remote_target **at = targets__held(targets__of(e), pid, serial);

	if (at)
		remote_targets__drop(targets__of(e), at);
}

bool remote_targets__holds(struct engine *e, uint32_t pid, uint32_t serial)
{
	return targets__held(targets__of(e), pid, serial) != NULL;
}

/*
 * One tick: a sample of each target.  When the time of this poll is over the rest is left for the
 * next, so that the caller sees what else there is to do.  Returns whether nothing is left.
 */
static bool targets__tick(struct remote_targets *ts, uint64_t end)
{
	uint64_t raised, before, now;

	if (ts->stopped)
		return true;
	if (!ts->at) {
		ts->missed = 0;
		if (!ts->ops->due(engine__of(ts), &ts->missed))
			return true;
		ts->at = ts->first;
	}
	raised = rights__raise(RIGHTS_TARGET); /* once, not for each read */
	now = os__now();
	while (ts->at) {
		struct remote_target *t = ts->at;

		ts->at = t->next;
		ts->report.counts[XR_MISSED] += ts->missed;
		before = now;
		ts->ops->sample(engine__of(ts), t);
		now = os__now();
		ts->report.counts[XR_SPENT_NS] += now - before;
		if (now >= end)
			break;
	}
	rights__lower(raised);
	return !ts->at;
}

/* What became of targets; their children. */
static void targets__scan(struct remote_targets *ts)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	struct remote_target **at = &ts->first, *t;
	enum xr_process_event event;

	while ((t = *at)) {
		char comm[16] = "";

		event = ts->ops->check(engine__of(ts), t, comm);
		if (event) {
			remote_report__process(&ts->report, &t->row, event, NULL, comm);
			remote_targets__drop(ts, at);
			continue;
		}
		if (ts->ops->follow)
			ts->ops->follow(engine__of(ts), t);
		at = &t->next;
	}
	rights__lower(raised);
}

int remote_targets__poll(struct engine *e, int timeout_ms, engine_sink sink, void *arg)
{
	struct remote_targets *ts = targets__of(e);
	uint64_t now = os__now(), end = now + (uint64_t)timeout_ms * NS_PER_MS;
	const uint64_t slice = now + REMOTE_SLICE_NS;
	bool done;

	ts->report.sink = sink;
	ts->report.sink_arg = arg;
	ts->report.delivered = 0;
	for (;;) {
		done = targets__tick(ts, slice);
		now = os__now();
		if (now - ts->scanned_ns >= REMOTE_SCAN_NS && !ts->stopped) {
			ts->scanned_ns = now;
			targets__scan(ts);
		}
		if (!done || now >= end || ts->stopped || ts->ops->wait(e, now, end))
			break;
	}
	return ts->report.delivered;
}

int remote_targets__slab(struct engine *e, uint32_t slab, uint64_t **words)
{
	struct remote_targets *ts = targets__of(e);
	int err = ts->native ? 0 : remote_native__new(&ts->native);

	return err ? err : remote_native__slab(ts->native, slab, words);
}

void remote_targets__stop(struct engine *e)
{
	targets__of(e)->stopped = true;
}

int remote_targets__counters(struct engine *e, uint64_t counts[XR_COUNTERS])
{
	const struct remote_targets *ts = targets__of(e);

	memcpy(counts, ts->report.counts, sizeof(ts->report.counts));
	counts[XR_SYMBOLS_SENT] = ts->report.texts;
	for (const struct remote_target *t = ts->first; t; t = t->next)
		counts[XR_SYMBOLS_SENT] += remote_walk__texts(t->walk);
	return 0;
}

const char *remote_targets__event(struct engine *e)
{
	(void)e;
	return "timer";
}
