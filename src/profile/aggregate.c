/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "profile/aggregate_parts.h"

/* What a row costs: itself, its places in the two maps, and what arrays keep in store. */
#define ROW_COST                                                                                   \
	(2 * sizeof(struct aggregate_row) + 6 * sizeof(struct map_entry) + 2 * sizeof(uint32_t))

static void aggregate__init(struct aggregate *a)
{
	stacks__init(&a->stacks, &a->budget, &a->last_id);
	a->arena.budget = &a->budget;
	a->timeline.least = a->config.width;
}

bool aggregate__pay(struct aggregate *a, size_t cost)
{
	if (!budget__take(&a->budget, cost))
		return false;
	a->cost += cost;
	return true;
}

int aggregate__new(struct aggregate **out, const struct aggregate_config *config)
{
	struct aggregate *a = calloc(1, sizeof(*a));

	*out = a;
	if (!a)
		return -ENOMEM;
	a->budget.max = config->max;
	a->config = *config;
	aggregate__init(a);
	return 0;
}

/* What the samples of a row have in common besides their stack. */
struct row_key {
	uint32_t process, labels, tid, type, detail, call;
	const struct profile_given *given;
	uint64_t number; /* of all that, for maps */
};

/* Add a row: its number, 0: -ENOMEM. */
static size_t aggregate__new_row(struct aggregate *a, const struct stack *stack,
				 const struct row_key *key)
{

	if (array__room(&a->rows, a->nrows, &a->cap, sizeof(*a->rows)))
		return 0;
	a->rows[a->nrows] = (struct aggregate_row){
		.stack = stack,
		.process = key->process,
		.labels = key->labels,
		.tid = key->tid,
		.type = key->type,
		.detail = key->detail,
		.call = key->call ? a->calls[key->call - 1] : NULL,
		.given = key->given,
	};
	return ++a->nrows;
}

bool aggregate__crowded(const struct aggregate *a)
{
	return a->budget.used > a->budget.max / 4 * 3;
}

/* The number of the row of our @stack, added if it is new; 0: -ENOMEM, or *@err. */
static size_t aggregate__row(struct aggregate *a, const struct stack *stack,
			     const struct row_key *key, int *err)
{
	size_t n = map__number(&a->index, stack->id, key->number);

	*err = -ENOMEM;
	if (n)
		return n;
	if ((a->config.rows && a->nrows >= a->config.rows) ||
	    (key->call && aggregate__crowded(a)) || !aggregate__pay(a, ROW_COST)) {
		*err = -ENOSPC;
		return 0;
	}
	n = aggregate__new_row(a, stack, key);
	if (n && map__put_number(&a->index, stack->id, key->number, n)) {
		a->nrows--;
		n = 0;
	}
	return n;
}

#define KIND_OF_CALL  (1ULL << 63) /* no sample type is so large */
#define KIND_OF_GIVEN (1ULL << 62)

/* The number of two that belong together, from 1 on; negative: an error. */
static long aggregate__kind(struct aggregate *a, uint64_t first, uint64_t second)
{
	size_t kind = map__number(&a->kinds, first, second);

	if (kind)
		return (long)kind;
	if (!aggregate__pay(a, 4 * sizeof(struct map_entry)))
		return -ENOSPC;
	kind = a->kinds.count + 1;
	return map__put_number(&a->kinds, first, second, kind) ? -ENOMEM : (long)kind;
}

/* The key of the samples like @s of @p, in the call @in; -ENOMEM, -ENOSPC. */
static int aggregate__key(struct aggregate *a, const struct profile_process *p,
			  const struct sample *s, const struct profile_call *in,
			  struct row_key *key)
{
	long process = aggregate__process_index(a, p), call = 0, kind;

	if (process < 0)
		return (int)process;
	if (in)
		call = aggregate__call_index(a, in);
	if (call < 0)
		return (int)call;
	key->call = (uint32_t)call;
	key->process = (uint32_t)process;
	key->labels = s->flags & a->config.labels;
	key->tid = a->config.threads ? s->tid : 0;
	key->type = s->type < PROFILE_TYPES_MAX ? s->type : 0;
	key->detail = a->config.details ? s->detail : 0;
	kind = aggregate__kind(a, (uint64_t)key->type << 32 | key->labels,
			       (uint64_t)key->detail << 32 | key->tid);
	if (kind > 0 && call)
		kind = aggregate__kind(a, KIND_OF_CALL | (uint64_t)call, (uint64_t)kind);
	key->given = aggregate__given(a, s);
	if (kind > 0 && key->given)
		kind = aggregate__kind(a, KIND_OF_GIVEN | key->given->number, (uint64_t)kind);
	if (kind < 0)
		return (int)kind;
	key->number = (uint64_t)key->process << 32 | (uint64_t)kind;
	return 0;
}

/* How long a sample says that a thread waited until its time, ns; 0: it is of a moment. */
static uint64_t sample__lasted(const struct aggregate *a, const struct sample *s)
{
	uint64_t each = a->config.interval_ns;

	if (a->config.width)
		return 0;
	if (s->type == PROFILE_TYPE_OFF_CPU)
		return s->weight;
	if (s->type != PROFILE_TYPE_TICKS || s->event != XR_EVENT_SWITCH || !each)
		return 0;
	return s->weight < UINT64_MAX / each ? s->weight * each : 0;
}

/* Without memory for its time the sample is still counted. */
static void row__time(struct aggregate *a, size_t n, const struct sample *s)
{
	uint64_t lasted = sample__lasted(a, s), begin = s->time - lasted;

	if (lasted && lasted < s->time)
		timeline__spread(&a->timeline, (uint32_t)n - 1, begin, s->time, s->weight);
	else
		timeline__add(&a->timeline, (uint32_t)n - 1, s->time, s->weight);
}

static void row__count(struct aggregate *a, size_t n, const struct sample *s)
{
	struct aggregate_row *row = &a->rows[n - 1];

	if (type__counts(s->type))
		row->samples += s->samples ? s->samples : 1;
	if (a->config.timeline && s->time)
		row__time(a, n, s);
	row->value += s->weight;
	if (!a->first || s->time < a->first)
		a->first = s->time;
	if (s->time > a->last)
		a->last = s->time;
}

static int aggregate__count(struct aggregate *a, const struct profile_process *p,
			    const struct sample *s, const struct profile_call *in)
{
	const struct stack *stack;
	struct row_key key = {0};
	size_t n;
	int err;

	err = aggregate__key(a, p, s, in, &key);
	if (err)
		return err;
	n = map__number(&a->seen, s->stack->id, key.number);
	if (!n) {
		stack = stacks__copy(&a->stacks, s->stack);
		if (!stack)
			return -ENOSPC;
		n = aggregate__row(a, stack, &key, &err);
		if (!n)
			return err;
		/* the short cut must not outgrow what it is for */
		if (a->seen.count > a->nrows + 64)
			map__free(&a->seen);
		if (map__put_number(&a->seen, s->stack->id, key.number, n))
			return -ENOMEM;
	}
	a->unlabelled += a->config.given && s->nlabels && !key.given && type__counts(s->type);
	row__count(a, n, s);
	return 0;
}

int aggregate__add(struct aggregate *a, const struct profile_process *p, const struct sample *s)
{
	const struct profile_call *in = a->config.calls ? s->call : NULL;
	int err = aggregate__count(a, p, s, in);

	if (err != -ENOSPC || !in)
		return err;
	err = aggregate__count(a, p, s, NULL);
	a->uncalled += !err && type__counts(s->type);
	return err;
}

void aggregate__drop(struct aggregate *a, const struct profile_process *p, const struct sample *s)
{
	const uint32_t type = s->type < PROFILE_TYPES_MAX ? s->type : 0;
	size_t *none = &a->none[type];
	long process;

	a->dropped += sample__stands(s);
	if (!*none) {
		process = aggregate__process_index(a, p);
		if (process < 0 && a->nprocesses)
			process = 0;
		if (process >= 0)
			*none = aggregate__new_row(
				a, stacks__none(),
				&(struct row_key){.process = (uint32_t)process, .type = type});
	}
	if (*none)
		row__count(a, *none, s);
}

int aggregate__take(struct aggregate *a, const struct profile_process *p, const struct sample *s)
{
	int err = aggregate__add(a, p, s);

	if (err != -ENOSPC)
		return err;
	aggregate__drop(a, p, s);
	return 0;
}

static int adding__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	(void)event;
	aggregate__know(arg, p);
	return 0;
}

static int adding__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct aggregate *a = arg;
	int err = aggregate__take(a, p, s);

	return err ? errmsg__set(&a->why, err, "out of memory") : 0;
}

static int adding__call(void *arg, const struct profile_process *p, const struct profile_call *call)
{
	(void)p;
	aggregate__learn(arg, call);
	return 0;
}

static const struct errmsg *adding__why(void *arg)
{
	return &((struct aggregate *)arg)->why;
}

struct sink aggregate__sink(struct aggregate *a)
{
	static const struct sink_ops ops = {
		.process = adding__process,
		.sample = adding__sample,
		.call = adding__call,
		.why = adding__why,
	};

	return (struct sink){.ops = &ops, .arg = a};
}

int aggregate__scale(struct aggregate *a, uint32_t type, uint64_t times, uint64_t by)
{
	uint64_t rest = 0, timed = 0;

	for (size_t i = 0; i < a->nrows; i++)
		if (a->rows[i].type == type && a->rows[i].value > (UINT64_MAX - by) / times)
			return -ERANGE;
	for (size_t i = 0; i < a->nrows; i++) {
		struct aggregate_row *row = &a->rows[i];

		if (row->type != type)
			continue;
		rest += row->value * times;
		row->value = rest / by;
		rest %= by;
	}
	for (size_t i = 0; i < a->timeline.n; i++) {
		struct timeline_entry *e = &a->timeline.entries[i];

		if (a->rows[e->row].type != type)
			continue;
		timed += e->value * times;
		e->value = timed / by;
		timed %= by;
	}
	return 0;
}

const struct aggregate_row *aggregate__rows(const struct aggregate *a, size_t *n)
{
	*n = a->nrows;
	return a->rows;
}

uint64_t aggregate__unlabelled(const struct aggregate *a)
{
	return a->unlabelled;
}

uint64_t aggregate__uncalled(const struct aggregate *a)
{
	return a->uncalled;
}

const struct timeline *aggregate__timeline(const struct aggregate *a)
{
	return a->timeline.n ? &a->timeline : NULL;
}

size_t aggregate__size(const struct aggregate *a)
{
	return a->budget.used;
}

uint64_t aggregate__dropped(const struct aggregate *a)
{
	return a->dropped;
}

void aggregate__span(const struct aggregate *a, uint64_t *first, uint64_t *last)
{
	*first = a->first;
	*last = a->last;
}

void aggregate__clear(struct aggregate *a)
{
	stacks__free(&a->stacks);
	arena__free(&a->arena);
	map__free(&a->seen);
	map__free(&a->index);
	map__free(&a->kinds);
	map__free(&a->given);
	map__free(&a->serials);
	map__free(&a->call_ids);
	free(a->calls);
	timeline__free(&a->timeline);
	free(a->rows);
	free(a->processes);
	budget__give(&a->budget, a->cost);
	*a = (struct aggregate){.budget = a->budget,
				.config = a->config,
				.dropped = a->dropped,
				.uncalled = a->uncalled,
				.unlabelled = a->unlabelled};
	aggregate__init(a);
}

void aggregate__free(struct aggregate *a)
{
	if (!a)
		return;
	aggregate__clear(a);
	free(a);
}
