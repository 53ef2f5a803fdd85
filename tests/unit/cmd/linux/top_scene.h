/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A model of `top` with samples by hand, for tests of it and of what shows it. */
#ifndef TOP_SCENE_H
#define TOP_SCENE_H

#include "base/clock.h"
#include "base/limits.h"
#include "cmd/linux/top_view.h"
#include "os/os.h"
#include "stack_maker.h"
#include "tap.h"

static struct top_model *model;
static struct top_view view; /* of it, if begin_view() made it */
static struct sink sink;
static uint64_t now;
static struct profile_type waiting; /* the profile has it, too, if it has a name */
/* and it has these and no ticks, if the first has a name */
static struct profile_type events[2];

/* processes that cannot be */
static const struct profile_process one = {.serial = 1, .pid = 0x7ffffff0, .comm = "one"};
static const struct profile_process two = {.serial = 2, .pid = 0x7ffffff1, .comm = "two"};

static void begin(size_t memory, uint32_t window)
{
	struct profile_about about = {
		.freq = 99,
		.engine = "bpf",
		.clock = "cpu",
		.event = "cycles",
	};

	about.types[PROFILE_TYPE_OFF_CPU] = waiting;
	about.no_ticks = events[0].name != NULL;
	memcpy(&about.types[PROFILE_TYPE_EVENTS], events, sizeof(events));
	if (about.no_ticks)
		about.event = "cycles,gc";
	tap__bail_if(top_model__new(&model, memory, window), "no memory");
	sink = top_model__sink(model);
	sink__begin(&sink, &about);
	now = os__now();
	top_model__advance(model, now);
}

static void end(void)
{
	top_view__free(&view);
	top_model__free(model);
	stack__free_all();
}

/* Samples of a stack of functions: their names with blanks between them, innermost first. */
static int take_of(const struct profile_process *p, uint32_t type, uint64_t weight,
		   const char *names, unsigned int samples)
{
	const struct sample s = {.time = now,
				 .type = type,
				 .weight = weight,
				 .serial = p->serial,
				 .pid = p->pid,
				 .stack = stack__named(names)};
	int err = 0;

	for (unsigned int i = 0; i < samples && !err; i++)
		err = sink__sample(&sink, p, &s);
	return err;
}

/* Ticks; with `waiting`, of a stack whose name begins with w, a second of that each. */
static int take(const struct profile_process *p, const char *names, unsigned int samples)
{
	const bool waits = waiting.name && *names == 'w';

	return take_of(p, waits, waits ? NS_PER_S : 1, names, samples);
}

static bool second(void)
{
	now += NS_PER_S;
	return top_model__advance(model, now);
}

static inline void begin_view(void)
{
	begin(LIMIT_MEMORY, 5);
	top_view__init(&view, model);
}

/* A second later. */
static inline void update(void)
{
	second();
	tap__bail_if(top_view__update(&view), "no memory");
}

#endif
