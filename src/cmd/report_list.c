/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `report --dir --list`: which processes there are in the profiles of a span.  The index tells; the
 * profiles that it has nothing of are read themselves.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/utf8.h"
#include "cmd/value_text.h"
#include "cmd/report_index.h"
#include "cmd/report.h"
#include "cmd/when.h"

#define CELL	    32u
#define COMMAND_MIN 20u /* columns of a command, at least */
#define UID_NONE    UINT32_MAX
#define TIME_LEN    19 /* of 2026-11-22 02:10:00 */

enum { SAMPLES, TIME, PID, NAME, SERVICE, UID, CONTAINER, VERSION, STARTED, COLUMNS };

static const char *const titles[COLUMNS] = {
	[SAMPLES] = "SAMPLES",	   [TIME] = "TIME",	  [PID] = "PID",
	[NAME] = "NAME",	   [SERVICE] = "SERVICE", [UID] = "UID",
	[CONTAINER] = "CONTAINER", [VERSION] = "R",	  [STARTED] = "STARTED",
};

struct list_row {
	uint64_t hash;
	uint64_t samples, unknown; /* those of which it is not known what they stand for, too */
	double seconds;		   /* what the others stand for */
	uint32_t pid, uid;
	uint64_t started;
	char cells[COLUMNS][CELL]; /* those of text */
	char *command;		   /* NULL: not known */
	char key[];		   /* what tells it apart, terminated */
};

struct list {
	const struct report *report;
	const struct report_input *in;
	bool *indexed; /* of its files */
	struct table table;
	struct arena arena;
	struct budget budget;
	struct list_row **rows;
	size_t n, cap;
	uint64_t samples, others; /* of all; of those without a row */
	uint64_t interval_ns;	  /* of the first sample of which it is known */
	bool differ;		  /* others have another one */
	struct report_seen seen;
	struct report_chosen chosen;
};

static bool row__same(const void *record, const void *key)
{
	return !strcmp(((const struct list_row *)record)->key, key);
}

/* What came from outside is shown as it can be. */
static void cell__set(char cell[CELL], const char *text)
{
	snprintf(cell, CELL, "%s", text && *text ? text : "-");
	utf8__tame(cell);
}

/* The first time that something is known of it counts. */
static void cell__fill(char cell[CELL], const char *text)
{
	if (!*cell || !strcmp(cell, "-"))
		cell__set(cell, text);
}

/* What tells the process from others. */
static void row__begin(struct list_row *row, const struct profile_process *p)
{
	char started[WHEN_MAX];

	row->pid = p->pid;
	row->uid = UID_NONE;
	row->started = p->started;
	cell__set(row->cells[NAME], p->comm);
	cell__set(row->cells[CONTAINER], p->container);
	row->cells[CONTAINER][container__shown(row->cells[CONTAINER])] = '\0';
	when__print(started, p->started / NS_PER_S);
	/* without the zone, which is that of all */
	snprintf(row->cells[STARTED], CELL, "%.*s", TIME_LEN, p->started ? started : "-");
}

/* What else is known of it, which may be more than was. */
static void row__fill(struct list *l, struct list_row *row, const struct profile_process *p)
{
	size_t len = p->command ? strlen(p->command) : 0;

	if (row->uid == UID_NONE)
		row->uid = p->uid;
	cell__fill(row->cells[SERVICE], process__label(p, "service"));
	cell__fill(row->cells[VERSION], p->r_version);
	if (row->command || !len)
		return;
	row->command = arena__alloc(&l->arena, len + 1);
	if (!row->command)
		return;
	memcpy(row->command, p->command, len + 1);
	utf8__tame(row->command);
}

/* The row of a process; NULL: there is no room. */
static struct list_row *list__row(struct list *l, const struct profile_process *p)
{
	char key[256];
	struct list_row *row;
	uint64_t hash;

	snprintf(key, sizeof(key), "%" PRIu32 " %" PRIu64 " %.64s %.100s", p->pid,
		 p->started / NS_PER_S, p->comm ? p->comm : "", p->container ? p->container : "");
	hash = map__hash(map__hash_bytes(key, strlen(key)), strlen(key));
	row = table__find(&l->table, hash, row__same, key);
	if (row)
		return row;
	row = arena__alloc(&l->arena, sizeof(*row) + strlen(key) + 1);
	if (!row || array__room(&l->rows, l->n, &l->cap, sizeof(struct list_row *)))
		return NULL;
	*row = (struct list_row){.hash = hash};
	memcpy(row->key, key, strlen(key) + 1);
	if (table__add(&l->table, row))
		return NULL;
	row__begin(row, p);
	l->rows[l->n++] = row;
	return row;
}

/* @interval: ns that each of @samples stands for; 0: not known. */
static void list__count(struct list *l, const struct profile_process *p, uint64_t samples,
			uint64_t interval)
{
	struct list_row *row;

	if (!report_filter__has(&l->report->processes, &l->chosen, p))
		return;
	l->samples += samples;
	row = list__row(l, p);
	if (!row) {
		l->others += samples;
		return;
	}
	row__fill(l, row, p);
	row->samples += samples;
	row->unknown += interval ? 0 : samples;
	row->seconds += (double)samples * (double)interval / NS_PER_S;
	l->differ |= l->interval_ns && interval && interval != l->interval_ns;
	l->interval_ns = l->interval_ns ? l->interval_ns : interval;
}

/* --- the index --- */

/* A line of the index: file number @file has it. */
static int list__line(void *arg, size_t file, const struct index_line *line)
{
	struct list *l = arg;

	l->indexed[file] = true;
	list__count(l, &line->process, line->samples, line->interval_ns);
	return 0;
}

static int list__indexes(struct list *l, struct errmsg *f)
{
	const struct report_index_span span = {
		.dir = l->report->dir,
		.files = l->in->files,
		.n = l->in->n,
		.take = list__line,
		.arg = l,
		.lost = "profiles without a line in it are read instead",
	};
	int err = report_filter__choose(l->report, l->in, &l->chosen, f);

	return err ? err : report_index__span(&span, f);
}

/* --- the other profiles --- */

static int list__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct profile_process process = *p;
	struct list *l = arg;

	process.uid = UID_NONE;
	list__count(l, &process, type__counts(s->type) ? sample__count(s) : 0,
		    l->seen.rates.reading->interval_ns);
	return 0;
}

static int list__profiles(struct list *l, struct errmsg *f)
{
	static const struct sink_ops ops = {.sample = list__sample};
	struct report_input in = {.text = l->in->text, .store = true};
	struct report r = *l->report;
	int err = 0;

	l->seen.rates.alike = true;
	/* they are chosen here */
	r.processes = (struct report_patterns){0};
	in.files = calloc(l->in->n, sizeof(*in.files));
	if (!in.files)
		return errmsg__set(f, -ENOMEM, "out of memory");
	for (size_t i = 0; i < l->in->n; i++)
		if (!l->indexed[i])
			in.files[in.n++] = l->in->files[i];
	if (in.n)
		err = report_read__all(&r, &in, false, (struct sink){.ops = &ops, .arg = l},
				       &l->seen, f);
	/* the index has nothing of an interval in which no process ran */
	if (l->seen.filled)
		log__line("%" PRIu64 " of %" PRIu64
			  " %s had no entry in the index and had to be read",
			  l->seen.filled, (uint64_t)l->in->n,
			  count__word(l->in->n, "profile", "profiles"));
	/* the reader has reported that they are damaged */
	if (err == -EINVAL)
		err = 0;
	free(l->seen.names);
	free(in.files);
	return err;
}

/* --- the table --- */

static int by_time(const void *a, const void *b)
{
	const struct list_row *x = *(struct list_row *const *)a;
	const struct list_row *y = *(struct list_row *const *)b;

	if (x->seconds < y->seconds || x->seconds > y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->key, y->key);
}

/*
 * Weigh samples by the time they stand for if intervals differ; otherwise rows are compared by the
 * number of samples.  An unknown interval counts as the first known one.
 */
static void list__weigh(struct list *l)
{
	uint64_t unknown = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct list_row *row = l->rows[i];

		unknown += row->unknown;
		row->seconds += (double)row->unknown * (double)l->interval_ns / NS_PER_S;
		if (l->differ)
			snprintf(row->cells[TIME], CELL, "%.2f s", row->seconds);
		else
			row->seconds = 0;
	}
	if (l->differ)
		log__line("the samples were taken at different rates: processes are sorted by the "
			  "time of their samples");
	if (l->differ && unknown)
		log__line("the index does not have the rate of %" PRIu64
			  " %s: one each %.1f ms is assumed",
			  unknown, count__word(unknown, "sample", "samples"),
			  (double)l->interval_ns / NS_PER_MS);
}

static void row__numbers(struct list_row *row)
{
	snprintf(row->cells[SAMPLES], CELL, "%" PRIu64, row->samples);
	snprintf(row->cells[PID], CELL, "%" PRIu32, row->pid);
	if (row->uid == UID_NONE)
		cell__set(row->cells[UID], NULL);
	else
		snprintf(row->cells[UID], CELL, "%" PRIu32, row->uid);
}

/* A column in which nothing is known is not shown: its width is 0. */
static unsigned int list__widths(const struct list *l, size_t n, int width[COLUMNS])
{
	unsigned int used = 0;

	for (int c = 0; c < COLUMNS; c++) {
		width[c] = 0;
		for (size_t i = 0; i < n; i++) {
			int len = (int)strlen(l->rows[i]->cells[c]);

			if (strcmp(l->rows[i]->cells[c], "-") != 0 && len > width[c])
				width[c] = len;
		}
		if (width[c] && width[c] < (int)strlen(titles[c]))
			width[c] = (int)strlen(titles[c]);
		used += width[c] ? (unsigned int)width[c] + 2 : 0;
	}
	return used;
}

static void list__print(struct list *l)
{
	size_t n = l->report->top && l->report->top < l->n ? l->report->top : l->n;
	unsigned int command;
	int width[COLUMNS];

	list__weigh(l);
	if (l->n)
		qsort(l->rows, l->n, sizeof(struct list_row *), by_time);
	for (size_t i = 0; i < n; i++)
		row__numbers(l->rows[i]);
	command = report_room(list__widths(l, n, width), COMMAND_MIN);
	printf("%s: %" PRIu64 " %s, %zu %s\n", l->in->text, l->samples,
	       count__word(l->samples, "sample", "samples"), l->n,
	       count__word(l->n, "process", "processes"));
	for (int c = 0; c < COLUMNS; c++)
		if (width[c])
			printf(c <= PID ? "%*s  " : "%-*s  ", width[c], titles[c]);
	printf("COMMAND\n");
	for (size_t i = 0; i < n; i++) {
		const struct list_row *row = l->rows[i];

		for (int c = 0; c < COLUMNS; c++)
			if (width[c])
				printf(c <= PID ? "%*s  " : "%-*s  ", width[c], row->cells[c]);
		report_label(row->command ? row->command : "-", command);
	}
	report_more(n, l->n);
}

int report_list(const struct report *r, struct errmsg *f)
{
	struct list l = {.report = r, .in = &r->inputs[0], .budget.max = r->max_memory};
	int err = 0;

	l.arena.budget = l.table.budget = &l.budget;
	l.indexed = calloc(l.in->n, sizeof(*l.indexed));
	if (!l.indexed)
		err = errmsg__set(f, -ENOMEM, "out of memory");
	if (!err)
		err = list__indexes(&l, f);
	if (!err)
		err = list__profiles(&l, f);
	if (!err && r->processes.n && !l.n)
		err = errmsg__set(f, -ESRCH, "no process matches --process");
	if (!err) {
		list__print(&l);
		if (l.others)
			log__line("memory is full: the processes of %" PRIu64
				  " %s are not shown (--max-memory)",
				  l.others, count__word(l.others, "sample", "samples"));
	}
	report_chosen__free(&l.chosen);
	table__free(&l.table);
	arena__free(&l.arena);
	free(l.rows);
	free(l.indexed);
	return err;
}
