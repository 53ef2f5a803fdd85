/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "profile/aggregate.h"
#include "profile/attributes.h"
#include "profile/stacks.h"

#define GIVEN_MAX 1000u /* sets of labels; what a program gives beyond them is left out */

/* What a row costs: itself, its places in the two maps, and what arrays keep in store. */
#define ROW_COST                                                                                   \
	(2 * sizeof(struct aggregate_row) + 6 * sizeof(struct map_entry) + 2 * sizeof(uint32_t))

/*
 * Rows and processes are found by numbers (index + 1, as a pointer): the arrays move.  `seen` is a
 * short cut by the ids that the samples' stacks have.
 */
struct aggregate {
	struct budget budget;
	struct aggregate_config config;
	uint64_t last_id;
	struct stacks stacks;
	struct arena arena; /* of labels and short texts */
	struct map seen;    /* (id of the sample's stack, process << 32 | kind) to the row */
	struct map index;   /* (id of our stack, process << 32 | kind) to the row */
	/* (labels and type, thread and detail), and (call, that), to a number from 1 on */
	struct map kinds;
	struct map given; /* (hash of labels, another) to struct profile_given */
	struct timeline timeline;
	struct aggregate_row *rows;
	size_t nrows, cap;
	/* (serial, 0) to its newest process; (serial, a process) to the one by the name before */
	struct map serials;
	struct profile_process *processes;
	size_t nprocesses, processes_cap;
	struct map call_ids;	     /* (id of a call, 0) to its number */
	struct profile_call **calls; /* by their number, less 1; in the arena */
	size_t ncalls, calls_cap;
	size_t cost;			/* taken from the budget for rows and processes */
	size_t none[PROFILE_TYPES_MAX]; /* number of the row of those dropped, 0: none */
	uint64_t dropped, unlabelled;
	uint64_t first, last; /* ns */
	struct errmsg why;    /* of aggregate__sink */
};

static void *number(size_t n)
{
	return (void *)(uintptr_t)n;
}

static void aggregate__init(struct aggregate *a)
{
	stacks__init(&a->stacks, &a->budget, &a->last_id);
	a->arena.budget = &a->budget;
	a->timeline.least = a->config.width;
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

static bool aggregate__pay(struct aggregate *a, size_t cost)
{
	if (!budget__take(&a->budget, cost))
		return false;
	a->cost += cost;
	return true;
}

/* The one text that is the same; NULL: no room. */
static const char *aggregate__text(struct aggregate *a, const char *text)
{
	const struct name *name = stacks__name(&a->stacks, text, strlen(text));

	return name ? name->text : NULL;
}

static bool labels__same(const struct profile_process *ours, const struct profile_process *p)
{
	bool same = ours->nlabels == p->nlabels;

	for (size_t i = 0; i < p->nlabels && same; i++)
		same = !strcmp(ours->labels[i].key, p->labels[i].key) &&
		       !strcmp(ours->labels[i].value, p->labels[i].value);
	return same;
}

/* Known labels stay if @p has none. */
static int aggregate__labels(struct aggregate *a, struct profile_process *ours,
			     const struct profile_process *p)
{
	size_t n = p->nlabels < PROFILE_LABELS_MAX ? p->nlabels : PROFILE_LABELS_MAX;
	struct profile_label *labels;

	if (!n || labels__same(ours, p))
		return 0;
	labels = arena__alloc(&a->arena, n * sizeof(*labels));
	if (!labels)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++) {
		labels[i].key = aggregate__text(a, p->labels[i].key);
		labels[i].value = aggregate__text(a, p->labels[i].value);
		if (!labels[i].key || !labels[i].value)
			return -ENOSPC;
	}
	ours->labels = labels;
	ours->nlabels = n;
	return 0;
}

/* @text, cut if it has @size bytes or more; NULL: no room. */
static const char *aggregate__cut(struct aggregate *a, const char *text, size_t size)
{
	size_t len = strnlen(text, size - 1);
	char *copy = arena__alloc(&a->arena, len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

/* The attribute @at, if it is known of @p. */
static int aggregate__attribute(struct aggregate *a, const struct attribute *at,
				struct profile_process *ours, const struct profile_process *p)
{
	const char *text = attribute__text(at, p), *known = attribute__text(at, ours);

	attribute__learn_number(at, ours, p);
	if (!text || at->kind != ATTRIBUTE_TEXT)
		return 0;
	if (known && !(at->size ? strncmp(known, text, at->size - 1) : strcmp(known, text)))
		return 0;
	text = at->size ? aggregate__cut(a, text, at->size) : aggregate__text(a, text);
	if (!text)
		return -ENOSPC;
	*attribute__place(at, ours) = text;
	return 0;
}

/* What is known of process @p now. */
static int aggregate__describe(struct aggregate *a, struct profile_process *ours,
			       const struct profile_process *p)
{
	int err = 0;

	for (const struct attribute *at = attributes; at->kind && !err; at++)
		if (!at->identity)
			err = aggregate__attribute(a, at, ours, p);
	/* these decide which files are read for it */
	ours->uid = p->uid;
	ours->directory = NULL;
	if (!err && p->directory) {
		ours->directory = aggregate__text(a, p->directory);
		err = ours->directory ? 0 : -ENOSPC;
	}
	if (!err)
		err = aggregate__labels(a, ours, p);
	if (p->elapsed_ns) {
		ours->cpu_ns = p->cpu_ns;
		ours->elapsed_ns = p->elapsed_ns;
	}
	return err;
}

/* The index of process @p, which is added if it is new; negative: an error. */
static long aggregate__process_index(struct aggregate *a, const struct profile_process *p)
{
	const char *comm = p->comm ? p->comm : "";
	size_t n = (size_t)(uintptr_t)map__get(&a->serials, p->serial, 0);
	struct profile_process *ours;

	if (n && !strncmp(a->processes[n - 1].comm, comm, XR_COMM_LEN - 1))
		return (long)n - 1;
	if (!aggregate__pay(a, 2 * sizeof(*ours) + 4 * sizeof(struct map_entry)))
		return -ENOSPC;
	if (array__room(&a->processes, a->nprocesses, &a->processes_cap, sizeof(*ours)))
		return -ENOMEM;
	comm = aggregate__cut(a, comm, XR_COMM_LEN);
	if (!comm)
		return -ENOSPC;
	if ((n && map__put(&a->serials, p->serial, a->nprocesses + 1, number(n))) ||
	    map__put(&a->serials, p->serial, 0, number(a->nprocesses + 1)))
		return -ENOMEM;
	ours = &a->processes[a->nprocesses];
	*ours = (struct profile_process){
		.serial = p->serial, .pid = p->pid, .parent_pid = p->parent_pid, .comm = comm};
	if (a->config.describe) /* what does not fit stays unknown */
		aggregate__describe(a, ours, p);
	return (long)a->nprocesses++;
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

/* The number of the row of our @stack, added if it is new; 0: -ENOMEM, or *@err. */
static size_t aggregate__row(struct aggregate *a, const struct stack *stack,
			     const struct row_key *key, int *err)
{
	size_t n = (size_t)(uintptr_t)map__get(&a->index, stack->id, key->number);

	*err = -ENOMEM;
	if (n)
		return n;
	if ((a->config.rows && a->nrows >= a->config.rows) || !aggregate__pay(a, ROW_COST)) {
		*err = -ENOSPC;
		return 0;
	}
	n = aggregate__new_row(a, stack, key);
	if (n && map__put(&a->index, stack->id, key->number, number(n))) {
		a->nrows--;
		n = 0;
	}
	return n;
}

/* The number of a call, which is added if it is new, after those outside of it; negative: an error.
 */
static long aggregate__call_index(struct aggregate *a, const struct profile_call *call)
{
	size_t n = (size_t)(uintptr_t)map__get(&a->call_ids, call->id, 0);
	struct profile_call *ours;
	long outer = 0;

	/* of another interval, in which it went on */
	if (n && call->seen > a->calls[n - 1]->seen)
		aggregate__learn(a, call);
	if (n)
		return (long)n;
	if (call->outer)
		outer = aggregate__call_index(a, call->outer);
	if (outer < 0)
		return outer;
	if (!aggregate__pay(a, 2 * sizeof(ours) + 3 * sizeof(struct map_entry)))
		return -ENOSPC;
	ours = arena__alloc(&a->arena, sizeof(*ours));
	if (!ours)
		return -ENOSPC;
	*ours = *call;
	ours->outer = outer ? a->calls[outer - 1] : NULL;
	ours->name = aggregate__text(a, call->name);
	ours->request = call->request ? aggregate__text(a, call->request) : NULL;
	if (!ours->name)
		return -ENOSPC;
	if (array__room(&a->calls, a->ncalls, &a->calls_cap, sizeof(*a->calls)) ||
	    map__put(&a->call_ids, call->id, 0, number(a->ncalls + 1)))
		return -ENOMEM;
	a->calls[a->ncalls] = ours;
	return (long)++a->ncalls;
}

void aggregate__learn(struct aggregate *a, const struct profile_call *call)
{
	size_t n = (size_t)(uintptr_t)map__get(&a->call_ids, call->id, 0);
	struct profile_call *ours = n ? a->calls[n - 1] : NULL;

	if (!ours)
		return;
	if (call->request && !ours->request)
		ours->request = aggregate__text(a, call->request);
	ours->began = call->began;
	ours->ended = call->ended;
	ours->seen = call->seen;
	ours->error = call->error;
	ours->ambiguous = call->ambiguous;
}

struct profile_call *const *aggregate__calls(const struct aggregate *a, size_t *n)
{
	*n = a->ncalls;
	return a->calls;
}

#define KIND_OF_CALL  (1ULL << 63) /* no sample type is so large */
#define KIND_OF_GIVEN (1ULL << 62)

/* The number of two that belong together, from 1 on; negative: an error. */
static long aggregate__kind(struct aggregate *a, uint64_t first, uint64_t second)
{
	size_t kind = (size_t)(uintptr_t)map__get(&a->kinds, first, second);

	if (kind)
		return (long)kind;
	if (!aggregate__pay(a, 4 * sizeof(struct map_entry)))
		return -ENOSPC;
	kind = a->kinds.count + 1;
	return map__put(&a->kinds, first, second, number(kind)) ? -ENOMEM : (long)kind;
}

/* A copy of the labels of @s, number @number; NULL: no room. */
static struct profile_given *given__copy(struct aggregate *a, const struct sample *s,
					 uint32_t number)
{
	struct profile_given *given = arena__alloc(&a->arena, sizeof(*given));
	bool known = given;

	if (known)
		*given = (struct profile_given){.number = number};
	for (size_t i = 0; known && i < s->nlabels && i < XR_LABELS_MAX; i++) {
		given->labels[i].key = aggregate__text(a, s->labels[i].key);
		given->labels[i].value = aggregate__text(a, s->labels[i].value);
		given->n = i + 1;
		known = given->labels[i].key && given->labels[i].value;
	}
	return known ? given : NULL;
}

/* The labels of @s, added if they are new; NULL: none, or they do not fit. */
static const struct profile_given *aggregate__given(struct aggregate *a, const struct sample *s)
{
	uint64_t first = 0, second = s->nlabels;
	struct profile_given *given;

	if (!a->config.given || !s->nlabels)
		return NULL;
	for (size_t i = 0; i < s->nlabels && i < XR_LABELS_MAX; i++) {
		const struct profile_label *l = &s->labels[i];

		first = map__hash(first, map__hash_bytes(l->key, strlen(l->key)));
		second = map__hash(second ^ first, map__hash_bytes(l->value, strlen(l->value)));
	}
	given = map__get(&a->given, first, second);
	if (given)
		return given;
	if (a->given.count == GIVEN_MAX || !aggregate__pay(a, 3 * sizeof(struct map_entry)))
		return NULL;
	given = given__copy(a, s, (uint32_t)a->given.count + 1);
	return given && !map__put(&a->given, first, second, given) ? given : NULL;
}

/* The key of the samples like @s of @p; -ENOMEM, -ENOSPC. */
static int aggregate__key(struct aggregate *a, const struct profile_process *p,
			  const struct sample *s, struct row_key *key)
{
	long process = aggregate__process_index(a, p), call = 0, kind;

	if (process < 0)
		return (int)process;
	if (a->config.calls && s->call)
		call = aggregate__call_index(a, s->call);
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

int aggregate__add(struct aggregate *a, const struct profile_process *p, const struct sample *s)
{
	const struct stack *stack;
	struct row_key key = {0};
	size_t n;
	int err;

	err = aggregate__key(a, p, s, &key);
	if (err)
		return err;
	n = (size_t)(uintptr_t)map__get(&a->seen, s->stack->id, key.number);
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
		if (map__put(&a->seen, s->stack->id, key.number, number(n)))
			return -ENOMEM;
	}
	a->unlabelled += a->config.given && s->nlabels && !key.given && type__counts(s->type);
	row__count(a, n, s);
	return 0;
}

void aggregate__drop(struct aggregate *a, const struct profile_process *p, const struct sample *s)
{
	const uint32_t type = s->type < PROFILE_TYPES_MAX ? s->type : 0;
	size_t *none = &a->none[type];
	long process;

	a->dropped += type__counts(s->type);
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

const struct profile_process *aggregate__processes(const struct aggregate *a, size_t *n)
{
	*n = a->nprocesses;
	return a->processes;
}

const char *aggregate__label(const struct aggregate *a, const struct aggregate_row *row,
			     const char *key)
{
	const char *value =
		row->given ? labels__value(row->given->labels, row->given->n, key) : NULL;

	return value ? value : process__label(&a->processes[row->process], key);
}

uint64_t aggregate__unlabelled(const struct aggregate *a)
{
	return a->unlabelled;
}

const struct timeline *aggregate__timeline(const struct aggregate *a)
{
	return a->timeline.n ? &a->timeline : NULL;
}

int aggregate__know(struct aggregate *a, const struct profile_process *p)
{
	long i = aggregate__process_index(a, p);

	return i < 0 ? (int)i : aggregate__describe(a, &a->processes[i], p);
}

void aggregate__update(struct aggregate *a, const struct profile_process *p)
{
	size_t n = (size_t)(uintptr_t)map__get(&a->serials, p->serial, 0);

	for (; n; n = (size_t)(uintptr_t)map__get(&a->serials, p->serial, n))
		aggregate__describe(a, &a->processes[n - 1], p);
}

const struct profile_process *aggregate__process(const struct aggregate *a, uint32_t process)
{
	return &a->processes[process];
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
