/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "output/pprof_parts.h"

/* None that go tool pprof knows: it shows the number as it is. */
#define UNIT_STARTED "s since 1970"

/* What the samples of a process, to which the program gave the same labels, have in common. */
struct pprof_labels {
	size_t n;
	size_t thread; /* where that of the thread goes */
	Pprof__Label l[];
};

/* A set that is being made. */
struct pprof_making {
	Pprof__Label l[PPROF_LABELS_MAX];
	size_t n, thread;
};

/* @text, escaped, written once for each address. */
static int pprof__word(struct pprof *p, const char *text, int64_t *string)
{
	int64_t known = map__number(&p->words, (uintptr_t)text, 0);
	int err;

	if (known) {
		*string = known - 1;
		return 0;
	}
	p->text.len = 0;
	err = escape__text(&p->text, text, "\"", LIMIT_NAME);
	if (err >= 0)
		err = pprof__string(p, p->text.data, p->text.len, string);
	return err ? err : map__put_number(&p->words, (uintptr_t)text, 0, *string + 1);
}

/* Does the key say something else, or is it one of pprof's own? */
static bool key__is_taken(const char *key)
{
	return !*key || attribute__by_pprof(key, strlen(key)) ||
	       !strncmp(key, "pprof::", strlen("pprof::"));
}

static int pprof__add(struct pprof *p, struct pprof_making *m, const char *key, const char *value)
{
	Pprof__Label *l = &m->l[m->n];
	int err;

	*l = (Pprof__Label)PPROF__LABEL__INIT;
	err = pprof__word(p, key, &l->key);
	if (!err)
		err = pprof__word(p, value, &l->str);
	m->n += !err;
	return err;
}

/* A label of the attribute @a. */
static int pprof__attribute(struct pprof *p, const struct attribute *a,
			    const struct attribute_value *value, Pprof__Label *l)
{
	int64_t *key = &p->keys[a - attributes];
	int err = 0;

	*l = (Pprof__Label)PPROF__LABEL__INIT;
	if (!*key)
		err = pprof__word(p, a->pprof, key);
	l->key = *key;
	l->num = (int64_t)value->number;
	if (!err && value->text)
		err = pprof__word(p, value->text, &l->str);
	if (!err && a->kind == ATTRIBUTE_TIME)
		err = pprof__word(p, UNIT_STARTED, &l->num_unit);
	if (!err && a->kind >= ATTRIBUTE_NS && a->kind <= ATTRIBUTE_LASTED)
		err = pprof__word(p, "milliseconds", &l->num_unit);
	return err;
}

int pprof__keys(struct pprof *p)
{
	int err = 0;

	for (const struct attribute *a = attributes; a->kind && !err; a++)
		if (a->pprof && !a->described && a->of <= ATTRIBUTE_THREAD)
			err = pprof__text(p, a->pprof, &p->keys[a - attributes]);
	return err;
}

/* Labels of a sample: those before others of the same key count. */
struct pprof_part {
	const struct profile_label *labels;
	size_t n;
};

/* Of each key the first. */
static int pprof__add_all(struct pprof *p, struct pprof_making *m, const struct pprof_part *parts,
			  size_t at)
{
	const struct profile_label *labels = parts[at].labels;
	int err = 0;

	for (size_t i = 0; i < parts[at].n && i < PROFILE_LABELS_MAX && !err; i++) {
		const char *key = labels[i].key;
		bool taken = key__is_taken(key) || labels__value(labels, i, key);

		for (size_t k = 0; k < at && !taken; k++)
			taken = labels__value(parts[k].labels, parts[k].n, key);
		if (!taken)
			err = pprof__add(p, m, key, labels[i].value);
	}
	return err;
}

/* All that the samples of @row's process with the labels of that row have. */
static int pprof__make(struct pprof *p, const struct aggregate_row *row, struct pprof_making *m)
{
	const struct profile_process *process = aggregate__process(p->aggregate, row->process);
	const struct writer_config *config = p->config;
	struct pprof_part parts[] = {
		{row->given ? row->given->labels : NULL, row->given ? row->given->n : 0},
		{process->labels, process->nlabels},
		{config->labels, config->nlabels},
	};
	int err = 0;

	m->n = 0;
	for (const struct attribute *a = attributes; a->kind && !err; a++) {
		const struct attribute_value value = {attribute__text(a, process),
						      attribute__number(a, process)};

		if (a->of == ATTRIBUTE_THREAD)
			m->thread = m->n;
		if (!a->pprof || (a->described && !config->described) ||
		    (!value.text && !value.number))
			continue;
		err = pprof__attribute(p, a, &value, &m->l[m->n++]);
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++)
		err = pprof__add_all(p, m, parts, i);
	return err;
}

static uint64_t given__number(const struct aggregate_row *row)
{
	return row->given ? row->given->number : 0;
}

/* The labels of @row's process, made if there are none yet; NULL: *@err. */
static struct pprof_labels *pprof__of_process(struct pprof *p, const struct aggregate_row *row,
					      int *err)
{
	struct pprof_labels *labels = map__get(&p->labels, row->process, given__number(row));
	struct pprof_making making;

	if (labels)
		return labels;
	*err = pprof__make(p, row, &making);
	if (*err)
		return NULL;
	labels = arena__alloc(&p->arena, sizeof(*labels) + making.n * sizeof(labels->l[0]));
	if (!labels || map__put(&p->labels, row->process, given__number(row), labels)) {
		*err = -ENOMEM;
		return NULL;
	}
	labels->n = making.n;
	labels->thread = making.thread;
	memcpy(labels->l, making.l, making.n * sizeof(labels->l[0]));
	return labels;
}

static int row_labels__add(struct pprof *p, struct pprof_row_labels *labels,
			   const struct attribute *a, const struct attribute_value *value)
{
	Pprof__Label *l = &labels->of_sample[labels->nof_sample++];

	labels->all[labels->n++] = l;
	return pprof__attribute(p, a, value, l);
}

/* The labels of each call, from the outermost on: the same keys again. */
static int pprof__calls(struct pprof *p, const struct profile_call *call,
			struct pprof_row_labels *labels)
{
	const struct profile_call *calls[PPROF_CALLS];
	struct attribute_value value;
	uint32_t n = 0, depth = 0;
	int err = 0;

	for (const struct profile_call *c = call; c; c = c->outer)
		depth++;
	for (; call; call = call->outer)
		if (depth-- <= PPROF_CALLS)
			calls[n++] = call;
	while (n-- && !err)
		for (const struct attribute *a = attributes; a->kind && !err; a++)
			if (call__value(a, &p->config->about, calls[n], &value))
				err = row_labels__add(p, labels, a, &value);
	return err;
}

int pprof__labels(struct pprof *p, const struct aggregate_row *row, struct pprof_row_labels *labels)
{
	const struct attribute *a = attributes;
	struct attribute_value value;
	struct pprof_labels *of;
	int err = 0;

	of = pprof__of_process(p, row, &err);
	if (!of)
		return err;
	labels->n = 0;
	labels->nof_sample = 0;
	for (size_t i = 0; i < of->thread; i++)
		labels->all[labels->n++] = &of->l[i];
	for (; a->kind && !err; a++) {
		if (a->of != ATTRIBUTE_CALL && row__value(a, &p->config->about, row, &value))
			err = row_labels__add(p, labels, a, &value);
		for (size_t i = of->thread; a->of == ATTRIBUTE_THREAD && i < of->n; i++)
			labels->all[labels->n++] = &of->l[i];
	}
	return err ? err : pprof__calls(p, row->call, labels);
}
