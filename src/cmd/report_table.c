/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report` as a table, of one profile, or of what changed from one to another. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cmd/report.h"
#include "cmd/value_text.h"
#include "os/os.h"
#include "profile/function_table.h"

#define STDOUT	    1
#define LABEL_LEAST 12u /* columns of a name, at least */

/* What is shown: with --diff two sides, which have their sample types in common. */
struct showing {
	const struct report *report;
	struct read_types types;
	uint32_t type;
	int n; /* sides */
	struct report_sum sides[2];
	struct function_table table;
	struct function_line *lines; /* a line for each row of the table */
};

/* Processes with samples: the files may have others, whose samples were not asked for. */
static size_t side__processes(const struct report_sum *side)
{
	size_t nrows, n, found = 0;
	const struct aggregate_row *rows = aggregate__rows(side->aggregate, &nrows);
	bool *seen;

	aggregate__processes(side->aggregate, &n);
	seen = calloc(n + 1, sizeof(*seen));
	for (size_t i = 0; seen && i < nrows; i++) {
		found += !seen[rows[i].process];
		seen[rows[i].process] = true;
	}
	free(seen);
	return found;
}

/* What a side is of, and which other sample types there are. */
static void side__head(const struct showing *s, int i, const char *what)
{
	const struct profile_type of = about__type(&s->types.about, s->type);
	const struct report_seen *seen = &s->sides[i].seen;
	char others[REPORT_TYPES_LEN], value[VALUE_TEXT];
	struct errmsg line; /* the files' names may be hostile */
	size_t processes;

	errmsg__set(&line, 0, "%s%.300s", what, s->report->inputs[i].text);
	value__text(value, of.unit, seen->values[s->type]);
	if (s->type && of.unit == PROFILE_COUNT)
		printf("%s: %s %s", line.text, value, of.name);
	else if (s->type)
		printf("%s: %s, %s", line.text, of.name, value);
	else
		printf("%s: %s %s", line.text, value,
		       count__word(seen->values[s->type], "sample", "samples"));
	if (!s->type && seen->seconds > 0)
		printf(", %.2f s", seen->seconds);
	processes = side__processes(&s->sides[i]);
	if (processes > 1)
		printf(", %zu processes", processes);
	report_types__others(seen, s->type, others);
	if (*others)
		printf("; also: %s (--sample-type NAME)", others);
	printf("\n");
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

void report_label(const char *label, unsigned int columns)
{
	static const char dots[] = "...";
	const char *cut, *rest;
	size_t n = text__columns(label, 0, &cut), keep, begin;

	if (!columns || n <= columns) {
		printf("%s\n", label);
		return;
	}
	keep = columns - strlen(dots);
	begin = keep / 2;
	text__columns(label, begin, &cut);
	text__columns(label, n - (keep - begin), &rest);
	printf("%.*s%s%s\n", (int)(cut - label), label, dots, rest);
}

unsigned int report_room(unsigned int used, unsigned int least)
{
	unsigned int columns = os__columns(STDOUT);

	return !columns ? 0 : columns < used + least ? least : columns - used;
}

void report_more(size_t shown, size_t all)
{
	if (shown < all)
		printf("and %zu more (--top 0 prints all)\n", all - shown);
}

/* In percent of the side. */
static double share(const struct showing *s, uint64_t value, int side)
{
	return s->table.samples[side] ? 100 * (double)value / (double)s->table.samples[side] : 0;
}

static double change(const struct showing *s, const uint64_t values[2])
{
	return share(s, values[1], 1) - share(s, values[0], 0);
}

/* By self or total; of two sides the largest changes are first. */
static int showing__sort(struct showing *s)
{
	const int by_total = s->report->sort == REPORT_TOTAL;

	s->lines = calloc(s->table.n + 1, sizeof(*s->lines));
	if (!s->lines)
		return -ENOMEM;
	for (size_t i = 0; i < s->table.n; i++) {
		const struct function_row *row = &s->table.rows[i];
		struct function_line *line = &s->lines[i];

		line->label = row->label;
		line->row = (uint32_t)i;
		line->key[by_total] = s->n > 1 ? fabs(change(s, row->self)) : (double)row->self[0];
		line->key[!by_total] =
			s->n > 1 ? fabs(change(s, row->total)) : (double)row->total[0];
	}
	qsort(s->lines, s->table.n, sizeof(*s->lines), function_line__compare);
	return 0;
}

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

/* The columns of numbers.  A narrow terminal shows shares alone. */
struct widths {
	enum profile_unit unit;
	int self, total; /* 0: not shown */
};

static enum profile_unit showing__unit(const struct showing *s)
{
	if (!s->type && s->sides[0].seen.rates.differ)
		return PROFILE_NANOSECONDS;
	return about__type(&s->types.about, s->type).unit;
}

static struct widths showing__widths(const struct showing *s, unsigned int *used)
{
	const unsigned int columns = os__columns(STDOUT);
	struct widths w = {.unit = showing__unit(s)};

	w.self = number__width(s->table.samples[0], w.unit, "SELF");
	w.total = number__width(s->table.samples[0], w.unit, "TOTAL");
	*used = (unsigned int)(w.self + w.total) + 20;
	if (columns && columns < *used + LABEL_LEAST) {
		w.self = w.total = 0;
		*used = 16;
	}
	return w;
}

static void row__print(const struct showing *s, const struct function_row *row,
		       const struct widths *w)
{
	const double self = share(s, row->self[0], 0), total = share(s, row->total[0], 0);
	char own[VALUE_TEXT], whole[VALUE_TEXT];

	value__text(own, w->unit, row->self[0]);
	value__text(whole, w->unit, row->total[0]);
	if (s->n > 1)
		printf("%6.1f %6.1f %+6.1f  %6.1f %6.1f %+6.1f  ", self, share(s, row->self[1], 1),
		       change(s, row->self), total, share(s, row->total[1], 1),
		       change(s, row->total));
	else if (w->self)
		printf("%*s  %6.1f  %*s  %6.1f  ", w->self, own, self, w->total, whole, total);
	else
		printf("%6.1f  %6.1f  ", self, total);
}

static void showing__print(struct showing *s)
{
	static const char *const titles[] = {
		[BY_FUNCTIONS] = "FUNCTION",
		[BY_LINES] = "FUNCTION (FILE:LINE)",
		[BY_PACKAGES] = "PACKAGE",
	};
	const uint32_t top = s->report->top;
	const size_t n = top && top < s->table.n ? top : s->table.n;
	unsigned int used = 44;
	struct widths w = {0};

	if (s->n > 1 && s->table.samples[0] != s->table.samples[1])
		printf("Shares of each, because the lengths differ; changes in percentage "
		       "points.\n");
	if (s->n > 1) {
		printf("%6s %6s %6s  %6s %6s %6s", "SELF%", "NOW", "CHANGE", "TOTAL%", "NOW",
		       "CHANGE");
	} else {
		w = showing__widths(s, &used);
		if (w.self)
			printf("%*s  %6s  %*s  %6s", w.self, "SELF", "%", w.total, "TOTAL", "%");
		else
			printf("%6s  %6s", "SELF%", "TOTAL%");
	}
	printf("  %s\n", titles[s->table.by]);
	used = report_room(used, LABEL_LEAST);
	for (size_t i = 0; i < n; i++) {
		row__print(s, &s->table.rows[s->lines[i].row], &w);
		report_label(s->lines[i].label, used);
	}
	report_more(n, s->table.n);
}

static void sums__json(struct json *j, const struct function_row *row, int side)
{
	json__u64(j, "self", row->self[side]);
	json__u64(j, "total", row->total[side]);
}

static void row__json(struct json *j, const struct function_row *row, int sides)
{
	static const char *const keys[] = {"before", "after"};

	json__object(j, NULL);
	json__str(j, "name", row->label);
	for (int i = 0; i < sides && sides > 1; i++) {
		json__object(j, keys[i]);
		sums__json(j, row, i);
		json__close(j);
	}
	if (sides == 1)
		sums__json(j, row, 0);
	json__close(j);
}

static int showing__json(const struct showing *s, struct errmsg *f)
{
	static const char *const by[] = {
		[BY_FUNCTIONS] = "function",
		[BY_LINES] = "line",
		[BY_PACKAGES] = "package",
	};
	const struct profile_type type = about__type(&s->types.about, s->type);
	const uint32_t top = s->report->top;
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__u64(&j, "schema", REPORT_SCHEMA);
	json__str(&j, "by", by[s->table.by]);
	json__str(&j, "type", type.name ? type.name : "cpu");
	json__str(&j, "unit", report_unit(showing__unit(s)));
	json__array(&j, "profiles");
	for (int i = 0; i < s->n; i++) {
		json__object(&j, NULL);
		json__str(&j, "files", s->report->inputs[i].text);
		json__u64(&j, "total", s->table.samples[i]);
		if (!s->type && s->sides[i].seen.seconds > 0)
			json__double(&j, "seconds", s->sides[i].seen.seconds);
		json__close(&j);
	}
	json__close(&j);
	json__array(&j, "rows");
	for (size_t i = 0; i < s->table.n && (!top || i < top); i++)
		row__json(&j, &s->table.rows[s->lines[i].row], s->n);
	json__close(&j);
	json__close(&j);
	return report_json(&j, f);
}

static int showing__page(struct showing *s, struct files *files, struct errmsg *f)
{
	struct aggregate *const aggregates[] = {s->sides[0].aggregate, s->sides[1].aggregate};

	if (s->report->sample_type)
		report_types__only(&s->types.about, s->type);
	for (int i = 0; i < s->n; i++)
		report_rates__ticks(&s->sides[i].seen.rates, s->sides[i].aggregate);
	return report_page(s->report, files, &s->types.about, aggregates, f);
}

static int showing__table(struct showing *s, struct errmsg *f)
{
	static const char *const what[] = {"before: ", "after:  "};
	const struct report *r = s->report;
	int err = 0;

	s->table.by = r->packages ? BY_PACKAGES : r->lines ? BY_LINES : BY_FUNCTIONS;
	for (int i = 0; i < s->n && !err; i++)
		err = function_table__add(&s->table, s->sides[i].aggregate, s->type, i,
					  r->recursion && r->lines);
	err = err ? err : showing__sort(s);
	if (err)
		return errmsg__set(f, err, "out of memory");
	if (r->json)
		return showing__json(s, f);
	for (int i = 0; i < s->n; i++)
		side__head(s, i, s->n > 1 ? what[i] : "");
	showing__print(s);
	return 0;
}

int report_table(const struct report *r, struct files *files, struct errmsg *f)
{
	static const struct aggregate_config config;
	struct showing s = {.report = r, .n = r->diff ? 2 : 1};
	uint64_t values[PROFILE_TYPES_MAX] = {0};
	int err = 0;

	for (int i = 0; i < s.n && !err; i++) {
		err = report_read__sum(r, &r->inputs[i], &config, &s.types, &s.sides[i], f);
		if (!err)
			report_no_room(aggregate__dropped(s.sides[i].aggregate));
		for (size_t k = 0; k < PROFILE_TYPES_MAX; k++)
			values[k] += s.sides[i].seen.values[k];
	}
	/* both sides in one unit */
	for (int i = 0; i < s.n && !err; i++)
		if (s.sides[!i].seen.rates.differ)
			err = report_rates__time(&s.sides[i].seen.rates, f);
	if (!err)
		err = report_types__choose(r, &s.types, values, &s.type, f);
	if (!err)
		err = files ? showing__page(&s, files, f) : showing__table(&s, f);
	function_table__free(&s.table);
	free(s.lines);
	for (int i = 0; i < s.n; i++)
		aggregate__free(s.sides[i].aggregate);
	return err;
}
