/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that were sampled at different rates: a sample is weighed by the time it stands for. */
#include <errno.h>

#include "base/clock.h"
#include "cmd/report.h"

#define INTERVAL_UNKNOWN (20 * NS_PER_MS) /* Rprof()'s default */
#define TOTAL_MAX	 (UINT64_C(1) << 62)

uint64_t report_rate__interval(uint64_t interval_ns)
{
	return interval_ns ? interval_ns : INTERVAL_UNKNOWN;
}

static int rates__full(struct report_rates *r)
{
	return errmsg__set(&r->fault, -ERANGE, "the sum of the counts is too large");
}

/* From here on rates differ: ticks that were added up so far become ns. */
static int rates__differ(struct report_rates *r)
{
	r->differ = true;
	if (!r->adding)
		return 0;
	return aggregate__scale(r->adding, PROFILE_TYPE_TICKS, r->tick_ns, 1) ? rates__full(r) : 0;
}

/*
 * Samples that are written in their order, with one interval for all: of each stack, what is no
 * whole tick counts with its next sample.  It begins with another part of a tick for each stack,
 * so that stacks that were seen once are as many as they should be, too.
 */
static int rates__lines(struct report_rates *r, struct sample *s, uint64_t each)
{
	const uint64_t base = r->first_ns;
	uint64_t owed = map__number(&r->owed, s->stack->id, 0);

	if (each == base)
		return 0;
	/* what is kept is 1 more, as 0 is not there */
	owed = owed ? owed - 1 : map__hash(s->stack->id, 0) % base;
	owed += s->weight * each;
	s->weight = owed / base;
	if (map__put_number(&r->owed, s->stack->id, 0, owed % base + 1))
		return errmsg__set(&r->fault, -ENOMEM, "out of memory");
	return 0;
}

static int rates__weigh(struct report_rates *r, struct sample *s)
{
	uint64_t each = report_rate__interval(r->reading->interval_ns);
	int err = 0;

	if (!r->reading->interval_ns && r->reading->parts)
		each /= r->reading->parts;
	r->unknown |= !r->reading->interval_ns;
	r->known += r->reading->interval_ns ? s->weight : 0;
	r->seconds += (double)s->weight * (double)each / NS_PER_S;
	if (r->tick_ns && each != r->tick_ns && !r->differ)
		err = rates__differ(r);
	if (!r->tick_ns || each < r->tick_ns)
		r->tick_ns = each;
	if (err || !r->differ)
		return err;
	if (s->weight > TOTAL_MAX / each)
		return rates__full(r);
	if (!r->adding)
		return rates__lines(r, s, each);
	s->samples = s->weight;
	s->weight *= each;
	return 0;
}

/* Lines are in the unit of the first file, also if no sample that was asked for is of it. */
static int rates__begin(void *arg, const struct profile_about *about)
{
	struct report_rates *r = arg;
	int err = sink__begin(&r->to, about);

	if (!err && !r->adding)
		r->first_ns = r->tick_ns = report_rate__interval(r->reading->interval_ns);
	return err;
}

static int rates__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct report_rates *r = arg;
	struct sample weighed = *s;
	int err = s->type == PROFILE_TYPE_TICKS && !r->alike ? rates__weigh(r, &weighed) : 0;

	return err || !weighed.weight ? err : sink__sample(&r->to, p, &weighed);
}

static const struct errmsg *rates__why(void *arg)
{
	struct report_rates *r = arg;

	return r->fault.text[0] ? &r->fault : sink__why(&r->to);
}

struct sink report_rates__sink(struct report_rates *r)
{
	static const struct sink_ops ops = {
		.begin = rates__begin,
		.sample = rates__sample,
		.why = rates__why,
	};

	return (struct sink){&ops, r, &r->to};
}

int report_rates__time(struct report_rates *r, struct errmsg *f)
{
	int err = r->differ || !r->tick_ns ? 0 : rates__differ(r);

	if (err)
		*f = r->fault;
	return err;
}

void report_rates__about(const struct report_rates *r, struct profile_about *about)
{
	const bool known = r->differ || r->known;

	if (!known && !r->unknown)
		return;
	about->interval_ns = known ? r->tick_ns : 0;
	about->freq = known ? (uint32_t)((NS_PER_S + r->tick_ns / 2) / r->tick_ns) : 0;
}

void report_rates__ticks(const struct report_rates *r, struct aggregate *a)
{
	if (r->differ)
		aggregate__scale(a, PROFILE_TYPE_TICKS, 1, r->tick_ns);
}
