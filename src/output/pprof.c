/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof's format (profile/pprof.proto), for `go tool pprof` and the services that take it.
 *
 * Sample types: how many samples; the time they stand for, "cpu" or "wall" as the clock was, in
 * nanoseconds, the period being that of one sample, unless no rate is known (a file of folded
 * stacks); and those that the profile has besides, "off_cpu" in nanoseconds, "alloc_space" in
 * bytes, and events.  A sample has a value of the first and of one other.
 *
 * A function is what frame__label() calls it, its system_name is R's own name, and its file and
 * first line are those of its definition, if they are known, or else the file being executed in it.
 * All of R is one mapping; native code has that of its module.  Labels: the attributes of
 * profile/attributes.h, the labels of the process, such as its service, and those of the run.
 * Comments: the command, and how the profile was made.
 *
 * The file is written one message after another (pprof.proto says why that may be): strings,
 * functions and locations right before the first sample that uses them.  What is kept meanwhile is
 * a number for each frame, function and name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/version.h"
#include "layout.h"
#include "output/pprof_parts.h"

#define PPROF_GIVEN_KEYS 32u /* as many as a reader keeps */

static int pprof__row(struct pprof *p, const struct aggregate_row *row)
{
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	int64_t values[1 + PROFILE_TYPES_MAX] = {(int64_t)row__samples(row)};
	const uint32_t place = p->places[row->type];
	struct pprof_row_labels labels;
	int err;

	if (place)
		values[place] = (int64_t)(row->value * about__each(&p->config->about, row->type));
	err = pprof__stack(p, row->stack, &sample.n_location_id);
	if (!err)
		err = pprof__labels(p, row, &labels);
	if (err)
		return err;
	sample.location_id = p->ids;
	sample.n_value = p->nvalues;
	sample.value = values;
	sample.n_label = labels.n;
	sample.label = labels.all;
	return pprof__element(p, PPROF_SAMPLE, &sample.base);
}

/* A line of the profile's comments; @value NULL: none. */
static int pprof__comment(struct pprof *p, const char *what, const char *value)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int64_t string;
	int err;

	if (!value || !*value)
		return 0;
	p->text.len = 0;
	err = buf__printf(&p->text, "%s: ", what);
	if (!err)
		err = escape__text(&p->text, value, "", LIMIT_NAME) < 0 ? -ENOMEM : 0;
	if (!err)
		err = pprof__string(p, p->text.data, p->text.len, &string);
	if (err)
		return err;
	part.n_comment = 1;
	part.comment = &string;
	return pprof__put(p, &part);
}

/* The keys of labels that R programs gave, as many as a reader keeps. */
static int pprof__given_keys(struct pprof *p)
{
	const char *keys[PPROF_GIVEN_KEYS];
	size_t n, nkeys = 0;
	const struct aggregate_row *rows = aggregate__rows(p->aggregate, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct profile_given *given = rows[i].given;

		if (!part__wants(p->config->part,
				 aggregate__process(p->aggregate, rows[i].process)))
			continue;
		for (size_t k = 0; given && k < given->n && !err; k++) {
			size_t at = 0;

			/* equal texts are at the same address */
			while (at < nkeys && keys[at] != given->labels[k].key)
				at++;
			if (at < nkeys || nkeys == PPROF_GIVEN_KEYS)
				continue;
			keys[nkeys++] = given->labels[k].key;
			err = pprof__comment(p, PPROF_GIVEN, given->labels[k].key);
		}
	}
	return err;
}

/* The comments about the whole; @stats may be NULL. */
static int pprof__comments(struct pprof *p, const struct profile_about *about,
			   const struct stats *stats)
{
	size_t n;
	const struct profile_process *process = aggregate__processes(p->aggregate, &n);
	const char *version = NULL;
	char counts[160] = "";
	bool differ = false;
	int err;

	for (size_t i = 0; i < n; i++) {
		const char *is = process[i].r_version ? process[i].r_version : "";

		if (!part__wants(p->config->part, &process[i]))
			continue;
		differ = differ || (version && strcmp(is, version) != 0);
		version = is;
	}
	if (differ)
		version = NULL;
	if (stats)
		snprintf(counts, sizeof(counts),
			 "%" PRIu64 " taken, %" PRIu64 " lost, %" PRIu64 " truncated, %" PRIu64
			 " unreadable",
			 stats->written, stats->lost, stats->truncated, stats->unreadable);
	err = pprof__comment(p, "made by", XR_PROGRAM " " XR_VERSION);
	err = err ? err : pprof__comment(p, "command", about->command);
	err = err ? err : pprof__comment(p, "host", about->host);
	err = err ? err : pprof__comment(p, "R", version);
	err = err ? err : pprof__comment(p, "engine", about->engine);
	err = err ? err : pprof__comment(p, "clock", about->clock);
	err = err ? err : pprof__comment(p, "event", about->event);
	err = err ? err : pprof__comment(p, "series", p->config->series);
	err = err ? err : pprof__given_keys(p);
	return err ? err : pprof__comment(p, "samples", counts);
}

/* The sample types: how many samples, and what each counts.  *@all: the messages for them. */
static int pprof__types(struct pprof *p, Pprof__ValueType all[1 + PROFILE_TYPES_MAX])
{
	static const char *const units[] = {"nanoseconds", "nanoseconds", "bytes", "count"};
	const struct profile_about *about = &p->config->about;
	int err;

	pprof__value_type__init(&all[0]);
	err = pprof__text(p, "", &all[0].type); /* string 0 */
	err = err ? err : pprof__text(p, "samples", &all[0].type);
	err = err ? err : pprof__text(p, "count", &all[0].unit);
	p->nvalues = 1;
	for (uint32_t i = 0; i < PROFILE_TYPES_MAX && !err; i++) {
		const struct profile_type type = about__type(about, i);

		if (!type.name || !about__each(about, i))
			continue;
		p->places[i] = p->nvalues;
		pprof__value_type__init(&all[p->nvalues]);
		err = pprof__text(p, type.name, &all[p->nvalues].type);
		err = err ? err : pprof__text(p, units[type.unit], &all[p->nvalues].unit);
		p->nvalues++;
	}
	return err;
}

/* Types, period, time: what comes before all samples. */
static int pprof__head(struct pprof *p, const struct profile_about *about,
		       const struct stats *stats)
{
	Pprof__ValueType all[1 + PROFILE_TYPES_MAX], *types[1 + PROFILE_TYPES_MAX];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	uint64_t first, last;
	int err;

	for (size_t i = 0; i < 1 + PROFILE_TYPES_MAX; i++)
		types[i] = &all[i];
	err = pprof__types(p, all);
	err = err ? err : pprof__keys(p);
	if (err)
		return err;
	part.n_sample_type = p->nvalues;
	part.sample_type = types;
	if (p->places[0]) {
		part.period_type = &all[p->places[0]];
		part.period = (int64_t)about__interval(about);
	}
	if (p->nvalues > 1)
		part.default_sample_type = all[1].type;
	aggregate__span(p->aggregate, &first, &last);
	part.time_nanos = (int64_t)about->began_real;
	part.duration_nanos =
		(int64_t)(stats ? (uint64_t)(stats->seconds * (double)NS_PER_S) : last - first);
	err = pprof__put(p, &part);
	return err ? err : pprof__comments(p, about, stats);
}

static void pprof__free(struct pprof *p)
{
	map__free(&p->names);
	map__free(&p->locations);
	map__free(&p->modules);
	map__free(&p->words);
	map__free(&p->labels);
	table__free(&p->functions);
	arena__free(&p->arena);
	buf__free(&p->text);
	free(p->ids);
}

static int pprof__profile(struct output *out, const struct writer_config *config,
			  const struct aggregate *a, const struct stats *stats)
{
	const struct profile_about *about = &config->about;
	struct pprof p = {.config = config, .aggregate = a};
	struct part_rows rows = part__rows(a, config->part);
	const struct aggregate_row *row;
	int err, end;

	err = gzip__begin(&p.gzip, out);
	if (err)
		return err;
	err = pprof__head(&p, about, stats);
	row = part__next(&rows);
	/* R is the first mapping: pprof takes it for the program */
	if (!err && row)
		err = pprof__mapping(&p, &(struct frame){0}, &(uint64_t){0});
	for (; row && !err; row = part__next(&rows))
		err = pprof__row(&p, row);
	end = gzip__end(&p.gzip);
	pprof__free(&p);
	err = err ? err : end;
	return err ? err : output__commit(out, 0);
}

const struct writer_ops writer_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.binary = true,
	.help = "for `go tool pprof` and the services that accept it",
	.keeps = KEEPS_ATTRIBUTES,
	.types = true,
	.parts = true,
	.capture = XR_ROW_GC | XR_ROW_PACKAGES | XR_ROW_LABELS,
	.profile = pprof__profile,
};
