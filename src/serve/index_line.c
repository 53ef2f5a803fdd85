/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/index_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_line.h"
#include "output/encode.h"
#include "profile/attributes.h"

#define INTERVAL_MAX (3600.0 * (double)NS_PER_S)

static void line__label(struct index_line *line, const struct json_field *field)
{
	if (line->process.nlabels < INDEX_LABELS_MAX && !process__label(&line->process, field->key))
		line->labels[line->process.nlabels++] =
			(struct profile_label){.key = field->key, .value = field->text};
}

/* The numbers that are not attributes of the process. */
enum { SAMPLES, INTERVAL, NUMBERS };

static const struct {
	const char *key;
	double max;
} numbers[NUMBERS] = {
	[SAMPLES] = {"samples", (double)INDEX_SAMPLES_MAX},
	[INTERVAL] = {"interval", INTERVAL_MAX},
};

#define SEEN(attribute) (1u << ((attribute)-attributes))

/* @seen: which of them the line had, as bits.  False: it is out of range. */
static bool line__number(struct index_line *line, const struct json_field *field, uint32_t *seen)
{
	const struct attribute *a = attribute__by_index(field->key);
	unsigned int i = 0;
	uint32_t bit;

	while (i < NUMBERS && strcmp(numbers[i].key, field->key) != 0)
		i++;
	bit = a ? SEEN(a) : 1u << (ATTRIBUTES_MAX + i);
	if ((a ? a->kind == ATTRIBUTE_TEXT : i == NUMBERS) || *seen & bit)
		return true;
	*seen |= bit;
	if (!field->is_number ||
	    !(field->number >= 0 && field->number <= (a ? a->max : numbers[i].max)))
		return false;
	if (a)
		return attribute__set_number(a, &line->process, field->number);
	*(i == SAMPLES ? &line->samples : &line->interval_ns) = (uint64_t)field->number;
	return true;
}

/* A string: an attribute, a label, or neither. */
static void line__text(struct index_line *line, const struct json_field *field)
{
	const struct attribute *a = attribute__by_index(field->key);

	if (!a || a->kind != ATTRIBUTE_TEXT) {
		if (strcmp(field->key, "from") != 0)
			line__label(line, field);
	} else if (!*attribute__place(a, &line->process)) {
		*attribute__place(a, &line->process) = field->text;
	}
}

int index_line__parse(struct index_line *line, char *text)
{
	uint32_t seen = 0;
	bool file = false;
	struct json_field field;
	struct json_line j;
	int err;

	*line = (struct index_line){0};
	line->process.labels = line->labels;
	json_line__begin(&j, text);
	while ((err = json_line__next(&j, &field)) > 0) {
		if (!field.text) {
			if (!line__number(line, &field, &seen))
				return -EINVAL;
			continue;
		}
		if (!strcmp(field.key, "file")) {
			if (file || !interval_name__parse(field.text, &line->file) ||
			    line->file.kind != INTERVAL_PROFILE)
				return -EINVAL;
			file = true;
			continue;
		}
		line__text(line, &field);
	}
	return err || !(seen & SEEN(attribute__by_index("pid"))) || !file ? -EINVAL : 0;
}

/* --- writing --- */

/* Has the index something else by that name? */
static bool index__has(const char *key)
{
	static const char *const taken[] = {"file", "from", "seconds", "samples", "interval"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(key, taken[i]))
			return true;
	return attribute__by_index(key);
}

/* Those of @labels that @process has not itself (NULL: all), of each key the first. */
static void index__labels(struct json *j, const struct profile_label *labels, size_t n,
			  const struct profile_process *process)
{
	for (size_t i = 0; i < n; i++)
		if (!index__has(labels[i].key) && !labels__value(labels, i, labels[i].key) &&
		    !(process && process__label(process, labels[i].key)))
			json__str(j, labels[i].key, labels[i].value);
}

/* The line of a process, without its opening brace. */
static int index__line(struct buf *out, const struct profile_process *process, uint64_t samples,
		       const struct profile_label *labels, size_t nlabels, uint64_t interval)
{
	struct buf line = {0};
	struct json j;
	int err;

	json__begin(&j);
	json__object(&j, NULL);
	attributes__json(&j, process, "command");
	json__u64(&j, "samples", samples);
	if (interval)
		json__u64(&j, "interval", interval);
	index__labels(&j, process->labels, process->nlabels, NULL);
	index__labels(&j, labels, nlabels, process);
	if (process->command)
		json__str(&j, "command", process->command);
	json__close(&j);
	err = json__end(&j, &line);
	if (!err && line.len > 1)
		err = buf__add(out, line.data + 1, line.len - 1);
	buf__free(&line);
	return err;
}

int index_line__all(struct buf *out, const struct aggregate *sum,
		    const struct profile_label *labels, size_t nlabels, uint64_t interval)
{
	const struct profile_process *processes;
	const struct aggregate_row *rows;
	size_t nprocesses, nrows;
	uint64_t *samples;
	int err = 0;

	processes = aggregate__processes(sum, &nprocesses);
	rows = aggregate__rows(sum, &nrows);
	samples = calloc(nprocesses + 1, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < nrows; i++)
		samples[rows[i].process] += row__samples(&rows[i]);
	for (size_t i = 0; i < nprocesses && !err; i++)
		if (samples[i])
			err = index__line(out, &processes[i], samples[i], labels, nlabels,
					  interval);
	free(samples);
	return err;
}
