/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --diff`: what changed from one profile to another, in shares of each. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/report.h"
#include "os/os.h"
#include "os/rights.h"

#define STDOUT	    1
#define USED	    44u /* columns before the name */
#define LABEL_LEAST 12u

/* A row of either or both: shares in percent. */
struct change {
	double self[2], total[2];
	const char *label;
};

/* The two have their sample types in common: each has one number. */
struct both {
	struct read_types types;
	uint32_t type; /* that is compared */
};

struct side {
	struct aggregate *aggregate;
	struct report_rows rows;
	struct report_seen seen;
};

static double share(uint64_t value, const struct side *of)
{
	return of->rows.samples ? 100 * (double)value / (double)of->rows.samples : 0;
}

static void change__take(struct change *c, const struct side *sides, int i,
			 const struct report_row *row)
{
	if (!row)
		return;
	c->label = row->label;
	c->self[i] = share(row->self, &sides[i]);
	c->total[i] = share(row->total, &sides[i]);
}

static double self__delta(const struct change *c)
{
	return c->self[1] - c->self[0];
}

static double total__delta(const struct change *c)
{
	return c->total[1] - c->total[0];
}

static int compare(double a, double b)
{
	return (fabs(a) < fabs(b)) - (fabs(a) > fabs(b));
}

static int by_self(const void *a, const void *b)
{
	int order = compare(self__delta(a), self__delta(b));

	if (!order)
		order = compare(total__delta(a), total__delta(b));
	return order ? order
		     : strcmp(((const struct change *)a)->label, ((const struct change *)b)->label);
}

static int by_total(const void *a, const void *b)
{
	int order = compare(total__delta(a), total__delta(b));

	return order ? order : by_self(a, b);
}

static void changes__print(const struct report *r, const struct change *changes, size_t n)
{
	unsigned int columns = os__columns(STDOUT), label;
	size_t rows = r->top && r->top < n ? r->top : n;

	label = !columns ? 0 : columns < USED + LABEL_LEAST ? LABEL_LEAST : columns - USED;
	printf("%6s %6s %6s  %6s %6s %6s  %s\n", "SELF%", "NOW", "CHANGE", "TOTAL%", "NOW",
	       "CHANGE",
	       r->packages ? "PACKAGE"
	       : r->lines  ? "FUNCTION (FILE:LINE)"
			   : "FUNCTION");
	for (size_t i = 0; i < rows; i++) {
		const struct change *c = &changes[i];

		printf("%6.1f %6.1f %+6.1f  %6.1f %6.1f %+6.1f  ", c->self[0], c->self[1],
		       self__delta(c), c->total[0], c->total[1], total__delta(c));
		report_label(stdout, c->label, label);
	}
	if (rows < n)
		printf("and %zu more (--top 0 prints all)\n", n - rows);
}

/* The rows of both sides, each once: into @out, to be freed; how many, or -ENOMEM. */
static long changes__make(const struct side *sides, struct change **out)
{
	size_t n = 0, most = sides[0].rows.n + sides[1].rows.n;
	struct change *changes = calloc(most ? most : 1, sizeof(*changes));

	*out = changes;
	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < sides[0].rows.n; i++) {
		const struct report_row *row = sides[0].rows.rows[i];

		change__take(&changes[n], sides, 0, row);
		change__take(&changes[n++], sides, 1, report_rows__find(&sides[1].rows, row));
	}
	for (size_t i = 0; i < sides[1].rows.n; i++)
		if (!report_rows__find(&sides[0].rows, sides[1].rows.rows[i]))
			change__take(&changes[n++], sides, 1, sides[1].rows.rows[i]);
	return (long)n;
}

static int report_diff__print(const struct report *r, const struct both *both,
			      const struct side *sides)
{
	struct change *changes;
	long n = changes__make(sides, &changes);
	size_t processes;

	for (int i = 0; i < 2 && n >= 0; i++) {
		aggregate__processes(sides[i].aggregate, &processes);
		report_head(stdout, i ? "after:  " : "before: ", r->inputs[i].text, &sides[i].seen,
			    both->type, processes);
	}
	if (n > 0)
		qsort(changes, (size_t)n, sizeof(*changes),
		      r->sort == REPORT_TOTAL ? by_total : by_self);
	if (n >= 0) {
		if (sides[0].rows.samples != sides[1].rows.samples)
			printf("Shares of each, because the lengths differ; changes in percentage "
			       "points.\n");
		changes__print(r, changes, (size_t)n);
	}
	free(changes);
	return n < 0 ? (int)n : 0;
}

static int report_diff__make(const struct report *r, struct both *both, struct side *sides,
			     struct files *files, struct errmsg *f)
{
	struct aggregate *const aggregates[] = {sides[0].aggregate, sides[1].aggregate};
	int err;

	if (files && r->sample_type)
		report_types__only(&both->types.about, both->type);
	for (int i = 0; files && i < 2; i++)
		report_rates__ticks(&sides[i].seen.rates, sides[i].aggregate);
	if (files)
		return report_page(r, files, &both->types.about, aggregates, f);
	err = report_diff__print(r, both, sides);
	if (err)
		errmsg__set(f, err, "cannot print the table: %s", os__reason(err));
	return err;
}

/* Which sample type is compared: by what there is on both sides. */
static int report_diff__choose(const struct report *r, struct both *both, const struct side *sides,
			       struct errmsg *f)
{
	uint64_t values[PROFILE_TYPES_MAX];

	for (size_t i = 0; i < PROFILE_TYPES_MAX; i++)
		values[i] = sides[0].seen.values[i] + sides[1].seen.values[i];
	return report_types__choose(r, &both->types, values, &both->type, f);
}

int report_diff(const struct report *r)
{
	struct both both = {0};
	struct side sides[2] = {{.seen.types = &both.types}, {.seen.types = &both.types}};
	struct files *files = NULL;
	struct errmsg f = {""};
	int err = 0;

	if (r->format)
		err = files__start(&files, files__given(r->output ? r->output : "-"), &f);
	rights__keep(RIGHTS_FILES);
	for (int i = 0; i < 2 && !err; i++)
		err = report_profile(r, &r->inputs[i], &sides[i].aggregate, &sides[i].seen, &f);
	if (!err)
		err = report_diff__choose(r, &both, sides, &f);
	for (int i = 0; i < 2 && !err; i++)
		if (report_rows__make(&sides[i].rows, sides[i].aggregate, r, both.type))
			err = errmsg__set(&f, -ENOMEM, "out of memory");
	if (!err)
		err = report_diff__make(r, &both, sides, files, &f);
	if (err && err != -EDOM)
		log__line("%s", f.text);
	for (int i = 0; i < 2; i++) {
		report_rows__free(&sides[i].rows);
		aggregate__free(sides[i].aggregate);
	}
	if (files)
		files__stop(files);
	if (err == -EDOM)
		return cmd__usage_error(&cmd_report, &f);
	return err ? CMD_FAILED : CMD_OK;
}
