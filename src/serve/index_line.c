/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/index_line.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_line.h"

#define STARTED_MAX  18e9 /* seconds since 1970, so that they can be said in ns */
#define INTERVAL_MAX (3600.0 * (double)NS_PER_S)

static void line__label(struct index_line *line, const struct json_field *field)
{
	if (line->process.nlabels < INDEX_LABELS_MAX &&
	    !index_line__label(&line->process, field->key))
		line->labels[line->process.nlabels++] =
			(struct profile_label){.key = field->key, .value = field->text};
}

/* The strings that are known; NULL: it is none of them. */
static const char **line__string(struct index_line *line, const char *key)
{
	if (!strcmp(key, "comm"))
		return &line->process.comm;
	if (!strcmp(key, "container"))
		return &line->process.container;
	if (!strcmp(key, "r_version"))
		return &line->process.r_version;
	if (!strcmp(key, "command"))
		return &line->process.command;
	return NULL;
}

/* The numbers that are known. */
enum { PID, UID, SAMPLES, INTERVAL, STARTED, NUMBERS };

static const struct {
	const char *key;
	double max;
} numbers[NUMBERS] = {
	[PID] = {"pid", INT_MAX},
	[UID] = {"uid", UINT32_MAX},
	[SAMPLES] = {"samples", (double)INDEX_SAMPLES_MAX},
	[INTERVAL] = {"interval", INTERVAL_MAX},
	[STARTED] = {"started", STARTED_MAX},
};

/* @seen: those that were there, as bits.  False: it cannot be. */
static bool line__number(struct index_line *line, const struct json_field *field,
			 unsigned int *seen)
{
	unsigned int i = 0;

	while (i < NUMBERS && strcmp(numbers[i].key, field->key) != 0)
		i++;
	if (i == NUMBERS || *seen & 1u << i)
		return true;
	*seen |= 1u << i;
	if (!field->is_number || !(field->number >= 0 && field->number <= numbers[i].max))
		return false;
	if (i == PID)
		line->process.pid = (uint32_t)field->number;
	else if (i == UID)
		line->process.uid = (uint32_t)field->number;
	else if (i == SAMPLES)
		line->samples = (uint64_t)field->number;
	else if (i == INTERVAL)
		line->interval_ns = (uint64_t)field->number;
	else
		line->process.started = (uint64_t)(field->number * (double)NS_PER_S);
	return true;
}

int index_line__parse(struct index_line *line, char *text)
{
	unsigned int seen = 0;
	bool file = false;
	struct json_field field;
	const char **string;
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
			if (file || !window_name__parse(field.text, &line->file) ||
			    line->file.kind != WINDOW_PROFILE)
				return -EINVAL;
			file = true;
			continue;
		}
		string = line__string(line, field.key);
		if (string && !*string)
			*string = field.text;
		else if (!string && strcmp(field.key, "from") != 0)
			line__label(line, &field);
	}
	return err || !(seen & 1u << PID) || !file ? -EINVAL : 0;
}

const char *index_line__label(const struct profile_process *p, const char *key)
{
	return labels__value(p->labels, p->nlabels, key);
}
