/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --by KEY`: the shares of the values of a label, or of an attribute of processes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/report.h"
#include "cmd/value_text.h"
#include "output/encode.h"
#include "profile/attributes.h"

#define NUMBER_LEN 24u /* bytes of a number's text */

/* A value of the label. */
struct by_row {
	const char *value; /* NULL: samples without it */
	uint64_t samples, sum;
};

struct by {
	const struct report *report;
	struct read_types types;
	struct report_sum sum;
	struct intern values;
	struct map known; /* (address of a value, 0) to the number of its row, from 1 on */
	struct by_row *rows;
	size_t n, cap;
	uint64_t total;
	struct profile_type type; /* that is shown */
	double each; /* seconds of a unit; 0: the type has none, or they are not known */
};

/* What @row has of the key: a text, or a number, written to @number; NULL: nothing. */
static const char *by__value(const struct by *by, const struct aggregate_row *row,
			     char number[NUMBER_LEN])
{
	const char *key = by->report->by, *text;
	const struct attribute *a = attribute__by_pprof(key, strlen(key));
	struct attribute_value value = {NULL, 0};
	const struct profile_process *p = aggregate__process(by->sum.aggregate, row->process);

	text = a ? NULL : aggregate__label(by->sum.aggregate, row, key);
	if (text)
		return text;
	if (a && !row__value(a, &by->types.about, row, &value)) {
		value.text = attribute__text(a, p);
		value.number = attribute__number(a, p);
	}
	if (value.text || !value.number)
		return value.text;
	snprintf(number, NUMBER_LEN, "%" PRIu64, value.number);
	return number;
}

/* The row of @value, added if it is new; NULL: out of memory. */
static struct by_row *by__row(struct by *by, const char *value)
{
	const struct name *name =
		intern__get(&by->values, value ? value : "", value ? strlen(value) : 0);
	const uint64_t key = value ? (uintptr_t)name : 0;
	size_t n = name ? map__number(&by->known, key, 1) : 0;

	if (n)
		return &by->rows[n - 1];
	if (!name || array__room(&by->rows, by->n, &by->cap, sizeof(*by->rows)) ||
	    map__put_number(&by->known, key, 1, by->n + 1))
		return NULL;
	by->rows[by->n] = (struct by_row){.value = value ? name->text : NULL};
	return &by->rows[by->n++];
}

static int by__add_up(struct by *by, uint32_t type)
{
	size_t n;
	const struct aggregate_row *rows = aggregate__rows(by->sum.aggregate, &n);
	char number[NUMBER_LEN];

	for (size_t i = 0; i < n; i++) {
		struct by_row *row;

		if (rows[i].type != type)
			continue;
		row = by__row(by, by__value(by, &rows[i], number));
		if (!row)
			return -ENOMEM;
		row->samples += row__samples(&rows[i]);
		row->sum += rows[i].value;
		by->total += rows[i].value;
	}
	return 0;
}

/* The largest first. */
static int by_row__compare(const void *a, const void *b)
{
	const struct by_row *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return strcmp(x->value ? x->value : "", y->value ? y->value : "");
}

static int by__json(const struct by *by, size_t shown)
{
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__u64(&j, "schema", REPORT_SCHEMA);
	json__str(&j, "by", by->report->by);
	json__str(&j, "type", by->type.name ? by->type.name : "cpu");
	json__str(&j, "unit", report_unit(by->type.unit));
	json__array(&j, "rows");
	for (size_t i = 0; i < shown; i++) {
		json__object(&j, NULL);
		json__str(&j, "value", by->rows[i].value);
		json__u64(&j, "samples", by->rows[i].samples);
		json__double(&j, "seconds", (double)by->rows[i].sum * by->each);
		json__u64(&j, "sum", by->rows[i].sum);
		json__close(&j);
	}
	json__close(&j);
	json__close(&j);
	return json__print(&j, stdout);
}

static int by__table(const struct by *by, size_t shown)
{
	static const char *const titles[] = {
		[PROFILE_TICKS] = "SECONDS",
		[PROFILE_NANOSECONDS] = "SECONDS",
		[PROFILE_BYTES] = "BYTES",
		[PROFILE_COUNT] = "EVENTS",
	};
	char sum[VALUE_TEXT];
	struct buf text = {0};
	int err = 0;

	printf("%10s  %10s  %6s  %s\n", "SAMPLES", titles[by->type.unit], "%", by->report->by);
	for (size_t i = 0; i < shown && !err; i++) {
		const struct by_row *row = &by->rows[i];

		text.len = 0;
		err = buf__str(&text, row->value ? "" : "(none)");
		if (!err && row->value)
			err = escape__text(&text, row->value, "", LIMIT_NAME) < 0 ? -ENOMEM : 0;
		if (!err)
			err = buf__add(&text, "", 1);
		if (by->each > 0)
			snprintf(sum, sizeof(sum), "%.2f", (double)row->sum * by->each);
		else if (by->type.unit == PROFILE_TICKS)
			snprintf(sum, sizeof(sum), "-");
		else
			value__text(sum, by->type.unit, row->sum);
		printf("%10" PRIu64 "  %10s  %6.1f  ", row->samples, sum,
		       100 * (double)row->sum / (double)(by->total ? by->total : 1));
		report_label(text.data ? text.data : "", report_room(32, 12));
	}
	report_more(shown, by->n);
	buf__free(&text);
	return err;
}

static int by__show(struct by *by, uint32_t type, struct errmsg *f)
{
	const uint32_t top = by->report->top;
	const size_t shown = top && top < by->n ? top : by->n;
	int err;

	by->type = about__type(&by->types.about, type);
	if (!type)
		by->each = by->total ? by->sum.seen.seconds / (double)by->total : 0;
	else if (by->type.unit == PROFILE_NANOSECONDS)
		by->each = 1e-9;
	if (by->n == 1 && !by->rows->value)
		log__line("none of these samples has a label %s", by->report->by);
	qsort(by->rows, by->n, sizeof(*by->rows), by_row__compare);
	err = by->report->json ? by__json(by, shown) : by__table(by, shown);
	return err ? errmsg__set(f, err, "out of memory") : 0;
}

int report_by(const struct report *r, struct errmsg *f)
{
	const struct aggregate_config config = {
		.labels = XR_F_WAIT,
		.threads = true,
		.details = true,
		.given = true,
		.sets = UINT32_MAX, /* as many as there is memory for */
	};
	struct by by = {.report = r};
	uint32_t type;
	int err = report_read__sum(r, &r->inputs[0], &config, &by.types, &by.sum, f);

	if (!err)
		report_no_room(aggregate__dropped(by.sum.aggregate));
	if (!err)
		err = report_types__choose(r, &by.types, by.sum.seen.values, &type, f);
	if (!err)
		report_rates__ticks(&by.sum.seen.rates, by.sum.aggregate);
	if (!err && by__add_up(&by, type))
		err = errmsg__set(f, -ENOMEM, "out of memory");
	if (!err)
		err = by__show(&by, type, f);
	free(by.rows);
	map__free(&by.known);
	intern__free(&by.values);
	aggregate__free(by.sum.aggregate);
	return err == -EDOM ? -ENOENT : err;
}
