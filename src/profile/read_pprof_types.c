/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the values of a pprof profile's samples are.  Ticks are in it as a count, "samples", or as
 * time, of "cpu", "wall" or what the period is of, or as both; where there is a count, that is
 * taken.  Each other value is a sample type: one of ours with that name and unit, else a separate
 * one.
 *
 * In our own files (output/pprof.c) the count is of all samples, and a sample has a value of one
 * type beside it, so a sample with a value of another type is not a tick.
 */
#include "base/clock.h"
#include "profile/read_pprof.h"

/* ns of a unit of time; 0: it is not a unit of time. */
static uint64_t pprof__unit_ns(const struct pprof_file *p, int64_t unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"nanoseconds", 1},
		{"microseconds", NS_PER_US},
		{"milliseconds", NS_PER_MS},
		{"seconds", NS_PER_S},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (read_pprof__is(p, unit, units[i].name))
			return units[i].ns;
	return 0;
}

static bool type__is(const struct pprof_file *p, size_t i, const char *name)
{
	return read_pprof__is(p, p->types[i].type, name);
}

/* Where ticks are as time: the type that is called so, or else the first of time. */
static int pprof__find_time(const struct pprof_file *p, uint64_t interval)
{
	int first = PPROF_NONE;

	for (size_t i = 0; i < p->ntypes; i++) {
		if (!pprof__unit_ns(p, p->types[i].unit) || type__is(p, i, "off_cpu"))
			continue;
		if (type__is(p, i, "cpu") || type__is(p, i, "wall") ||
		    (interval && p->types[i].type == p->period_type))
			return (int)i;
		if (first == PPROF_NONE && interval)
			first = (int)i;
	}
	return first;
}

/* And as a count: "samples", or, where each stands for some time, the first. */
static int pprof__find_count(const struct pprof_file *p, uint64_t interval)
{
	int first = PPROF_NONE;

	for (size_t i = 0; i < p->ntypes; i++) {
		if (!read_pprof__is(p, p->types[i].unit, "count"))
			continue;
		if (type__is(p, i, "samples") || type__is(p, i, "sample") || type__is(p, i, ""))
			return (int)i;
		if (first == PPROF_NONE && interval)
			first = (int)i;
	}
	return first;
}

/* A value other than ticks. */
static void pprof__other(struct pprof_file *p, struct pprof_type *t)
{
	enum profile_unit unit = PROFILE_COUNT;
	const char *name;
	size_t len;

	t->multiply = pprof__unit_ns(p, t->unit);
	if (t->multiply)
		unit = PROFILE_NANOSECONDS;
	else if (read_pprof__is(p, t->unit, "bytes"))
		unit = PROFILE_BYTES;
	t->multiply += !t->multiply;
	name = read_pprof__string(p, t->type, &len);
	t->number = reading__type(p->r, name, len, unit);
}

static uint64_t pprof__interval(const struct pprof_file *p)
{
	uint64_t unit = pprof__unit_ns(p, p->period_unit), interval = 0;

	if (unit && p->period > 0 && (uint64_t)p->period < UINT64_MAX / 4096 / unit)
		interval = (uint64_t)p->period * unit;
	return interval > 3600 * NS_PER_S ? 0 : interval;
}

void read_pprof__types(struct pprof_file *p)
{
	uint64_t interval = pprof__interval(p);

	p->r->result->interval_ns = interval;
	p->r->result->types_left += p->more;
	p->count = pprof__find_count(p, interval);
	p->time = pprof__find_time(p, interval);
	p->unit = 1;
	p->tick = interval;
	if (p->count == PPROF_NONE && !interval)
		p->time = PPROF_NONE;
	else if (p->count == PPROF_NONE && p->time != PPROF_NONE)
		p->unit = pprof__unit_ns(p, p->types[p->time].unit);
	for (size_t i = 0; i < p->ntypes; i++) {
		p->types[i].number = PPROF_NONE;
		if ((int)i != p->count && (int)i != p->time)
			pprof__other(p, &p->types[i]);
	}
	/* where others are beside a mere count it may be one of them */
	p->wall = p->time != PPROF_NONE && type__is(p, (size_t)p->time, "wall");
	if (p->time != PPROF_NONE)
		reading__ticks(p->r, p->wall				   ? "wall"
				     : type__is(p, (size_t)p->time, "cpu") ? "cpu"
									   : NULL);
	else if (p->count != PPROF_NONE && p->ntypes == 1)
		reading__ticks(p->r, NULL);
}

/* Value @i of @s, times @by.  False: there is none, or it cannot be. */
static bool sample__value(const Pprof__Sample *s, size_t i, uint64_t by, uint64_t *value)
{
	if (i >= s->n_value || s->value[i] < 0 || (uint64_t)s->value[i] > READ_COUNT_MAX / by)
		return false;
	*value = (uint64_t)s->value[i] * by;
	return true;
}

bool read_pprof__values(struct pprof_file *p, const Pprof__Sample *s,
			uint64_t all[PROFILE_TYPES_MAX], uint64_t *count)
{
	uint64_t time = 0, others = 0, value;

	*count = 0;

	for (uint32_t i = 0; i < PROFILE_TYPES_MAX; i++)
		all[i] = 0;
	for (size_t i = 0; i < p->ntypes; i++) {
		if (p->types[i].number < 0)
			continue;
		if (!sample__value(s, i, p->types[i].multiply, &value))
			return false;
		all[p->types[i].number] += value;
		others |= value;
	}
	if (p->count != PPROF_NONE && !sample__value(s, (size_t)p->count, 1, count))
		return false;
	if (p->time != PPROF_NONE && !sample__value(s, (size_t)p->time, p->unit, &time))
		return false;
	if (p->count == PPROF_NONE && time) {
		p->owed += time;
		all[PROFILE_TYPE_TICKS] = p->owed / p->tick;
		p->owed %= p->tick;
	} else if (time || !others) {
		all[PROFILE_TYPE_TICKS] = *count;
	}
	if (all[PROFILE_TYPE_TICKS])
		*count = 0;
	return true;
}
