/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "session/lifecycle.h"
#include "session/session.h"

#define SILENT_TICKS 20 /* due of CPU time; fewer may all fall on moments that are not sampled */

static const char *const row_names[] = {
#define ERR(name, counter, text) #name,
#include "errors.def"
#undef ERR
};

void stats__fill(struct stats *s, const uint64_t counts[XR_COUNTERS],
		 const struct decoder_stats *decoder)
{
	s->written = s->no_r_frames = s->exiting = s->unreadable = s->lost = 0;
#define ERR(name, counter, text) s->counter += counts[XR_##name];
#include "errors.def"
#undef ERR
	memcpy(s->rows, counts, sizeof(s->rows));
	s->sent = s->written;
	s->written = decoder->samples;
	s->ticks = counts[XR_TICKS];
	s->truncated = counts[XR_TRUNCATED];
	s->other_thread = counts[XR_OTHER_THREAD];
	s->over_budget = counts[XR_OVER_BUDGET];
	s->overrun = counts[XR_OVERRUN];
	s->throttled = counts[XR_THROTTLED];
	s->longest_us = (double)counts[XR_LONGEST_NS] / 1000;
	s->most_work = counts[XR_MOST_WORK];
	s->spent_ns = counts[XR_SPENT_NS];
	s->missed = counts[XR_MISSED];
	s->nested = counts[XR_NESTED];
	s->symbols = counts[XR_SYMBOLS_SENT];
	s->native.whole = counts[XR_UNWOUND];
	s->native.no_table = counts[XR_UNWIND_NO_TABLE];
	s->native.no_rule = counts[XR_UNWIND_NO_RULE];
	s->native.bad = counts[XR_UNWIND_BAD];
	s->native.full = counts[XR_UNWIND_FULL];
	s->native.moved = counts[XR_UNWIND_MOVED];
	s->native.resynced = counts[XR_RESYNCED];
	s->native.frames = counts[XR_NATIVE_FRAMES];
	s->native.builtins = counts[XR_BUILTINS];
	s->native.builtins_named = counts[XR_BUILTINS_NAMED];
	s->native.dead = counts[XR_DEAD_CONTEXTS];
	s->native.descended = counts[XR_KEYS_DESCENDED];
	s->waits.waits = counts[XR_WAITS];
	s->waits.ns = counts[XR_WAITED_NS];
	s->waits.lost = counts[XR_WAITS_LOST];
	s->waits.unread = counts[XR_WAITS_UNREAD];
	s->waits.idle_ns = counts[XR_WAITS_NONE_NS];
	s->rows_full = counts[XR_ROWS_FULL];
	s->decoder = *decoder;
	/* a ring that is full in the middle of a sample: the sampler says that it is lost */
	s->partial = decoder->partial < s->lost ? 0 : decoder->partial - s->lost;
}

int stats__take(struct stats *s, const struct lifecycle *l, uint64_t now)
{
	const struct event_list *events = l->config->events;
	uint64_t counts[XR_COUNTERS] = {0};
	int err = l->ops->counters(l->engine, counts);

	*s = (struct stats){
		.seconds = l->began ? (double)(now - l->began) / (double)NS_PER_S : 0,
		.engine = l->ops->name,
		.event = l->ops->event(l->engine),
		.clock = lifecycle__clock(l),
		.freq = l->freq,
		.rate = lifecycle__freq(l),
		.first_sample = l->records.first_sample,
		.processes = l->records.processes,
		.programs = l->records.programs,
		.native.modules = l->natives.modules.made,
		.native.no_room = l->natives.modules.no_room,
		.native.table_bytes = 8 * l->natives.slabs.used,
		.native.name_bytes = l->natives.modules.names,
		.nevents = session_config__nevents(l->config),
		.silent = asker__silent(l->asker),
		.refused = l->refused,
	};
	stats__fill(s, counts, decoder__stats(l->decoder));
	s->rows_full += l->waiting.counted;
	s->waits.idle_ns += l->records.idle_ns;
	s->calls.found = l->records.calls.last_id;
	s->calls.uncounted = l->records.calls.uncounted;
	s->calls.too_deep = l->records.calls.too_deep;
	lifecycle__hidden(l, false, &s->hidden);
	lifecycle__hidden(l, true, &s->settled);
	for (uint32_t i = 0; i < s->nevents; i++) {
		s->events[i] = l->records.events[i];
		s->events[i].name = events->all[i].text;
		s->events[i].unit = events->all[i].unit;
	}
	return err;
}

void stats__gauges(struct session_gauges *g, const struct lifecycle *l, uint64_t now)
{
	const uint32_t max = l->config->max_processes;
	uint64_t counts[XR_COUNTERS];

	*g = (struct session_gauges){
		.freq = lifecycle__freq(l),
		.max_processes = max ? max : LIMIT_SAMPLED,
		.processes = l->rows,
		.workers_ns = l->asker ? asker__cpu(l->asker) : 0,
	};
	if (!l->rows && waiting__starved(&l->waiting, now))
		g->starved = l->waiting.why.text;
	g->names = decoder__memory(l->decoder, &g->max_names);
	if (!l->engine || l->ops->counters(l->engine, counts))
		return;
	g->ticks = counts[XR_TICKS];
	*(l->ops->own_time ? &g->sampled_ns : &g->kernel_ns) = counts[XR_SPENT_NS];
}

int stats__check(const struct stats *s, const struct lifecycle *l, struct errmsg *f)
{
	const struct verdict *v = &l->advice.verdict;
	const double cpu = (double)v->cpu_ns / (double)NS_PER_S;

	if (session_config__nevents(l->config) || s->ticks || s->throttled || s->missed ||
	    cpu * lifecycle__freq(l) < SILENT_TICKS)
		return 0;
	return errmsg__set(f, -ENODATA,
			   "engine %s took no sample of %u %s that used %.2f s of CPU: its "
			   "event (%s) did not occur; try another --engine",
			   l->ops->name, v->processes,
			   count__word(v->processes, "process", "processes"), cpu,
			   l->ops->event(l->engine));
}

bool stats__conserved(const struct stats *s)
{
	return s->ticks == s->written + s->no_r_frames + s->exiting + s->unreadable + s->lost;
}

void stats__unwritten(struct stats *s)
{
	uint64_t n = s->unwritten < s->written ? s->unwritten : s->written;

	s->written -= n;
	s->lost += n;
}

/* Append ", N what" to @line if @n is not 0, with a noun of @one or @many. */
static void summary__count(char *line, size_t size, uint64_t n, const char *one, const char *many,
			   const char *what)
{
	size_t len = strlen(line);

	if (n)
		snprintf(line + len, size - len, ", %" PRIu64 " %s%s", n, count__word(n, one, many),
			 what);
}

static void summary__add(char *line, size_t size, uint64_t n, const char *what)
{
	summary__count(line, size, n, what, what, "");
}

static void summary__waited(char *line, size_t size, const struct wait_stats *w)
{
	size_t len = strlen(line);

	if (w->ns)
		len += (size_t)snprintf(line + len, size - len, ", %.2f s off the CPU",
					(double)w->ns / 1e9);
	if (w->idle_ns && len < size)
		snprintf(line + len, size - len,
			 ", %.2f s of it waiting for work and not shown (--idle)",
			 (double)w->idle_ns / 1e9);
}

/*
 * What the samples stand for.  Those at events: how many of each there were.  Where waits are among
 * them, that is told apart; else each is one interval of the clock.
 */
static void stats__meaning(const struct stats *s, char *text, size_t size)
{
	size_t len = 0;

	if (!s->nevents && s->rate && !s->waits.waits && !s->waits.idle_ns)
		snprintf(text, size, " = %.2f s of %s", (double)s->written / s->rate,
			 s->clock && !strcmp(s->clock, "wall") ? "wall time" : "CPU");
	for (uint32_t i = 0; i < s->nevents && len < size; i++) {
		const struct event_stats *e = &s->events[i];

		len += (size_t)snprintf(text + len, size - len, "%s%s: %" PRIu64 "%s%s",
					i ? ", " : " (", e->name, e->weight,
					e->unit == XR_UNIT_NS	   ? " ns"
					: e->unit == XR_UNIT_BYTES ? " bytes"
								   : "",
					i + 1 == s->nevents ? ")" : "");
	}
}

void stats__summary(const struct stats *s, char *buf, size_t size)
{
	uint64_t stacks = s->decoder.stacks_dropped + s->stacks_dropped;
	char more[512] = "", meaning[256] = "", processes[48] = "", lost[32] = "none";

	stats__meaning(s, meaning, sizeof(meaning));
	if (s->processes != 1)
		snprintf(processes, sizeof(processes), " of %" PRIu64 " processes", s->processes);
	if (s->lost)
		snprintf(lost, sizeof(lost), "%" PRIu64, s->lost);
	summary__add(more, sizeof(more), s->unwritten, "of the lost not written");
	summary__add(more, sizeof(more), s->truncated, "truncated");
	summary__add(more, sizeof(more), s->unreadable, "unreadable");
	summary__add(more, sizeof(more), s->lines_cut, "in lines that were cut");
	summary__count(more, sizeof(more), s->decoder.names_cut, "name", "names", " cut");
	summary__add(more, sizeof(more), s->hidden.lines_incomplete, "without innermost line");
	summary__add(more, sizeof(more), s->hidden.gc_code,
		     "of the processes with some GC marks missing");
	summary__add(more, sizeof(more), s->hidden.gc_none, "of the processes without GC marks");
	summary__add(more, sizeof(more), s->hidden.memory_unproven + s->hidden.memory_none,
		     "of the processes without memory counts");
	summary__count(more, sizeof(more), s->over_budget, "stack", "stacks",
		       " took too long to read");
	summary__count(more, sizeof(more), s->throttled, "collection", "collections",
		       " skipped: too soon after another");
	summary__count(more, sizeof(more), s->silent, "process", "processes", " did not answer");
	summary__count(more, sizeof(more), s->missed, "tick", "ticks", " missed");
	summary__count(more, sizeof(more), s->waits.lost, "wait", "waits", " not recorded");
	summary__count(more, sizeof(more), s->waits.unread, "wait", "waits",
		       " at the end not read");
	summary__count(more, sizeof(more), s->calls.found, "call", "calls", " found");
	summary__add(more, sizeof(more), s->calls.slow, "of them slow");
	summary__count(more, sizeof(more), s->calls.fast + s->calls.outside, "sample", "samples",
		       " not of slow calls");
	summary__count(more, sizeof(more), s->calls.dropped, "sample", "samples",
		       " dropped that waited for --slower: memory was full");
	summary__waited(more, sizeof(more), &s->waits);
	if (s->decoder.names_dropped || stacks) {
		size_t len = strlen(more);

		snprintf(more + len, sizeof(more) - len,
			 "; memory was full for %" PRIu64 " %s and the stacks of %" PRIu64 " %s",
			 s->decoder.names_dropped,
			 count__word(s->decoder.names_dropped, "name", "names"), stacks,
			 count__word(stacks, "sample", "samples"));
	}
	snprintf(buf, size, "%" PRIu64 " %s%s%s in %.2f s; %s lost%s", s->written,
		 count__word(s->written, "sample", "samples"), processes, meaning, s->seconds, lost,
		 more);
}

static void stats__events(const struct stats *s, struct json *j)
{
	json__array(j, "events");
	for (uint32_t i = 0; i < s->nevents; i++) {
		json__object(j, NULL);
		json__str(j, "name", s->events[i].name);
		json__u64(j, "samples", s->events[i].samples);
		json__u64(j, "weight", s->events[i].weight);
		json__close(j);
	}
	json__close(j);
}

int stats__json(const struct stats *s, struct buf *out)
{
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "engine", s->engine);
	json__str(&j, "event", s->event);
	json__str(&j, "clock", s->clock);
	json__u64(&j, "freq", s->freq);
	json__double(&j, "seconds", s->seconds);
	json__double(&j, "first_sample", s->first_sample);
	json__u64(&j, "processes", s->processes);
	if (s->nevents)
		stats__events(s, &j);
	json__u64(&j, "ticks", s->ticks);
	json__u64(&j, "written", s->written);
	json__u64(&j, "unwritten", s->unwritten);
	json__u64(&j, "no_r_frames", s->no_r_frames);
	json__u64(&j, "exiting", s->exiting);
	json__u64(&j, "unreadable", s->unreadable);
	json__u64(&j, "lost", s->lost);
	json__u64(&j, "truncated", s->truncated);
	json__u64(&j, "other_thread", s->other_thread);
	json__u64(&j, "over_budget", s->over_budget);
	json__u64(&j, "overrun", s->overrun);
	json__u64(&j, "throttled", s->throttled);
	json__double(&j, "longest_sample_us", s->longest_us);
	json__u64(&j, "most_reads", s->most_work);
	json__double(&j, "sample_seconds", (double)s->spent_ns / 1e9);
	json__u64(&j, "missed", s->missed);
	json__u64(&j, "nested", s->nested);
	json__u64(&j, "sent", s->sent);
	json__u64(&j, "malformed", s->decoder.malformed);
	json__u64(&j, "partial", s->partial);
	json__u64(&j, "unnamed", s->decoder.unnamed);
	json__u64(&j, "names_cut", s->decoder.names_cut);
	json__u64(&j, "lines_cut", s->lines_cut);
	json__u64(&j, "names_dropped", s->decoder.names_dropped);
	json__u64(&j, "stacks_dropped", s->decoder.stacks_dropped + s->stacks_dropped);
	json__u64(&j, "symbols", s->symbols);
	json__u64(&j, "rows_full", s->rows_full);
	json__u64(&j, "silent", s->silent);
	json__u64(&j, "lines_incomplete", s->hidden.lines_incomplete);
	json__object(&j, "waits");
	json__u64(&j, "waits", s->waits.waits);
	json__double(&j, "seconds", (double)s->waits.ns / 1e9);
	json__double(&j, "idle_seconds", (double)s->waits.idle_ns / 1e9);
	json__u64(&j, "lost", s->waits.lost);
	json__u64(&j, "unread", s->waits.unread);
	json__close(&j);
	json__object(&j, "calls");
	json__u64(&j, "found", s->calls.found);
	json__u64(&j, "uncounted", s->calls.uncounted);
	json__u64(&j, "too_deep", s->calls.too_deep);
	json__u64(&j, "slow", s->calls.slow);
	json__u64(&j, "kept", s->calls.kept);
	json__u64(&j, "fast", s->calls.fast);
	json__u64(&j, "outside", s->calls.outside);
	json__u64(&j, "dropped", s->calls.dropped);
	json__close(&j);
	json__object(&j, "lines");
	json__u64(&j, "proven", s->hidden.lines_proven);
	json__u64(&j, "unproven", s->hidden.lines_unproven);
	json__u64(&j, "none", s->hidden.lines_none);
	json__close(&j);
	json__object(&j, "gc");
	json__u64(&j, "proven", s->hidden.gc_proven);
	json__u64(&j, "code", s->hidden.gc_code);
	json__u64(&j, "none", s->hidden.gc_none);
	json__close(&j);
	json__object(&j, "memory");
	json__u64(&j, "proven", s->hidden.memory_proven);
	json__u64(&j, "unproven", s->hidden.memory_unproven);
	json__u64(&j, "none", s->hidden.memory_none);
	json__close(&j);
	json__object(&j, "native");
	json__u64(&j, "whole", s->native.whole);
	json__u64(&j, "no_table", s->native.no_table);
	json__u64(&j, "no_rule", s->native.no_rule);
	json__u64(&j, "bad_stack", s->native.bad);
	json__u64(&j, "too_many", s->native.full);
	json__u64(&j, "moved", s->native.moved);
	json__u64(&j, "resynced", s->native.resynced);
	json__u64(&j, "frames", s->native.frames);
	json__u64(&j, "builtins", s->native.builtins);
	json__u64(&j, "builtins_named", s->native.builtins_named);
	json__u64(&j, "dead_contexts", s->native.dead);
	json__u64(&j, "keys_descended", s->native.descended);
	json__u64(&j, "modules", s->native.modules);
	json__u64(&j, "no_room", s->native.no_room);
	json__u64(&j, "table_bytes", s->native.table_bytes);
	json__u64(&j, "name_bytes", s->native.name_bytes);
	json__close(&j);
	json__object(&j, "rows");
	for (unsigned int i = 0; i < XR_ERRORS; i++)
		json__u64(&j, row_names[i], s->rows[i]);
	json__close(&j);
	json__close(&j);
	return json__end(&j, out);
}
