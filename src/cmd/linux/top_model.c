/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/top_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "profile/fold.h"

#define ENDED_NS (5 * NS_PER_S) /* for so long one that ended is shown */

int top_model__new(struct top_model **out, size_t memory, uint32_t window)
{
	/* what other sinks queue and what their files are called is not needed here */
	const struct aggregate_config config = {.max = LIMIT_AGGREGATE(memory)};
	struct top_model *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (!m)
		return -ENOMEM;
	m->budget.max = LIMIT_QUEUE(memory) + LIMIT_FILES(memory);
	m->window = window;
	m->functions.budget = &m->budget;
	m->arena.budget = &m->budget;
	if (aggregate__new(&m->aggregate, &config)) {
		free(m);
		return -ENOMEM;
	}
	*out = m;
	return 0;
}

/* Forget what was counted. */
static void model__clear(struct top_model *m)
{
	aggregate__clear(m->aggregate);
	function_table__free(&m->functions);
	arena__free(&m->arena);
	m->budget.used = 0;
	m->nrows = 0;
	for (size_t i = 0; i < TOP_WINDOW_MAX; i++)
		m->seconds[i].n = 0;
	m->at = m->filled = 0;
	m->full = false;
	m->began = m->second_at = 0;
	for (size_t i = 0; i < m->nprocesses; i++)
		m->processes[i].samples = 0;
}

void top_model__reset(struct top_model *m)
{
	uint64_t now = m->second_at;

	model__clear(m);
	m->began = m->second_at = now;
}

void top_model__free(struct top_model *m)
{
	if (!m)
		return;
	model__clear(m);
	aggregate__free(m->aggregate);
	for (size_t i = 0; i < TOP_WINDOW_MAX; i++)
		free(m->seconds[i].entries);
	map__free(&m->by_serial);
	top_calls__free(&m->calls);
	free(m->rows);
	for (size_t i = 0; i < m->nprocesses; i++)
		free(m->processes[i].command);
	free(m->processes);
	free(m);
}

/* --- the sink --- */

static struct top_process *model__find(const struct top_model *m, uint32_t serial)
{
	size_t n = map__number(&m->by_serial, serial, 0);

	return n ? &m->processes[n - 1] : NULL;
}

/* The process of @p, which is added if it is new; NULL: no memory. */
static struct top_process *model__process(struct top_model *m, const struct profile_process *p)
{
	struct top_process *ours = model__find(m, p->serial);

	if (ours)
		return ours;
	if (array__room(&m->processes, m->nprocesses, &m->processes_cap, sizeof(*ours)))
		return NULL;
	if (map__put_number(&m->by_serial, p->serial, 0, m->nprocesses + 1))
		return NULL;
	ours = &m->processes[m->nprocesses++];
	*ours = (struct top_process){.serial = p->serial, .pid = p->pid};
	cpu_use__look(&ours->use, (pid_t)ours->pid, os__now());
	return ours;
}

static int model__no_memory(struct top_model *m)
{
	return errmsg__set(&m->why, -ENOMEM, "out of memory");
}

static int shown__begin(void *arg, const struct profile_about *about)
{
	struct top_model *m = arg;

	m->about = *about;
	return 0;
}

static int shown__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct top_model *m = arg;
	struct top_process *ours;

	/* one of which nothing was seen */
	if (event == PROFILE_ENDED && !model__find(m, p->serial))
		return 0;
	ours = model__process(m, p);
	if (!ours)
		return model__no_memory(m);
	snprintf(ours->comm, sizeof(ours->comm), "%s", p->comm ? p->comm : "");
	if (event == PROFILE_ENDED)
		ours->ended = true;
	ours->seen = os__now();
	return 0;
}

static int shown__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct top_model *m = arg;
	struct top_process *ours = model__process(m, p);
	int err;

	if (!ours)
		return model__no_memory(m);
	if (p->comm && *p->comm && strncmp(ours->comm, p->comm, sizeof(ours->comm) - 1) != 0)
		snprintf(ours->comm, sizeof(ours->comm), "%s", p->comm);
	ours->seen = s->time;
	if (top_calls__sample(&m->calls, s->call, p->pid))
		return model__no_memory(m);
	if (m->full)
		return 0;
	err = aggregate__add(m->aggregate, p, s);
	if (err == -ENOSPC)
		m->full = true;
	else if (err)
		return model__no_memory(m);
	return 0;
}

static int shown__call(void *arg, const struct profile_process *p, const struct profile_call *call)
{
	struct top_model *m = arg;

	top_calls__call(&m->calls, call, p->pid);
	return 0;
}

static const struct errmsg *shown__why(void *arg)
{
	struct top_model *m = arg;

	return &m->why;
}

struct sink top_model__sink(struct top_model *m)
{
	static const struct sink_ops ops = {
		.begin = shown__begin,
		.process = shown__process,
		.sample = shown__sample,
		.call = shown__call,
		.why = shown__why,
	};

	return (struct sink){.ops = &ops, .arg = m};
}

/* --- rows --- */

const struct stack *top_model__fold(struct stacks *to, uint64_t *last_id, const struct stack *stack)
{
	stacks__init(to, NULL, last_id);
	return fold__stack(to, stack);
}

/* The row of the aggregate's @like; its functions become known.  -ENOMEM, -ENOSPC. */
static int model__add_row(struct top_model *m, const struct aggregate_row *like)
{
	struct stacks temporary = {0};
	const struct stack *folded;
	struct top_row *row;
	uint64_t id = 0;
	long n;

	if (array__room(&m->rows, m->nrows, &m->rows_cap, sizeof(*row)))
		return -ENOMEM;
	row = &m->rows[m->nrows];
	*row = (struct top_row){0};
	if (!budget__take(&m->budget, 2 * sizeof(*row)))
		return -ENOSPC;
	row->functions =
		arena__alloc(&m->arena, (like->stack->nframes + 1) * sizeof(*row->functions));
	if (!row->functions)
		return -ENOSPC;
	folded = top_model__fold(&temporary, &id, like->stack);
	n = folded ? function_table__steps(&m->functions, NULL, like->stack, folded, row->functions)
		   : -ENOMEM;
	stacks__free(&temporary);
	if (n < 0)
		return (int)n;
	row->n = (uint32_t)n;
	m->nrows++;
	return 0;
}

/* --- seconds --- */

/* The process of a row of the aggregate; NULL: it was forgotten. */
static struct top_process *model__of_row(const struct top_model *m, const struct aggregate_row *row)
{
	return model__find(m, aggregate__process(m->aggregate, row->process)->serial);
}

/* What came since the last second was closed.  -ENOMEM, -ENOSPC. */
static int second__fill(struct top_model *m, struct top_second *s)
{
	const struct aggregate_row *rows;
	size_t n;
	int err;

	s->n = 0;
	rows = aggregate__rows(m->aggregate, &n);
	for (size_t i = 0; i < n; i++) {
		struct top_process *p;
		uint64_t more, samples;

		err = i < m->nrows ? 0 : model__add_row(m, &rows[i]);
		if (err)
			return err;
		more = rows[i].value - m->rows[i].counted;
		samples = rows[i].samples - m->rows[i].samples;
		if (!samples && !more)
			continue;
		if (array__room(&s->entries, s->n, &s->cap, sizeof(*s->entries)))
			return -ENOMEM;
		s->entries[s->n++] = (struct top_entry){.row = (uint32_t)i, .value = more};
		m->rows[i].counted = rows[i].value;
		m->rows[i].samples = rows[i].samples;
		p = model__of_row(m, &rows[i]);
		if (p)
			p->samples += rows[i].type ? samples : more;
	}
	return 0;
}

/* Those that ended are forgotten in the end; of the others, what they use. */
static void model__look(struct top_model *m, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->nprocesses; i++) {
		struct top_process *p = &m->processes[i];
		struct cpu_use before = p->use;

		if (p->ended && now > p->seen + ENDED_NS) {
			free(p->command);
			continue;
		}
		if (!p->ended)
			cpu_use__look(&p->use, (pid_t)p->pid, now);
		p->cpu = 0;
		if (!p->ended && p->use.at > before.at)
			p->cpu =
				(double)(p->use.cpu - before.cpu) / (double)(p->use.at - before.at);
		m->processes[kept++] = *p;
	}
	if (kept == m->nprocesses)
		return;
	m->nprocesses = kept;
	map__free(&m->by_serial);
	for (size_t i = 0; i < kept; i++)
		if (map__put_number(&m->by_serial, m->processes[i].serial, 0, i + 1))
			m->nprocesses = i; /* the others come again with their next sample */
}

void top_model__close(struct top_model *m, uint64_t now)
{
	uint32_t next;

	next = m->filled ? (m->at + 1) % m->window : 0;
	if (m->full || second__fill(m, &m->seconds[next])) {
		model__clear(m);
		m->restarts++;
		m->began = now;
		m->second_at = now - NS_PER_S;
	} else {
		m->at = next;
		if (m->filled < m->window)
			m->filled++;
	}
	/* a second is not longer for having been noticed late */
	m->second_at += NS_PER_S;
	if (m->second_at + NS_PER_S <= now || m->second_at > now)
		m->second_at = now;
	model__look(m, now);
	top_calls__second(&m->calls, now);
}

bool top_model__advance(struct top_model *m, uint64_t now)
{
	if (!m->about.engine)
		return false;
	if (!m->began) {
		m->began = m->second_at = now;
		return false;
	}
	if (now < m->second_at + NS_PER_S)
		return false;
	top_model__close(m, now);
	return true;
}
