/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * speedscope's own format, JSON: https://www.speedscope.app reads it, and so do others.
 *
 * One profile of type "sampled" for each process and sample type, weights in the time that samples
 * stand for, counts where no rate is known, or what the type counts.  Stacks are in the order of
 * time, as far as the aggregate remembers it and that does not make the file too long
 * (SPEEDSCOPE_FRAMES); else each stack comes once, in the order of its first sample, as does what
 * has no time, behind all that has.  A frame's file and line are the ones being executed; of a
 * function of which only the definition is known, that.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "base/version.h"
#include "layout.h"
#include "output/writer.h"

#define SPEEDSCOPE_FRAMES 4000000u /* numbers of frames in all samples, if stacks are repeated */
#define SPEEDSCOPE_PIECE  65536u   /* bytes that are written at once */
#define SPEEDSCOPE_SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* A stack in one place of a process' profile. */
struct item {
	uint32_t row;
	uint64_t value;
};

struct speedscope {
	struct output *out;
	const struct profile_about *about;
	const struct aggregate *aggregate;
	const struct aggregate_row *rows;
	size_t nrows;
	struct json json;
	struct buf text;
	struct map frames;  /* (address of a frame, 0) to 1 + its index */
	struct item *items; /* those of process p and type t begin at starts[group__of(p, t)] */
	size_t *starts;	    /* one more than there are groups */
	size_t nprocesses, ngroups, nitems;
	int err;
};

/* The items of a profile of the document. */
static size_t group__of(size_t process, uint32_t type)
{
	return process * PROFILE_TYPES_MAX + type;
}

static size_t row__group(const struct aggregate_row *row)
{
	return group__of(row->process, row->type);
}

/* Hand on what was made so far, if it is enough. */
static void speedscope__write(struct speedscope *s, bool all)
{
	struct buf *text = &s->json.text;

	if (s->err || (!all && text->len < SPEEDSCOPE_PIECE))
		return;
	s->err = output__write(s->out, text->data, text->len);
	text->len = 0;
}

static const char *speedscope__str(struct speedscope *s, int err)
{
	if (!err)
		err = buf__add(&s->text, "", 1);
	if (err)
		s->err = err;
	return s->err ? "" : s->text.data;
}

static void speedscope__frame(struct speedscope *s, const struct frame *frame)
{
	struct place place = frame->place.file ? frame->place : frame->defined;
	size_t i = s->frames.count;

	if (s->err || map__get(&s->frames, (uintptr_t)frame, 0))
		return;
	s->err = map__put_number(&s->frames, (uintptr_t)frame, 0, i + 1);
	json__object(&s->json, NULL);
	s->text.len = 0;
	json__str(&s->json, "name", speedscope__str(s, frame__label(&s->text, frame, NAME_SAFE)));
	if (place.file) {
		json__str(&s->json, "file", place.file->safe);
		json__u64(&s->json, "line", place.line);
	}
	json__close(&s->json);
	speedscope__write(s, false);
}

static void speedscope__frames(struct speedscope *s)
{
	json__object(&s->json, "shared");
	json__array(&s->json, "frames");
	for (size_t i = 0; i < s->nrows; i++) {
		const struct stack *stack = s->rows[i].stack;

		for (uint32_t f = 0; f < stack->nframes; f++)
			speedscope__frame(s, stack->frames[f]);
		if (stack__is_toplevel(stack))
			speedscope__frame(s, &mark_toplevel);
	}
	json__close(&s->json);
	json__close(&s->json);
}

static void speedscope__index(struct speedscope *s, const struct frame *frame)
{
	uint64_t i = map__number(&s->frames, (uintptr_t)frame, 0);

	json__u64(&s->json, NULL, i - 1);
}

static void speedscope__stack(struct speedscope *s, const struct stack *stack)
{
	json__array(&s->json, NULL);
	if (stack__is_toplevel(stack))
		speedscope__index(s, &mark_toplevel);
	for (uint32_t i = stack->nframes; i > 0; i--)
		speedscope__index(s, stack->frames[i - 1]);
	json__close(&s->json);
	speedscope__write(s, false);
}

/* Frames in all items of @timeline. */
static uint64_t speedscope__depth(const struct speedscope *s, const struct timeline *timeline)
{
	uint64_t frames = 0;

	for (size_t i = 0; i < timeline->n; i++)
		frames += s->rows[timeline->entries[i].row].stack->nframes + 1;
	return frames;
}

static int entry__compare(const void *a, const void *b)
{
	const struct timeline_entry *x = *(const struct timeline_entry *const *)a;
	const struct timeline_entry *y = *(const struct timeline_entry *const *)b;

	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The items in the order of time; -ENOMEM. */
static int timeline__in_order(const struct timeline *t, struct item *items)
{
	const struct timeline_entry **order = malloc((t->n + 1) * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		order[i] = &t->entries[i];
	qsort(order, t->n, sizeof(*order), entry__compare);
	for (size_t i = 0; i < t->n; i++)
		items[i] = (struct item){order[i]->row, order[i]->value};
	free(order);
	return 0;
}

/* The items, those of a group together. */
static int speedscope__items(struct speedscope *s)
{
	const struct timeline *timeline = aggregate__timeline(s->aggregate);
	bool timed = timeline && speedscope__depth(s, timeline) <= SPEEDSCOPE_FRAMES;
	size_t n = timed ? timeline->n : 0;
	struct item *items = malloc((n + s->nrows + 1) * sizeof(*items));
	uint64_t *rest = malloc((s->nrows + 1) * sizeof(*rest));
	size_t *next = calloc(s->ngroups + 2, sizeof(*next));
	int err = items && rest && next ? 0 : -ENOMEM;

	s->items = malloc((n + s->nrows + 1) * sizeof(*s->items));
	s->starts = next;
	if (!err && !s->items)
		err = -ENOMEM;
	if (!err && timed)
		err = timeline__in_order(timeline, items);
	if (err)
		goto cleanup;
	/* what has no time is behind what has */
	for (size_t i = 0; i < s->nrows; i++)
		rest[i] = s->rows[i].value;
	for (size_t i = 0; i < n; i++)
		rest[items[i].row] -= items[i].value;
	for (size_t i = 0; i < s->nrows; i++)
		if (rest[i])
			items[n++] = (struct item){(uint32_t)i, rest[i]};
	/* a counting sort: the end of each group is the start of the next */
	for (size_t i = 0; i < n; i++)
		next[row__group(&s->rows[items[i].row]) + 2]++;
	for (size_t i = 1; i < s->ngroups + 2; i++)
		next[i] += next[i - 1];
	for (size_t i = 0; i < n; i++)
		s->items[next[row__group(&s->rows[items[i].row]) + 1]++] = items[i];
	s->nitems = n;
cleanup:
	free(rest);
	free(items);
	return err;
}

/* Is there another sample type than the first? */
static bool speedscope__several(const struct speedscope *s)
{
	bool several = false;

	for (uint32_t i = 1; i < PROFILE_TYPES_MAX; i++)
		several = several || about__type(s->about, i).name;
	return several;
}

/* Items from @k on, before @end, that are of one stack, as a wait is: where they end, and their
 * sum. */
static size_t speedscope__run(const struct speedscope *s, size_t k, size_t end, uint64_t *value)
{
	const uint32_t row = s->items[k].row;

	*value = 0;
	for (; k < end && s->items[k].row == row; k++)
		*value += s->items[k].value;
	return k;
}

static void speedscope__process(struct speedscope *s, uint32_t i, uint32_t type)
{
	static const char *const units[] = {"nanoseconds", "nanoseconds", "bytes", "none"};
	const struct profile_process *process = aggregate__process(s->aggregate, i);
	const struct profile_about *about = s->about;
	const struct profile_type of = about__type(about, type);
	uint64_t each = about__each(about, type);
	uint64_t period = each ? each : 1, total = 0, value;
	size_t begin = s->starts[group__of(i, type)], end = s->starts[group__of(i, type) + 1];
	int err;

	s->text.len = 0;
	err = buf__printf(&s->text, "%s %" PRIu32, *process->comm ? process->comm : "R",
			  process->pid);
	if (!err && speedscope__several(s))
		err = buf__printf(&s->text, ", %s", of.name ? of.name : "");
	json__object(&s->json, NULL);
	json__str(&s->json, "type", "sampled");
	json__str(&s->json, "name", speedscope__str(s, err));
	json__str(&s->json, "unit", each ? units[of.unit] : "none");
	json__u64(&s->json, "startValue", 0);
	json__array(&s->json, "samples");
	for (size_t k = begin; k < end && !s->err; k = speedscope__run(s, k, end, &value))
		speedscope__stack(s, s->rows[s->items[k].row].stack);
	json__close(&s->json);
	json__array(&s->json, "weights");
	for (size_t k = begin; k < end && !s->err;) {
		k = speedscope__run(s, k, end, &value);
		json__u64(&s->json, NULL, value * period);
		total += value * period;
		speedscope__write(s, false);
	}
	json__close(&s->json);
	json__u64(&s->json, "endValue", total);
	json__close(&s->json);
}

static void speedscope__document(struct speedscope *s)
{
	const struct profile_about *about = s->about;
	const char *name = about->command;
	char exporter[128];

	json__begin(&s->json);
	json__object(&s->json, NULL);
	json__str(&s->json, "$schema", SPEEDSCOPE_SCHEMA);
	json__str(&s->json, "name", name ? name : "R");
	snprintf(exporter, sizeof(exporter), "%s%s%s%s%s", XR_PROGRAM " " XR_VERSION,
		 about->engine ? ", engine " : "", about->engine ? about->engine : "",
		 about->clock ? ", clock " : "", about->clock ? about->clock : "");
	json__str(&s->json, "exporter", exporter);
	speedscope__frames(s);
	json__array(&s->json, "profiles");
	for (size_t i = 0; i < s->ngroups; i++)
		if (s->starts[i] < s->starts[i + 1])
			speedscope__process(s, (uint32_t)(i / PROFILE_TYPES_MAX),
					    (uint32_t)(i % PROFILE_TYPES_MAX));
	json__close(&s->json);
	json__close(&s->json);
}

static int speedscope__profile(struct output *out, const struct writer_config *config,
			       const struct aggregate *a, const struct stats *stats)
{
	struct speedscope s = {.out = out, .about = &config->about, .aggregate = a};
	struct buf rest = {0};
	int err;

	(void)stats;
	s.rows = aggregate__rows(a, &s.nrows);
	aggregate__processes(a, &s.nprocesses);
	s.ngroups = group__of(s.nprocesses, 0);
	s.err = speedscope__items(&s);
	if (!s.err)
		speedscope__document(&s);
	err = json__end(&s.json, &rest);
	if (!s.err)
		s.err = err ? err : output__write(out, rest.data, rest.len);
	buf__free(&rest);
	buf__free(&s.text);
	map__free(&s.frames);
	free(s.items);
	free(s.starts);
	return s.err ? s.err : output__commit(out, 0);
}

const struct writer_ops writer_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.help = "JSON for speedscope and tools that read its files",
	.types = true,
	.keeps = {.timeline = true},
	.capture = XR_ROW_GC | XR_ROW_PACKAGES,
	.profile = speedscope__profile,
};
