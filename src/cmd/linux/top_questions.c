/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is asked of the model of `top`: how much of each function, process and stack there is. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/linux/top_model.h"
#include "session/advice.h"

#define COMMAND_MAX 512 /* bytes that are kept */

/* Does row @row count in @scope? */
static bool scope__has(const struct top_model *m, const struct top_scope *scope, uint32_t row)
{
	const struct aggregate_row *rows;
	size_t n;

	rows = aggregate__rows(m->aggregate, &n);
	if (rows[row].type != scope->type)
		return false;
	return !scope->serial ||
	       aggregate__process(m->aggregate, rows[row].process)->serial == scope->serial;
}

/* Each row that has samples in @scope, perhaps more than once. */
static int scope__each(struct top_model *m, const struct top_scope *scope,
		       int (*seen)(struct top_model *m, uint32_t row, uint64_t samples, void *arg),
		       void *arg)
{
	int err = 0;

	for (uint32_t i = 0; i < m->nrows && scope->since && !err; i++)
		if (m->rows[i].counted && scope__has(m, scope, i))
			err = seen(m, i, m->rows[i].counted, arg);
	for (uint32_t i = 0; i < m->filled && !scope->since; i++) {
		const struct top_second *s = &m->seconds[(m->at + m->window - i) % m->window];

		for (size_t k = 0; k < s->n && !err; k++)
			if (scope__has(m, scope, s->entries[k].row))
				err = seen(m, s->entries[k].row, s->entries[k].value, arg);
	}
	return err;
}

static int count__row(struct top_model *m, uint32_t number, uint64_t samples, void *arg)
{
	const struct top_scope *scope = arg;
	const struct top_row *row = &m->rows[number];

	function_table__count(&m->functions, row->functions, row->n, samples, 0, scope->fold);
	return 0;
}

uint64_t top_model__count(struct top_model *m, const struct top_scope *scope)
{
	struct top_scope counted = *scope;

	m->functions.samples[0] = 0;
	for (size_t i = 0; i < m->functions.n; i++)
		m->functions.rows[i].self[0] = m->functions.rows[i].total[0] = 0;
	scope__each(m, scope, count__row, &counted);
	return m->functions.samples[0];
}

struct visit {
	const struct top_scope *scope;
	top_model__seen seen;
	void *arg;
};

static int visit__row(struct top_model *m, uint32_t row, uint64_t samples, void *arg)
{
	const struct visit *v = arg;
	struct stacks temporary = {0};
	const struct aggregate_row *rows;
	const struct stack *stack;
	uint64_t id = 0;
	size_t n;
	int err;

	rows = aggregate__rows(m->aggregate, &n);
	stack = rows[row].stack;
	if (v->scope->fold)
		stack = top_model__fold(&temporary, &id, stack);
	err = stack ? v->seen(v->arg, stack, samples) : -ENOMEM;
	stacks__free(&temporary);
	return err;
}

int top_model__each(struct top_model *m, const struct top_scope *scope, top_model__seen seen,
		    void *arg)
{
	struct visit v = {.scope = scope, .seen = seen, .arg = arg};

	return scope__each(m, scope, visit__row, &v);
}

int top_model__command(struct top_model *m, uint32_t pid, const char *text)
{
	for (size_t i = 0; i < m->nprocesses; i++) {
		struct top_process *p = &m->processes[i];

		if (p->pid != pid || p->command)
			continue;
		p->command = strndup(text, COMMAND_MAX);
		if (!p->command)
			return -ENOMEM;
	}
	return 0;
}

uint32_t top_model__due(const struct top_model *m, uint64_t now, uint32_t max)
{
	uint64_t at = m->second_at + NS_PER_S, ms;

	if (!m->began || now + max * NS_PER_MS <= at)
		return max;
	ms = at > now ? (at - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	return (uint32_t)ms;
}

uint32_t top_model__next_type(const struct top_model *m, uint32_t type)
{
	for (uint32_t i = 1; i <= PROFILE_TYPES_MAX; i++)
		if (about__type(&m->about, (type + i) % PROFILE_TYPES_MAX).name)
			return (type + i) % PROFILE_TYPES_MAX;
	return PROFILE_TYPE_TICKS;
}

uint32_t top_model__find_type(const struct top_model *m, const char *name)
{
	uint32_t i = 0;

	while (i < PROFILE_TYPES_MAX && (!about__type(&m->about, i).name ||
					 strcmp(about__type(&m->about, i).name, name) != 0))
		i++;
	return i;
}

double top_model__seconds(const struct top_model *m, bool since)
{
	double all = m->began ? (double)(m->second_at - m->began) / (double)NS_PER_S : 0;

	return since || all < m->window ? all : m->window;
}

struct verdict_text {
	struct buf *b;
	int err;
};

static void on_verdict(void *arg, enum notes_level level, const char *line)
{
	struct verdict_text *v = arg;

	(void)level;
	v->err = v->err ? v->err : buf__str(v->b, line);
}

int top_model__verdict(const struct top_model *m, struct buf *b)
{
	struct verdict_text text = {.b = b};
	const struct notes notes = {.line = on_verdict, .arg = &text, .lowest = NOTES_USER};
	struct verdict v = {0};
	size_t live = 0;

	/* wall time has the waiting in it, or it can be seen itself, or time was not asked for */
	if (!m->about.clock || strcmp(m->about.clock, "cpu") != 0 || m->about.no_ticks ||
	    about__type(&m->about, PROFILE_TYPE_OFF_CPU).name)
		return 0;
	for (size_t i = 0; i < m->nprocesses; i++)
		live += !m->processes[i].ended;
	for (size_t i = 0; i < m->nprocesses; i++) {
		const struct top_process *p = &m->processes[i];

		if (!p->ended)
			verdict__add(&v, &notes, &p->use, p->pid, p->comm, live == 1);
	}
	verdict__end(&v, &notes);
	return text.err;
}
