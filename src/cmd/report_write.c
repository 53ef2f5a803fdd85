/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `report` to a format.  Where that wants samples in their order, and an Rprof.out has it, they go
 * through one by one.  All else is added up first: what there is in it, lines say, is known then
 * before the head of the file is written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/report.h"
#include "layout.h"
#include "os/os.h"
#include "output/encode.h"
#include "output/outputs.h"

#define LINES_MAX UINT64_C(1000000000) /* of a format with one for each sample */

struct report_writing {
	const struct report *report;
	struct report_seen seen;
	struct outputs_config config;
	struct outputs *outputs;
	struct sink to;		  /* outputs', if they are there */
	struct aggregate *adding; /* NULL: samples go through */
	uint64_t left;		  /* samples of other types, that go nowhere */
	struct read_types types;
	struct profile_about about;
	struct intervals {
		uint64_t *begins; /* of the files, ascending; ns since 1970 */
		size_t n, cap;
		uint64_t longest; /* ns */
		bool unknown;	  /* of one of them, or they come in another order */
	} intervals;
	struct errmsg fault;
	int err;
};

static int writing__fail(struct report_writing *w, int err)
{
	if (err && !w->err) {
		w->err = err;
		w->fault = *sink__why(&w->to);
	}
	return err;
}

/* A format with a line for each interval has one. */
static void writing__rate(struct report_writing *w)
{
	if (about__interval(&w->about) || !w->config.format->sample)
		return;
	w->about.interval_ns = report_rate__interval(0);
	log__line("the sampling rate is unknown: one sample each %u ms is assumed (--freq)",
		  (unsigned int)(w->about.interval_ns / NS_PER_MS));
}

/* Open the outputs; @capture: what there is to be written. */
static int writing__open(struct report_writing *w, uint32_t capture, bool roots)
{
	int err;

	w->config.writer.capture = capture;
	w->config.writer.roots = roots;
	w->config.writer.described = true; /* as far as the files told */
	err = outputs__new(&w->outputs, &w->config);
	if (err)
		return errmsg__set(&w->fault, err, "out of memory");
	w->to = outputs__sink(w->outputs);
	return writing__fail(w, sink__begin(&w->to, &w->about));
}

/* Does the format say of each sample when it was taken, or write them one by one? */
static bool format__is_ordered(const struct writer_ops *format)
{
	return format->sample || format->keeps.timeline;
}

/*
 * The number of the file that is being read, from 1 on, by the time it is of, as the time of its
 * samples; 0: it is not known.  Files of the same begin are one.
 */
static uint64_t intervals__number(struct intervals *in, const struct read_result *file)
{

	if (in->unknown || !file->began || (in->n && file->began < in->begins[in->n - 1])) {
		in->unknown = true;
		return 0;
	}
	if (file->duration_ns > in->longest)
		in->longest = file->duration_ns;
	if (in->n && file->began == in->begins[in->n - 1])
		return in->n;
	if (array__room(&in->begins, in->n, &in->cap, sizeof(*in->begins))) {
		in->unknown = true;
		return 0;
	}
	in->begins[in->n++] = file->began;
	return in->n;
}

static int writing__begin(void *arg, const struct profile_about *about)
{
	struct report_writing *w = arg;
	const struct writer_ops *format = w->config.format;
	const struct read_result *first = &w->seen.first;
	struct aggregate_config config = format->keeps;
	uint32_t capture = format->capture;
	int err;

	config.max = LIMIT_AGGREGATE(w->report->max_memory);
	config.width = 1; /* a file */
	w->about = *about;
	if (!format__is_ordered(format) || first->format != READ_RPROF || w->report->sample_type) {
		err = aggregate__new(&w->adding, &config);
		w->seen.rates.adding = w->adding;
		return err ? errmsg__set(&w->fault, err, "out of memory") : 0;
	}
	capture |= first->lines ? XR_ROW_LINES : 0;
	capture |= first->gc ? XR_ROW_GC : 0;
	writing__rate(w);
	return writing__open(w, capture, report_read__several(&w->report->inputs[0]));
}

static int writing__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct report_writing *w = arg;

	if (!w->adding)
		return writing__fail(w, sink__process(&w->to, p, event));
	aggregate__know(w->adding, p);
	return 0;
}

static int writing__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct report_writing *w = arg;
	struct sample timed;
	int err;

	/* allocations of an Rprof.out: a message reports that such counts are not kept */
	if (!w->adding && s->type && !w->config.format->types) {
		w->left += s->type != PROFILE_TYPE_ALLOC ? sample__count(s) : 0;
		return 0;
	}
	if (!w->adding && !about__type(&w->about, s->type).name) {
		w->left += sample__count(s);
		return 0;
	}
	if (!w->adding)
		return writing__fail(w, sink__sample(&w->to, p, s));
	timed = *s;
	timed.time = intervals__number(&w->intervals, w->seen.rates.reading);
	err = aggregate__take(w->adding, p, &timed);
	return err ? errmsg__set(&w->fault, err, "out of memory") : 0;
}

static int writing__tick(void *arg, uint64_t now)
{
	struct report_writing *w = arg;

	/* a profile in rows is written at once at the end, not every second */
	(void)now;
	return w->adding || !w->outputs ? 0 : writing__fail(w, sink__tick(&w->to, 0));
}

static const struct errmsg *writing__why(void *arg)
{
	struct report_writing *w = arg;

	return &w->fault;
}

/* What there is in what was added up. */
static uint32_t aggregate__capture(const struct aggregate *a)
{
	const struct aggregate_row *rows;
	uint32_t capture = 0;
	size_t n;

	rows = aggregate__rows(a, &n);
	for (size_t i = 0; i < n; i++) {
		const struct stack *stack = rows[i].stack;

		if (stack->top.file)
			capture |= XR_ROW_LINES;
		for (uint32_t k = 0; k < stack->nframes; k++) {
			if (stack->frames[k]->place.file)
				capture |= XR_ROW_LINES;
			if (stack->frames[k]->function == mark_gc.function)
				capture |= XR_ROW_GC;
		}
	}
	return capture;
}

/* Are there several processes, or one that a folded file names in a root? */
static bool writing__roots(const struct report_writing *w)
{
	const struct aggregate_row *rows;
	uint32_t pid = 0;
	size_t n;

	rows = aggregate__rows(w->adding, &n);
	for (size_t i = 0; i < n; i++) {
		const struct profile_process *p = aggregate__process(w->adding, rows[i].process);

		if (i && rows[i].process != rows[0].process)
			return true;
		pid = p->pid;
	}
	return pid && w->seen.first.format == READ_FOLDED;
}

/* What is written: one sample type, which counts @each, or all of them. */
struct pouring {
	bool all;
	uint32_t type;
	uint64_t each, owed;
};

/* Find out; the profile says what it has then.  -EDOM: there is none of that name. */
static int writing__choose(struct report_writing *w, struct pouring *p)
{
	const struct writer_ops *format = w->config.format;
	const struct profile_type *types = w->types.about.types;
	char others[REPORT_TYPES_LEN];
	int err;

	/* what there is in all files, of which the first was not more than one */
	w->about = w->types.about;
	report_rates__about(&w->seen.rates, &w->about);
	report_rates__ticks(&w->seen.rates, w->adding);
	writing__rate(w);
	*p = (struct pouring){.all = format->types && !w->report->sample_type, .each = 1};
	if (p->all)
		return 0;
	err = report_types__choose(w->report, &w->types, w->seen.values, &p->type, &w->fault);
	if (err)
		return err;
	report_types__others(&w->seen, p->type, others);
	if (*others && !w->report->sample_type)
		log__line("format %s has one number for a stack: it is %s; also available: %s "
			  "(--sample-type NAME)",
			  format->name, about__type(&w->types.about, p->type).name, others);
	if (format->sample && p->type && types[p->type].unit != PROFILE_NANOSECONDS)
		return errmsg__set(&w->fault, -ENOTSUP,
				   "format %s has a line for each interval of time, and %s is not "
				   "a time: choose another format",
				   format->name, types[p->type].name);
	if (format->sample && p->type)
		p->each = about__interval(&w->about);
	if (format->types)
		report_types__only(&w->about, p->type);
	else
		report_types__only(&w->about, PROFILE_TYPE_TICKS);
	return 0;
}

/* What a row counts in the output; false: nothing.  A part of a tick counts with the next. */
static bool pouring__sample(struct pouring *p, const struct writer_ops *format,
			    const struct aggregate_row *row, struct sample *s)
{
	if (p->all)
		return row->value;
	if (row->type != p->type)
		return false;
	if (format->types)
		return true;
	p->owed += row->value;
	s->type = PROFILE_TYPE_TICKS;
	s->weight = p->owed / p->each;
	p->owed %= p->each;
	return s->weight;
}

/* How many lines a format has that has one for each tick. */
static uint64_t pouring__lines(const struct pouring *p, const struct aggregate *a)
{
	const struct aggregate_row *rows;
	uint64_t value = 0;
	size_t n;

	rows = aggregate__rows(a, &n);
	for (size_t i = 0; i < n; i++)
		value += rows[i].type == p->type ? rows[i].value : 0;
	return value / p->each;
}

/* Give a row to the outputs, of samples at @time; 0: it is not known. */
static int writing__row(struct report_writing *w, struct pouring *pouring,
			const struct aggregate_row *row, uint64_t time)
{
	const struct profile_process *p = aggregate__process(w->adding, row->process);
	struct sample s = {
		.time = time,
		.weight = row->value,
		.samples = row__samples(row),
		.type = row->type,
		.detail = row->detail,
		.serial = p->serial,
		.pid = p->pid,
		.tid = row->tid,
		.flags = row->labels,
		.stack = row->stack,
		.call = row->call,
		.labels = row->given ? row->given->labels : NULL,
		.nlabels = row->given ? row->given->n : 0,
	};
	int err;

	if (!pouring__sample(pouring, w->config.format, row, &s))
		return 0;
	err = writing__fail(w, sink__process(&w->to, p, PROFILE_BEGAN));
	return err ? err : writing__fail(w, sink__sample(&w->to, p, &s));
}

/* Give what was added up to the outputs. */
static int writing__pour(struct report_writing *w)
{
	const struct writer_ops *format = w->config.format;
	const struct aggregate_row *rows;
	const struct timeline *timeline;
	struct pouring pouring;
	uint64_t lines;
	int err;
	size_t n;

	err = writing__choose(w, &pouring);
	if (err)
		return err;
	lines = pouring__lines(&pouring, w->adding);
	if (format->sample && lines > LINES_MAX)
		return errmsg__set(&w->fault, -EFBIG,
				   "format %s has one line for each sample, and %" PRIu64
				   " are too many: choose another format",
				   format->name, lines);
	timeline =
		w->intervals.unknown || w->intervals.n < 2 ? NULL : aggregate__timeline(w->adding);
	w->config.timeline = timeline ? w->intervals.longest * timeline->width : 0;
	err = writing__open(w, aggregate__capture(w->adding) | format->capture, writing__roots(w));
	rows = aggregate__rows(w->adding, &n);
	for (size_t i = 0; timeline && i < timeline->n && !err; i++) {
		const struct timeline_entry *e = &timeline->entries[i];
		struct aggregate_row row = rows[e->row];

		row.value = e->value;
		row.samples = 0; /* of a part it is not known */
		err = writing__row(w, &pouring, &row,
				   w->intervals.begins[e->span * timeline->width]);
	}
	for (size_t i = 0; !timeline && i < n && !err; i++)
		err = writing__row(w, &pouring, &rows[i], 0);
	return err;
}

/* All was given: complete the files. */
static int writing__finish(struct report_writing *w)
{
	const struct read_made *made = &w->types.made;
	struct stats stats = {
		.seconds =
			made->duration_ns ? (double)made->duration_ns / NS_PER_S : w->seen.seconds,
		.ticks = w->seen.samples + made->lost + made->unreadable,
		.written = w->seen.samples,
		.lost = made->lost,
		.truncated = made->truncated,
		.unreadable = made->unreadable,
	};
	int err;

	if (!w->outputs)
		return 0;
	err = writing__fail(w, sink__finish(&w->to, &stats));
	if (w->adding)
		stats.stacks_dropped += aggregate__dropped(w->adding);
	report_no_room(stats.stacks_dropped);
	if (w->adding)
		report_left_out(w->adding);
	if (stats.lines_cut)
		log__line("the stacks of %" PRIu64
			  " %s are longer than a line may be: <truncated> is in place of their "
			  "outermost frames",
			  stats.lines_cut, count__word(stats.lines_cut, "sample", "samples"));
	if (stats.unwritten)
		return writing__fail(w, err)
			       ? err
			       : errmsg__set(&w->fault, -EFBIG,
					     "%" PRIu64 " %s not written: the file reached its "
					     "size limit (--max-file)",
					     stats.unwritten,
					     count__word(stats.unwritten, "sample was",
							 "samples were"));
	return err;
}

int report_write(const struct report *r, struct files *files, struct errmsg *f)
{
	static const struct sink_ops ops = {
		.begin = writing__begin,
		.process = writing__process,
		.sample = writing__sample,
		.tick = writing__tick,
		.why = writing__why,
	};
	struct report_writing w = {
		.report = r,
		.config =
			{
				.format = r->format,
				.path = r->output ? r->output : "-",
				.files = files,
				.memory = r->max_memory,
				.max_file = r->max_file,
				.waits = true,
			},
	};
	int err;

	if (!r->output && r->format->binary && os__columns(1))
		return errmsg__set(f, -ENOTTY,
				   "format %s is binary, and stdout is a terminal: give -o FILE",
				   r->format->name);
	w.seen.types = &w.types;
	err = report_read__all(r, &r->inputs[0], format__is_ordered(r->format),
			       (struct sink){.ops = &ops, .arg = &w}, &w.seen, f);
	if (!err && w.adding)
		err = writing__pour(&w);
	if (!err)
		err = writing__finish(&w);
	if (!err && w.left)
		log__line("%" PRIu64
			  " %s of other sample types left out, because the first file has "
			  "none: name it later",
			  w.left, count__word(w.left, "sample", "samples"));
	/* a file may have several profiles, too */
	w.seen.lines_dropped |= w.seen.first.lines && !(w.config.writer.capture & XR_ROW_LINES);
	w.seen.lines_dropped |= w.seen.first.gc && !(w.config.writer.capture & XR_ROW_GC);
	if (!err && !w.adding && w.seen.lines_dropped)
		log__line("lines or GC marks of a file are left out, because the first file has "
			  "none: name it later");
	if (err && w.fault.text[0])
		*f = w.fault;
	outputs__free(w.outputs);
	aggregate__free(w.adding);
	free(w.seen.names);
	free(w.intervals.begins);
	return err == -EPIPE ? 0 : err;
}
