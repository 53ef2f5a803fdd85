/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --calls`: single calls, by function and the slowest of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cmd/report.h"
#include "cmd/value_text.h"
#include "cmd/when.h"

#define LABEL_LEAST 12u /* columns of a name, at least */
#define CELL	    512u

/* A call, and what its samples add up to. */
struct call_line {
	const struct profile_call *call;
	const struct profile_process *process;
	const struct profile_given *given; /* labels of one of its samples; NULL: none */
	uint64_t ns, cpu_ns, waiting_ns;
};

/* The calls of a function. */
struct call_function {
	const struct call_line *lines; /* the shortest first */
	size_t n, cut, running, ambiguous;
	/* calls inside of others of the same function are not added */
	uint64_t ns, cpu_ns, waiting_ns;
};

struct call_report {
	const struct report *report;
	struct report_sum sum;
	struct read_types types;
	struct map by_call; /* (id, 0) to the line */
	struct call_line *lines;
	size_t n;
	struct call_function *functions;
	size_t nfunctions, cap;
};

static int calls__read(struct call_report *c, struct errmsg *f)
{
	const struct report *r = c->report;
	const struct aggregate_config config = {
		.labels = XR_F_WAIT,
		.details = true,
		.calls = true,
		.given = true,
		.sets = UINT32_MAX, /* as many as there is memory for */
	};
	int err = report_read__sum(r, &r->inputs[0], &config, &c->types, &c->sum, f);
	const uint64_t dropped = err ? 0 : aggregate__dropped(c->sum.aggregate);

	if (!c->sum.seen.rates.differ)
		report_rates__about(&c->sum.seen.rates, &c->types.about);
	if (dropped)
		log__line("memory is full: the calls of %" PRIu64 " %s are missing (--max-memory)",
			  dropped, count__word(dropped, "sample", "samples"));
	return err;
}

/* The time that a row of samples stands for counts for each call that it is in. */
static void calls__count(struct call_report *c, const struct aggregate_row *row)
{
	const uint64_t each =
		c->sum.seen.rates.differ ? 1 : about__each(&c->types.about, row->type);

	if (row->type > PROFILE_TYPE_OFF_CPU)
		return;
	for (const struct profile_call *call = row->call; call; call = call->outer) {
		struct call_line *line = map__get(&c->by_call, call->id, 0);

		line->process = aggregate__process(c->sum.aggregate, row->process);
		line->given = line->given ? line->given : row->given;
		if (row__waited(row))
			line->waiting_ns += row->value * (row->type ? 1 : each);
		else
			line->cpu_ns += row->value * each;
	}
}

static int by_function(const void *a, const void *b)
{
	const struct call_line *x = a, *y = b;
	int order = strcmp(x->call->name, y->call->name);

	if (order)
		return order;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int by_time(const void *a, const void *b)
{
	const struct call_line *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->call->began != y->call->began)
		return x->call->began < y->call->began ? -1 : 1;
	return x->call->id < y->call->id ? -1 : 1;
}

static int by_total(const void *a, const void *b)
{
	const struct call_function *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->lines->call->name, y->lines->call->name);
}

/* Is it inside of another call of the same function? */
static bool call__recurs(const struct profile_call *call)
{
	const struct profile_call *outer = call->outer;

	while (outer && strcmp(outer->name, call->name) != 0)
		outer = outer->outer;
	return outer;
}

static void function__add(struct call_function *f, const struct call_line *line)
{
	f->n++;
	f->cut += line->call->cut;
	f->running += !line->call->ended;
	f->ambiguous += line->call->ambiguous;
	if (call__recurs(line->call))
		return;
	f->ns += line->ns;
	f->cpu_ns += line->cpu_ns;
	f->waiting_ns += line->waiting_ns;
}

static int calls__functions(struct call_report *c)
{
	qsort(c->lines, c->n, sizeof(*c->lines), by_function);
	for (size_t i = 0; i < c->n; i++) {
		const struct call_line *line = &c->lines[i];

		if (!i || strcmp(line->call->name, line[-1].call->name) != 0) {
			if (array__room(&c->functions, c->nfunctions, &c->cap,
					sizeof(*c->functions)))
				return -ENOMEM;
			c->functions[c->nfunctions++] = (struct call_function){.lines = line};
		}
		function__add(&c->functions[c->nfunctions - 1], line);
	}
	if (c->nfunctions)
		qsort(c->functions, c->nfunctions, sizeof(*c->functions), by_total);
	return 0;
}

static int calls__lines(struct call_report *c)
{
	struct profile_call *const *calls = aggregate__calls(c->sum.aggregate, &c->n);
	const struct aggregate_row *rows;
	size_t nrows;

	c->lines = calloc(c->n + 1, sizeof(*c->lines));
	if (!c->lines)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		c->lines[i] = (struct call_line){.call = calls[i], .ns = call__ns(calls[i])};
		if (map__put(&c->by_call, calls[i]->id, 0, &c->lines[i]))
			return -ENOMEM;
	}
	rows = aggregate__rows(c->sum.aggregate, &nrows);
	for (size_t i = 0; i < nrows; i++)
		calls__count(c, &rows[i]);
	return calls__functions(c);
}

/* The smallest duration that @percent of the calls do not exceed. */
static uint64_t function__percentile(const struct call_function *f, unsigned int percent)
{
	return f->lines[(f->n * percent + 99) / 100 - 1].ns;
}

/* The slowest first.  The functions, which need the order by function, are printed before. */
static void calls__sort(struct call_report *c)
{
	qsort(c->lines, c->n, sizeof(*c->lines), by_time);
}

/* --- as text --- */

static void number__print(uint64_t ns)
{
	char text[VALUE_TEXT];

	value__text(text, PROFILE_NANOSECONDS, ns);
	printf("%*s  ", VALUE_WIDTH, text);
}

static void calls__head(const struct call_report *c)
{
	const uint64_t period = about__interval(&c->types.about);
	size_t cut = 0, running = 0, ambiguous = 0;
	struct errmsg line; /* the files' names may be hostile */
	char text[VALUE_TEXT];

	for (size_t i = 0; i < c->nfunctions; i++) {
		cut += c->functions[i].cut;
		running += c->functions[i].running;
		ambiguous += c->functions[i].ambiguous;
	}
	errmsg__set(&line, 0, "%.300s", c->report->inputs[0].text);
	printf("%s: %zu %s of %zu %s", line.text, c->n, count__word(c->n, "call", "calls"),
	       c->nfunctions, count__word(c->nfunctions, "function", "functions"));
	if (cut)
		printf(", %zu cut (they began before the profile)", cut);
	if (running)
		printf(", %zu running at its end", running);
	if (ambiguous)
		printf(", %zu ambiguous", ambiguous);
	printf("\n");
	value__text(text, PROFILE_NANOSECONDS, period);
	if (period)
		printf("Calls shorter than %s, the time between two samples, are found only by "
		       "chance.\n",
		       text);
}

static void calls__print_functions(const struct call_report *c)
{
	const uint32_t top = c->report->top;
	const size_t n = top && top < c->nfunctions ? top : c->nfunctions;
	unsigned int room = report_room(7 + 7 * (VALUE_WIDTH + 2), LABEL_LEAST);
	char name[CELL];

	printf("%5s  %8s  %8s  %8s  %8s  %8s  %8s  %8s  FUNCTION\n", "CALLS", "TOTAL", "MEDIAN",
	       "P90", "P99", "MAX", "CPU", "WAITING");
	for (size_t i = 0; i < n; i++) {
		const struct call_function *f = &c->functions[i];

		printf("%5zu  ", f->n);
		number__print(f->ns);
		number__print(function__percentile(f, 50));
		number__print(function__percentile(f, 90));
		number__print(function__percentile(f, 99));
		number__print(function__percentile(f, 100));
		number__print(f->cpu_ns);
		number__print(f->waiting_ns);
		snprintf(name, sizeof(name), "%s", f->lines->call->name);
		utf8__tame(name);
		report_label(name, room);
	}
	report_more(n, c->nfunctions);
}

/* Function, state, request. */
static void line__label(const struct call_line *line, char label[CELL])
{
	const struct profile_call *call = line->call;

	snprintf(label, CELL, "%.150s%s%.300s%s%s%s", call->name, call->request ? "  " : "",
		 call->request ? call->request : "", call->cut ? " [cut]" : "",
		 call->ended ? "" : " [running]", call->ambiguous ? " [ambiguous]" : "");
	utf8__tame(label);
}

static void calls__print_slowest(const struct call_report *c)
{
	const uint32_t top = c->report->top;
	const size_t n = top && top < c->n ? top : c->n;
	const unsigned int used = 25 + 4 * (VALUE_WIDTH + 2) + 9;
	char start[WHEN_MAX], label[CELL];

	if (!n)
		return;
	printf("\n%-23s  %8s  %8s  %8s  %8s  %7s  FUNCTION\n", "START", "DURATION", "+-", "CPU",
	       "WAITING", "PID");
	for (size_t i = 0; i < n; i++) {
		const struct call_line *line = &c->lines[i];
		const uint64_t ms = line->call->began / NS_PER_MS;

		/* without the zone */
		when__print(start, ms / 1000);
		printf("%.19s.%03u  ", start, (unsigned int)(ms % 1000));
		number__print(line->ns);
		number__print(line->call->error);
		number__print(line->cpu_ns);
		number__print(line->waiting_ns);
		printf("%7" PRIu32 "  ", line->process ? line->process->pid : 0);
		line__label(line, label);
		report_label(label, report_room(used, LABEL_LEAST));
	}
	report_more(n, c->n);
}

/* --- as JSON --- */

static void json__ms(struct json *j, const char *key, uint64_t ns)
{
	json__double(j, key, (double)ns / NS_PER_MS);
}

static void json__seconds(struct json *j, const char *key, uint64_t ns)
{
	json__double(j, key, (double)ns / NS_PER_S);
}

static void function__json(struct json *j, const struct call_function *f)
{
	json__object(j, NULL);
	json__str(j, "function", f->lines->call->name);
	json__u64(j, "calls", f->n);
	json__seconds(j, "total_s", f->ns);
	json__ms(j, "median_ms", function__percentile(f, 50));
	json__ms(j, "p90_ms", function__percentile(f, 90));
	json__ms(j, "p99_ms", function__percentile(f, 99));
	json__ms(j, "max_ms", function__percentile(f, 100));
	json__seconds(j, "cpu_s", f->cpu_ns);
	json__seconds(j, "waiting_s", f->waiting_ns);
	json__u64(j, "cut", f->cut);
	json__u64(j, "running", f->running);
	json__u64(j, "ambiguous", f->ambiguous);
	json__close(j);
}

static void line__json(struct json *j, const struct call_line *line)
{
	const struct profile_process *p = line->process;
	const struct profile_call *call = line->call;
	char start[WHEN_MAX];

	when__rfc3339(start, call->began / NS_PER_MS);
	json__object(j, NULL);
	json__str(j, "function", call->name);
	json__str(j, "start", start);
	json__ms(j, "ms", line->ns);
	json__ms(j, "error_ms", call->error);
	json__ms(j, "cpu_ms", line->cpu_ns);
	json__ms(j, "waiting_ms", line->waiting_ns);
	json__bool(j, "cut", call->cut);
	json__bool(j, "running", !call->ended);
	json__bool(j, "ambiguous", call->ambiguous);
	json__u64(j, "pid", p ? p->pid : 0);
	json__str(j, "process", p && p->comm ? p->comm : "");
	json__str(j, "request", call->request);
	json__object(j, "labels");
	for (size_t i = 0; line->given && i < line->given->n; i++)
		json__str(j, line->given->labels[i].key, line->given->labels[i].value);
	for (size_t i = 0; p && i < p->nlabels; i++)
		if (!line->given ||
		    !labels__value(line->given->labels, line->given->n, p->labels[i].key))
			json__str(j, p->labels[i].key, p->labels[i].value);
	json__close(j);
	json__close(j);
}

static int calls__json(struct call_report *c, struct errmsg *f)
{
	const uint32_t top = c->report->top;
	const uint64_t period = about__interval(&c->types.about);
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__u64(&j, "schema", REPORT_SCHEMA);
	json__str(&j, "files", c->report->inputs[0].text);
	if (period)
		json__ms(&j, "period_ms", period);
	json__array(&j, "calls");
	for (size_t i = 0; i < c->nfunctions; i++)
		function__json(&j, &c->functions[i]);
	json__close(&j);
	json__array(&j, "slowest");
	calls__sort(c);
	for (size_t i = 0; i < c->n && (!top || i < top); i++)
		line__json(&j, &c->lines[i]);
	json__close(&j);
	json__close(&j);
	return report_json(&j, f);
}

static int calls__print(struct call_report *c, struct errmsg *f)
{
	if (c->report->json)
		return calls__json(c, f);
	calls__head(c);
	calls__print_functions(c);
	calls__sort(c);
	calls__print_slowest(c);
	return 0;
}

int report_calls(const struct report *r, struct errmsg *f)
{
	struct call_report c = {.report = r};
	int err = calls__read(&c, f);

	if (!err && calls__lines(&c))
		err = errmsg__set(f, -ENOMEM, "out of memory");
	if (!err && !c.n)
		err = errmsg__set(f, -ENODATA,
				  "%.300s: no single calls: record with --calls NAME, in pprof",
				  r->inputs[0].text);
	if (!err)
		err = calls__print(&c, f);
	map__free(&c.by_call);
	aggregate__free(c.sum.aggregate);
	free(c.lines);
	free(c.functions);
	return err;
}
