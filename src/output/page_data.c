/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each sorted stack begins with what it has in common with the one before, and what follows are new
 * nodes of the tree: it is written without being made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/version.h"
#include "output/page_data.h"
#include "output/page_order.h"
#include "output/page_sources.h"
#include "profile/attributes.h"
#include "profile/fold.h"

#define PAGE_PIECE 65536u /* bytes of text that are handed on at a time */

/* Things by their numbers, from 1 on in the order in which they came. */
struct page_list {
	struct map numbers;
	const void **things; /* [0]: unused */
	size_t n, cap;
};

struct page {
	struct output *out;
	const struct page_config *config;
	struct json j;
	int err;	       /* of the output, or -ENOMEM */
	struct page_row *rows; /* sorted */
	size_t nrows;
	struct page_list frames, strings, calls, texts, sets;
};

/* Hand on what was written so far; @all: or only if it is much. */
static void page__pour(struct page *p, bool all)
{
	int err = 0;

	if (!p->j.text.len || (!all && p->j.text.len < PAGE_PIECE))
		return;
	if (!p->err && !p->j.err)
		err = output__write(p->out, p->j.text.data, p->j.text.len);
	p->err = p->err ? p->err : err;
	p->j.text.len = 0;
}

static void page__number(struct page *p, uint64_t number)
{
	json__u64(&p->j, NULL, number);
	page__pour(p, false);
}

/* --- tables --- */

/* The number of @thing, put into @list if it is new; 0 for NULL, and for a lack of memory. */
static uint32_t list__number(struct page *p, struct page_list *list, const void *thing)
{
	uintptr_t number;

	if (!thing)
		return 0;
	number = (uintptr_t)map__get(&list->numbers, (uintptr_t)thing, 0);
	if (number)
		return (uint32_t)number;
	number = list->n + 1;
	if (array__room(&list->things, number, &list->cap, sizeof(*list->things)) ||
	    map__put(&list->numbers, (uintptr_t)thing, 0, (void *)number))
		goto no_memory;
	list->things[number] = thing;
	list->n = number;
	return (uint32_t)number;
no_memory:
	p->err = -ENOMEM;
	return 0;
}

static void list__free(struct page_list *list)
{
	map__free(&list->numbers);
	free(list->things);
}

/* --- what is written --- */

/* All there may be, by number: nothing for those that there are not. */
static void page__types(struct page *p)
{
	static const char *const units[] = {"samples", "ns", "bytes", "count"};

	json__array(&p->j, "types");
	for (uint32_t i = 0; i < PROFILE_TYPES_MAX; i++) {
		const struct profile_type type = about__type(p->config->about, i);

		json__object(&p->j, NULL);
		if (type.name) {
			json__str(&p->j, "name", type.name);
			json__str(&p->j, "unit", units[type.unit]);
		}
		json__close(&p->j);
	}
	json__close(&p->j);
}

/* Samples a second, of a file not always a whole number: the page divides by it. */
static double about__rate(const struct profile_about *about)
{
	const struct profile_about whole = {.freq = about->freq};
	const uint64_t interval = about__interval(about);

	return interval != about__interval(&whole) ? (double)NS_PER_S / (double)interval
						   : about->freq;
}

static void page__meta(struct page *p)
{
	const struct profile_about *about = p->config->about;
	struct json *j = &p->j;

	json__object(j, "meta");
	json__str(j, "program", XR_PROGRAM);
	json__str(j, "version", XR_VERSION);
	json__str(j, "command", about->command);
	json__str(j, "host", about->host);
	json__str(j, "engine", about->engine);
	json__str(j, "clock", about->clock);
	json__str(j, "event", about->event);
	json__double(j, "freq", about__rate(about));
	page__types(p);
	json__u64(j, "began", about->began_real / NS_PER_MS);
	json__bool(j, "diff", p->config->before);
}

static void page__counts(struct page *p)
{
	const struct stats *s = p->config->stats;
	struct json *j = &p->j;

	if (!s) {
		json__str(j, "counts", NULL);
		return;
	}
	json__object(j, "counts");
	json__double(j, "seconds", s->seconds);
	json__u64(j, "ticks", s->ticks);
	json__u64(j, "no_r_frames", s->no_r_frames);
	json__u64(j, "unreadable", s->unreadable);
	json__u64(j, "lost", s->lost);
	json__u64(j, "throttled", s->throttled);
	json__u64(j, "truncated", s->truncated);
	json__double(j, "idle", (double)s->waits.idle_ns / (double)NS_PER_S);
	json__u64(j, "stacks_dropped", s->stacks_dropped + s->decoder.stacks_dropped);
	json__close(j);
}

static void page__attributes(struct json *j, const struct profile_process *p)
{
	for (const struct attribute *a = attributes; a->kind; a++) {
		const char *text = attribute__text(a, p);

		if (a->page && a->kind == ATTRIBUTE_TEXT)
			json__str(j, a->page, text ? text : a->identity ? "" : NULL);
		else if (a->page)
			json__u64(j, a->page, attribute__number(a, p));
	}
}

static void page__processes(struct page *p, const struct aggregate *a, bool before)
{
	size_t n;
	const struct profile_process *all = aggregate__processes(a, &n);
	struct json *j = &p->j;

	for (size_t i = 0; i < n; i++) {
		const struct profile_process *one = &all[i];

		json__object(j, NULL);
		page__attributes(j, one);
		json__double(j, "cpu", (double)one->cpu_ns / (double)NS_PER_S);
		json__double(j, "elapsed", (double)one->elapsed_ns / (double)NS_PER_S);
		json__bool(j, "before", before);
		json__close(j);
		page__pour(p, false);
	}
}

/* The nodes that each stack adds to the tree. */
static void page__nodes(struct page *p)
{
	const struct stack *last = NULL, *s;
	uint32_t depth = 0, node = 0, common;

	json__array(&p->j, "nodes");
	for (size_t i = 0; i < p->nrows && !p->err; i++, last = s) {
		s = p->rows[i].row->stack;
		common = last ? stack__common(last, s) : 0;
		for (uint32_t level = common; level < stack__depth(s); level++) {
			page__number(p, depth - level);
			page__number(p, list__number(p, &p->frames, stack__at(s, level)));
			depth = level + 1;
			node++;
		}
		p->rows[i].node = node;
	}
	json__close(&p->j);
}

static void page__rows(struct page *p)
{
	size_t processes;
	uint32_t last = 0;

	aggregate__processes(p->config->profile, &processes);
	json__array(&p->j, "rows");
	for (size_t i = 0; i < p->nrows; i++) {
		const struct page_row *r = &p->rows[i];

		page__number(p, r->node - last);
		page__number(p, r->row->process + (r->before ? processes : 0));
		page__number(p, r->row->value);
		page__number(p, r->row->type);
		last = r->node;
	}
	json__close(&p->j);
}

static void page__time(struct page *p)
{
	const struct timeline *t = aggregate__timeline(p->config->profile);
	const struct aggregate_row *rows;
	const struct profile_about *about = p->config->about;
	/* the time of files that were read is since 1970 */
	uint64_t began = about->began ? about->began : about->began_real;
	uint32_t span = 0, *sorted; /* by row of the profile: where it is in p->rows */
	size_t n;

	rows = aggregate__rows(p->config->profile, &n);
	if (!t || !t->n || p->config->before) {
		json__str(&p->j, "time", NULL);
		return;
	}
	sorted = calloc(n + 1, sizeof(*sorted));
	if (!sorted) {
		p->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < p->nrows; i++)
		sorted[p->rows[i].row - rows] = (uint32_t)i;
	json__object(&p->j, "time");
	json__double(&p->j, "begin",
		     t->begin > began && began ? (double)(t->begin - began) / (double)NS_PER_S : 0);
	json__double(&p->j, "width", (double)t->width / (double)NS_PER_S);
	json__array(&p->j, "entries");
	for (size_t i = 0; i < t->n; i++) {
		const struct timeline_entry *e = &t->entries[i];

		json__double(&p->j, NULL, (double)e->span - span);
		page__number(p, e->row < n ? sorted[e->row] : 0);
		page__number(p, e->value);
		span = e->span;
	}
	json__close(&p->j);
	json__close(&p->j);
	free(sorted);
}

/* When the profile began, on the clock of its calls. */
static uint64_t page__begin(const struct page *p, struct profile_call *const *calls, size_t n)
{
	const struct profile_about *about = p->config->about;
	uint64_t begin = about->began ? about->began : about->began_real;

	for (size_t i = 0; i < n && !about->began; i++)
		begin = !begin || calls[i]->began < begin ? calls[i]->began : begin;
	return begin;
}

/* By row, the number of its call or of its labels. */
static void page__row_numbers(struct page *p, struct page_list *list)
{
	json__array(&p->j, "rows");
	for (size_t i = 0; i < p->nrows && !p->err; i++) {
		const struct aggregate_row *row = p->rows[i].row;

		page__number(p, list == &p->calls ? list__number(p, list, row->call)
						  : list__number(p, list, row->given));
	}
	json__close(&p->j);
}

static void page__call(struct page *p, const struct profile_call *call, uint64_t begin)
{
	page__number(p, list__number(p, &p->texts, call->name));
	page__number(p, list__number(p, &p->texts, call->request));
	page__number(p, call->began > begin ? (call->began - begin) / NS_PER_US : 0);
	page__number(p, call__ns(call) / NS_PER_US);
	page__number(p, call->error / NS_PER_US);
	page__number(p, (call->ended ? 0 : 1) + (call->cut ? 2 : 0) + (call->ambiguous ? 4 : 0));
	page__number(p, list__number(p, &p->calls, call->outer));
}

/* A name as other formats show it: those of frames have it beside them. */
static void page__safe(struct page *p, const char *text)
{
	struct buf safe = {0};

	if (escape__text(&safe, text, "\"", LIMIT_NAME) < 0 || buf__add(&safe, "", 1))
		p->err = -ENOMEM;
	else
		json__str(&p->j, NULL, safe.data);
	buf__free(&safe);
	page__pour(p, false);
}

static void page__calls(struct page *p)
{
	size_t n;
	struct profile_call *const *calls = aggregate__calls(p->config->profile, &n);
	const uint64_t begin = page__begin(p, calls, n);

	if (!n || p->config->before)
		return;
	json__object(&p->j, "calls");
	json__array(&p->j, "list");
	for (size_t i = 0; i < n && !p->err; i++) {
		list__number(p, &p->calls, calls[i]);
		page__call(p, calls[i], begin);
	}
	json__close(&p->j);
	page__row_numbers(p, &p->calls);
	json__array(&p->j, "texts");
	json__str(&p->j, NULL, "");
	for (size_t i = 1; i <= p->texts.n; i++)
		page__safe(p, p->texts.things[i]);
	json__close(&p->j);
	json__close(&p->j);
}

static void page__labels(struct page *p)
{
	const struct profile_given *set;

	for (size_t i = 0; i < p->nrows && !p->err; i++)
		list__number(p, &p->sets, p->rows[i].row->given);
	if (!p->sets.n)
		return;
	json__object(&p->j, "labels");
	page__row_numbers(p, &p->sets);
	json__array(&p->j, "sets");
	for (size_t i = 1; i <= p->sets.n && !p->err; i++) {
		set = p->sets.things[i];
		json__array(&p->j, NULL);
		for (size_t k = 0; k < set->n; k++) {
			json__array(&p->j, NULL);
			page__safe(p, set->labels[k].key);
			page__safe(p, set->labels[k].value);
			json__close(&p->j);
		}
		json__close(&p->j);
	}
	json__close(&p->j);
	json__close(&p->j);
}

static uint32_t place__line(struct place place)
{
	return (int32_t)place.line > 0 ? place.line : 0;
}

static void page__frames(struct page *p)
{
	static const struct frame none = {.kind = FRAME_MARK}; /* it has no name */

	json__array(&p->j, "frames");
	for (size_t i = 0; i <= p->frames.n && !p->err; i++) {
		const struct frame *frame = i ? p->frames.things[i] : &none;

		page__number(p, list__number(p, &p->strings, frame->function));
		page__number(p, list__number(p, &p->strings, frame->package));
		page__number(p, list__number(p, &p->strings, frame->module));
		page__number(p, frame->kind);
		page__number(p, list__number(p, &p->strings, frame->defined.file));
		page__number(p, place__line(frame->defined));
		page__number(p, list__number(p, &p->strings, frame->place.file));
		page__number(p, place__line(frame->place));
		page__number(p, i && fold__wrapper(frame));
	}
	json__close(&p->j);
}

static void page__strings(struct page *p)
{
	json__array(&p->j, "strings");
	json__str(&p->j, NULL, "");
	for (size_t i = 1; i <= p->strings.n; i++) {
		json__str(&p->j, NULL, ((const struct name *)p->strings.things[i])->safe);
		page__pour(p, false);
	}
	json__close(&p->j);
}

static void page__text(void *arg, const struct name *file, const char *text, const char *why)
{
	struct page *p = arg;

	json__object(&p->j, NULL);
	json__u64(&p->j, "file", list__number(p, &p->strings, file));
	json__str(&p->j, text ? "text" : "why", text ? text : why);
	json__close(&p->j);
	page__pour(p, false);
}

/* Files of the profile in which there are samples, those of processes that may name them. */
static void page__sources(struct page *p)
{
	struct sources sources = {.texts = p->config->sources};
	const struct page_row *r;
	int err = 0;

	json__array(&p->j, "sources");
	for (size_t i = 0; i < p->nrows && !err; i++) {
		r = &p->rows[i];
		err = sources__add(
			&sources,
			aggregate__process(r->before ? p->config->before : p->config->profile,
					   r->row->process),
			r->row->stack);
	}
	if (!err)
		err = sources__read(&sources, page__text, p);
	if (err == -ENOMEM)
		p->err = err;
	sources__free(&sources);
	json__close(&p->j);
}

/* --- */

static void page__write(struct page *p)
{
	struct json *j = &p->j;

	json__begin_html(j);
	json__object(j, NULL);
	page__meta(p);
	page__counts(p);
	json__close(j);
	json__array(j, "processes");
	page__processes(p, p->config->profile, false);
	if (p->config->before)
		page__processes(p, p->config->before, true);
	json__close(j);
	page__nodes(p);
	page__rows(p);
	page__time(p);
	page__calls(p);
	page__labels(p);
	page__frames(p);
	page__sources(p);
	page__strings(p);
	json__close(j);
}

int page_data__write(struct output *out, const struct page_config *config)
{
	struct page p = {.out = out, .config = config};
	struct buf end = {0};
	int err;

	p.rows = page_rows__sorted(config->profile, config->before, &p.nrows);
	if (!p.rows)
		return -ENOMEM;
	page__write(&p);
	page__pour(&p, true);
	err = json__end(&p.j, &end);
	err = p.err ? p.err : err;
	if (!err)
		err = output__write(out, end.data, end.len);
	buf__free(&end);
	list__free(&p.frames);
	list__free(&p.strings);
	list__free(&p.calls);
	list__free(&p.texts);
	list__free(&p.sets);
	free(p.rows);
	return err;
}
