/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "os/os.h"
#include "output/pprof_parts.h"

/* None that go tool pprof knows: it shows the number as it is. */
#define UNIT_STARTED "s since 1970"

/* What the samples of a process have in common. */
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
	int64_t known = (int64_t)(uintptr_t)map__get(&p->words, (uintptr_t)text, 0);
	int err;

	if (known) {
		*string = known - 1;
		return 0;
	}
	p->text.len = 0;
	err = escape__text(&p->text, text, "\"", LIMIT_NAME);
	if (err >= 0)
		err = pprof__string(p, p->text.data, p->text.len, string);
	return err ? err
		   : map__put(&p->words, (uintptr_t)text, 0, (void *)(uintptr_t)(*string + 1));
}

/* Keys that say something else, or are pprof's own. */
static bool key__is_taken(const char *key)
{
	static const char *const taken[] = {"",	       "pid",	    "process",
					    "thread",  "container", "r_version",
					    "started", "state",	    "syscall"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(key, taken[i]))
			return true;
	return !strncmp(key, "pprof::", strlen("pprof::"));
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

/* Of each key the first. */
static int pprof__add_all(struct pprof *p, struct pprof_making *m,
			  const struct profile_label *labels, size_t n,
			  const struct aggregate_process *but)
{
	int err = 0;

	if (n > PROFILE_LABELS_MAX)
		n = PROFILE_LABELS_MAX;
	for (size_t i = 0; i < n && !err; i++)
		if (!key__is_taken(labels[i].key) && !labels__value(labels, i, labels[i].key) &&
		    !(but && labels__value(but->labels, but->nlabels, labels[i].key)))
			err = pprof__add(p, m, labels[i].key, labels[i].value);
	return err;
}

static int pprof__describe(struct pprof *p, struct pprof_making *m,
			   const struct aggregate_process *process)
{
	const struct writer_config *config = p->config;
	Pprof__Label *l;
	int err = 0;

	if (config->described && *process->r_version)
		err = pprof__add(p, m, "r_version", process->r_version);
	if (!err && config->described && process->started) {
		l = &m->l[m->n];
		*l = (Pprof__Label)PPROF__LABEL__INIT;
		l->num = (int64_t)(process->started / NS_PER_S);
		err = pprof__word(p, "started", &l->key);
		err = err ? err : pprof__word(p, UNIT_STARTED, &l->num_unit);
		m->n += !err;
	}
	err = err ? err : pprof__add_all(p, m, process->labels, process->nlabels, NULL);
	return err ? err : pprof__add_all(p, m, config->labels, config->nlabels, process);
}

/* All that the samples of the aggregate's process @i have. */
static int pprof__make(struct pprof *p, uint32_t i, struct pprof_making *m)
{
	const struct aggregate_process *process = aggregate__process(p->aggregate, i);
	Pprof__Label *l = m->l;
	int err = 0;

	m->n = 0;
	if (process->pid) {
		l[m->n] = (Pprof__Label)PPROF__LABEL__INIT;
		l[m->n].key = p->pid;
		l[m->n++].num = process->pid;
	}
	if (*process->comm) {
		l[m->n] = (Pprof__Label)PPROF__LABEL__INIT;
		l[m->n].key = p->process;
		err = pprof__word(p, process->comm, &l[m->n++].str);
	}
	m->thread = m->n;
	if (!err && process->container) {
		l[m->n] = (Pprof__Label)PPROF__LABEL__INIT;
		l[m->n].key = p->container;
		err = pprof__name(p, process->container, &l[m->n++].str);
	}
	return err ? err : pprof__describe(p, m, process);
}

/* The labels of process @i, made if there are none yet; NULL: *@err. */
static struct pprof_labels *pprof__of_process(struct pprof *p, uint32_t i, int *err)
{
	struct pprof_labels *labels = map__get(&p->labels, i, 0);
	struct pprof_making making;

	if (labels)
		return labels;
	*err = pprof__make(p, i, &making);
	if (*err)
		return NULL;
	*err = -ENOMEM;
	labels = arena__alloc(&p->arena, sizeof(*labels) + making.n * sizeof(labels->l[0]));
	if (!labels)
		return NULL;
	labels->n = making.n;
	labels->thread = making.thread;
	memcpy(labels->l, making.l, making.n * sizeof(labels->l[0]));
	return map__put(&p->labels, i, 0, labels) ? NULL : labels;
}

/* Why a thread waited, and in which system call. */
static int pprof__wait(struct pprof *p, const struct aggregate_row *row,
		       struct pprof_row_labels *labels)
{
	const char *syscall = row->detail ? os__syscall(row->detail - 1) : NULL;
	int err;

	labels->state = (Pprof__Label)PPROF__LABEL__INIT;
	err = pprof__word(p, "state", &labels->state.key);
	err = err ? err : pprof__word(p, wait__state(row->labels), &labels->state.str);
	labels->all[labels->n++] = &labels->state;
	if (err || !syscall)
		return err;
	labels->syscall = (Pprof__Label)PPROF__LABEL__INIT;
	err = pprof__word(p, "syscall", &labels->syscall.key);
	err = err ? err : pprof__word(p, syscall, &labels->syscall.str);
	labels->all[labels->n++] = &labels->syscall;
	return err;
}

int pprof__labels(struct pprof *p, const struct aggregate_row *row, struct pprof_row_labels *labels)
{
	struct pprof_labels *of;
	int err = 0;

	labels->n = 0;
	of = pprof__of_process(p, row->process, &err);
	if (!of)
		return err;
	for (size_t i = 0; i <= of->n; i++) {
		if (i == of->thread && row->tid) {
			labels->thread = (Pprof__Label)PPROF__LABEL__INIT;
			labels->thread.key = p->thread;
			labels->thread.num = row->tid;
			labels->all[labels->n++] = &labels->thread;
		}
		if (i < of->n)
			labels->all[labels->n++] = &of->l[i];
	}
	return row__waited(row) ? pprof__wait(p, row, labels) : 0;
}
