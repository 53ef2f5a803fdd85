/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the rows of an aggregate are of: processes, calls, and labels that programs gave. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "profile/aggregate_parts.h"
#include "profile/attributes.h"

#define GIVEN_MAX 1000u /* sets of labels, unless the config says; others are left out */

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
	if (!labels || !stacks__labels(&a->stacks, labels, p->labels, n))
		return -ENOSPC;
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
	text = at->size ? aggregate__cut(a, text, at->size) : stacks__text(&a->stacks, text);
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
		ours->directory = stacks__text(&a->stacks, p->directory);
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
long aggregate__process_index(struct aggregate *a, const struct profile_process *p)
{
	const char *comm = p->comm ? p->comm : "";
	size_t n = map__number(&a->serials, p->serial, 0);
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
	if ((n && map__put_number(&a->serials, p->serial, a->nprocesses + 1, n)) ||
	    map__put_number(&a->serials, p->serial, 0, a->nprocesses + 1))
		return -ENOMEM;
	ours = &a->processes[a->nprocesses];
	*ours = (struct profile_process){
		.serial = p->serial, .pid = p->pid, .parent_pid = p->parent_pid, .comm = comm};
	if (a->config.describe) /* what does not fit stays unknown */
		aggregate__describe(a, ours, p);
	return (long)a->nprocesses++;
}

/* The number of a call, which is added if it is new, after those outside of it; negative: an error.
 */
long aggregate__call_index(struct aggregate *a, const struct profile_call *call)
{
	size_t n = map__number(&a->call_ids, call->id, 0);
	struct profile_call *ours;
	long outer = 0;

	/* it went on, and so did those outside of it */
	if (n && call->seen > a->calls[n - 1]->seen)
		for (; call; call = call->outer)
			aggregate__learn(a, call);
	if (n)
		return (long)n;
	if (aggregate__crowded(a))
		return -ENOSPC;
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
	ours->name = stacks__text(&a->stacks, call->name);
	ours->request = stacks__text(&a->stacks, call->request);
	if (!ours->name)
		return -ENOSPC;
	if (array__room(&a->calls, a->ncalls, &a->calls_cap, sizeof(*a->calls)) ||
	    map__put_number(&a->call_ids, call->id, 0, a->ncalls + 1))
		return -ENOMEM;
	a->calls[a->ncalls] = ours;
	return (long)++a->ncalls;
}

void aggregate__learn(struct aggregate *a, const struct profile_call *call)
{
	size_t n = map__number(&a->call_ids, call->id, 0);
	struct profile_call *ours = n ? a->calls[n - 1] : NULL;

	if (ours)
		stacks__learn(&a->stacks, ours, call);
}

struct profile_call *const *aggregate__calls(const struct aggregate *a, size_t *n)
{
	*n = a->ncalls;
	return a->calls;
}

/* A copy of the labels of @s, number @number; NULL: no room. */
static struct profile_given *given__copy(struct aggregate *a, const struct sample *s,
					 uint32_t number)
{
	struct profile_given *given = arena__alloc(&a->arena, sizeof(*given));
	const size_t n = s->nlabels < XR_LABELS_MAX ? s->nlabels : XR_LABELS_MAX;

	if (!given || !stacks__labels(&a->stacks, given->labels, s->labels, n))
		return NULL;
	given->number = number;
	given->n = n;
	return given;
}

/* The labels of @s, added if they are new; NULL: none, or they do not fit. */
const struct profile_given *aggregate__given(struct aggregate *a, const struct sample *s)
{
	const uint32_t max = a->config.sets ? a->config.sets : GIVEN_MAX;
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
	if (a->given.count >= max || !aggregate__pay(a, 3 * sizeof(struct map_entry)))
		return NULL;
	given = given__copy(a, s, (uint32_t)a->given.count + 1);
	return given && !map__put(&a->given, first, second, given) ? given : NULL;
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

int aggregate__know(struct aggregate *a, const struct profile_process *p)
{
	long i = aggregate__process_index(a, p);

	return i < 0 ? (int)i : aggregate__describe(a, &a->processes[i], p);
}

void aggregate__update(struct aggregate *a, const struct profile_process *p)
{
	size_t n = map__number(&a->serials, p->serial, 0);

	for (; n; n = map__number(&a->serials, p->serial, n))
		aggregate__describe(a, &a->processes[n - 1], p);
}

const struct profile_process *aggregate__process(const struct aggregate *a, uint32_t process)
{
	return &a->processes[process];
}
