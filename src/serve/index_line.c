/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/index_line.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_line.h"
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
			if (file || !window_name__parse(field.text, &line->file) ||
			    line->file.kind != WINDOW_PROFILE)
				return -EINVAL;
			file = true;
			continue;
		}
		line__text(line, &field);
	}
	return err || !(seen & SEEN(attribute__by_index("pid"))) || !file ? -EINVAL : 0;
}
