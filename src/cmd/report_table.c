/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report` as a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "cmd/report.h"
#include "cmd/value_text.h"
#include "os/os.h"
#include "os/rights.h"

#define STDOUT	    1
#define LABEL_LEAST 12u /* columns of a name, at least */
/* The sink that adds up. */
struct adding {
	struct aggregate *aggregate;
	struct errmsg fault;
};

static int adding__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct adding *a = arg;

	(void)event;
	aggregate__know(a->aggregate, p);
	return 0;
}

static int adding__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct adding *a = arg;
	int err = aggregate__add(a->aggregate, p, s);

	if (err == -ENOSPC) {
		aggregate__drop(a->aggregate, p, s);
		err = 0;
	}
	return err ? errmsg__set(&a->fault, err, "out of memory") : 0;
}

static const struct errmsg *adding__why(void *arg)
{
	struct adding *a = arg;

	return &a->fault;
}

int report_profile(const struct report *r, const struct report_input *in, struct aggregate **out,
		   struct report_seen *seen, struct errmsg *f)
{
	static const struct sink_ops ops = {
		.process = adding__process,
		.sample = adding__sample,
		.why = adding__why,
	};
	const struct aggregate_config config = {.max = LIMIT_AGGREGATE(r->max_memory)};
	struct adding a = {0};
	int err;

	err = aggregate__new(&a.aggregate, &config);
	*out = seen->rates.adding = a.aggregate;
	if (err)
		return errmsg__set(f, err, "out of memory");
	err = report_read__all(r, in, false, (struct sink){.ops = &ops, .arg = &a}, seen, f);
	free(seen->names);
	seen->names = NULL;
	if (!err && aggregate__dropped(a.aggregate))
		log__line("memory is full: the stacks of %" PRIu64
			  " samples are shown as <no-room> (--max-memory)",
			  aggregate__dropped(a.aggregate));
	return err;
}

void report_head(FILE *out, const char *what, const char *files, const struct report_seen *seen,
		 uint32_t type, size_t processes)
{
	const struct profile_type of = about__type(&seen->types->about, type);
	char others[REPORT_TYPES_LEN], value[VALUE_TEXT];
	struct errmsg line; /* names are of strangers */

	errmsg__set(&line, 0, "%s%.300s", what, files);
	value__text(value, of.unit, seen->values[type]);
	if (type && of.unit == PROFILE_COUNT)
		fprintf(out, "%s: %s %s", line.text, value, of.name);
	else if (type)
		fprintf(out, "%s: %s, %s", line.text, of.name, value);
	else
		fprintf(out, "%s: %s samples", line.text, value);
	if (!type && seen->seconds > 0)
		fprintf(out, ", %.2f s", seen->seconds);
	if (processes > 1)
		fprintf(out, ", %zu processes", processes);
	report_types__others(seen, type, others);
	if (*others)
		fprintf(out, "; also: %s (--sample-type NAME)", others);
	fprintf(out, "\n");
}

/* Characters of @text, and where the one is that @skip others are before. */
static size_t text__columns(const char *text, size_t skip, const char **at)
{
	size_t n = 0, len;

	*at = text;
	for (; *text; text += len ? len : 1, n++) {
		len = utf8__length(text);
		if (n == skip)
			*at = text;
	}
	return n;
}

void report_label(FILE *out, const char *label, unsigned int columns)
{
	static const char dots[] = "...";
	const char *cut, *rest;
	size_t n = text__columns(label, 0, &cut), keep, begin;

	if (!columns || n <= columns) {
		fprintf(out, "%s\n", label);
		return;
	}
	keep = columns - strlen(dots);
	begin = keep / 2;
	text__columns(label, begin, &cut);
	text__columns(label, n - (keep - begin), &rest);
	fprintf(out, "%.*s%s%s\n", (int)(cut - label), label, dots, rest);
}

static int by_self(const void *a, const void *b)
{
	const struct report_row *x = *(struct report_row *const *)a;
	const struct report_row *y = *(struct report_row *const *)b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->label, y->label);
}

static int by_total(const void *a, const void *b)
{
	const struct report_row *x = *(struct report_row *const *)a;
	const struct report_row *y = *(struct report_row *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return by_self(a, b);
}

static const char *const titles[] = {
	[REPORT_FUNCTIONS] = "FUNCTION",
	[REPORT_LINES] = "FUNCTION (FILE:LINE)",
	[REPORT_PACKAGES] = "PACKAGE",
};

/* Columns of numbers up to @n: a part of it may be longer in a smaller unit. */
static int number__width(uint64_t n, enum profile_unit unit, const char *title)
{
	int len, least = (int)strlen(title);
	char cell[VALUE_TEXT];

	value__text(cell, unit, n);
	len = (int)strlen(cell);
	if (unit == PROFILE_NANOSECONDS || unit == PROFILE_BYTES)
		least = VALUE_WIDTH;
	return len > least ? len : least;
}

static void row__print(const struct report_row *row, enum profile_unit unit, int self, int total,
		       double all)
{
	char own[VALUE_TEXT], whole[VALUE_TEXT];

	value__text(own, unit, row->self);
	value__text(whole, unit, row->total);
	printf("%*s  %6.1f  %*s  %6.1f  ", self, own, (double)row->self / all, total, whole,
	       (double)row->total / all);
}

static void table__print(const struct report *r, const struct report_rows *rows,
			 enum profile_unit unit)
{
	unsigned int columns = os__columns(STDOUT), used, label;
	size_t n = r->top && r->top < rows->n ? r->top : rows->n;
	double all = rows->samples ? (double)rows->samples / 100 : 1;
	int self = number__width(rows->samples, unit, "SELF");
	int total = number__width(rows->samples, unit, "TOTAL");
	bool narrow;

	used = (unsigned int)(self + total) + 18;
	/* shares alone, where there is no room for both */
	narrow = columns && columns < used + LABEL_LEAST;
	if (narrow)
		used = 16;
	label = !columns ? 0 : columns < used + LABEL_LEAST ? LABEL_LEAST : columns - used;
	if (narrow)
		printf("%6s  %6s  %s\n", "SELF%", "TOTAL%", titles[report__by(r)]);
	else
		printf("%*s  %6s  %*s  %6s  %s\n", self, "SELF", "%", total, "TOTAL", "%",
		       titles[report__by(r)]);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = rows->rows[i];

		if (narrow)
			printf("%6.1f  %6.1f  ", (double)row->self / all, (double)row->total / all);
		else
			row__print(row, unit, self, total, all);
		report_label(stdout, row->label, label);
	}
	if (n < rows->n)
		printf("and %zu more (--top 0 prints all)\n", rows->n - n);
}

int report_table(const struct report *r)
{
	struct report_rows rows = {0};
	struct read_types types = {0};
	struct report_seen seen = {.types = &types};
	struct aggregate *a = NULL;
	struct errmsg f = {""};
	size_t processes;
	uint32_t type = 0;
	int err;

	rights__keep(RIGHTS_FILES);
	err = report_profile(r, &r->inputs[0], &a, &seen, &f);
	if (!err)
		err = report_types__choose(r, &types, seen.values, &type, &f);
	if (!err && report_rows__make(&rows, a, r, type))
		err = errmsg__set(&f, -ENOMEM, "out of memory");
	if (!err) {
		aggregate__processes(a, &processes);
		report_head(stdout, "", r->inputs[0].text, &seen, type, processes);
		if (rows.n)
			qsort(rows.rows, rows.n, sizeof(*rows.rows),
			      r->sort == REPORT_TOTAL ? by_total : by_self);
		table__print(r, &rows,
			     !type && seen.rates.differ ? PROFILE_NANOSECONDS
							: about__type(&types.about, type).unit);
	}
	report_rows__free(&rows);
	aggregate__free(a);
	if (err == -EDOM)
		return cmd__usage_error(&cmd_report, &f);
	if (err)
		log__line("%s", f.text);
	return err ? CMD_FAILED : CMD_OK;
}
