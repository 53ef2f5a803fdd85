/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "cmd/linux/top_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NONE UINT32_MAX

void top_view__init(struct top_view *v, struct top_model *m)
{
	*v = (struct top_view){.model = m, .page = 1};
}

void top_view__free(struct top_view *v)
{
	free(v->lines);
	v->lines = NULL;
	v->nlines = v->cap = 0;
	free(v->processes);
	v->processes = NULL;
	v->nprocesses = v->processes_cap = 0;
}

static int process__busiest(const void *a, const void *b)
{
	const struct top_process *x = a, *y = b;

	if (x->cpu < y->cpu || x->cpu > y->cpu)
		return x->cpu < y->cpu ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int view__processes(struct top_view *v)
{
	const struct top_model *m = v->model;

	if (array__room(&v->processes, m->nprocesses, &v->processes_cap, sizeof(*v->processes)))
		return -ENOMEM;
	v->nprocesses = m->nprocesses;
	if (!v->nprocesses)
		return 0;
	memcpy(v->processes, m->processes, v->nprocesses * sizeof(*v->processes));
	qsort(v->processes, v->nprocesses, sizeof(*v->processes), process__busiest);
	return 0;
}

static void view__sort(struct top_view *v)
{
	for (size_t i = 0; i < v->nlines; i++) {
		struct top_line *line = &v->lines[i];

		line->order.key[v->by_total] = (double)line->self;
		line->order.key[!v->by_total] = (double)line->total;
	}
	if (v->nlines)
		qsort(v->lines, v->nlines, sizeof(*v->lines), function_line__compare);
}

static uint32_t view__selected(const struct top_view *v)
{
	return v->selected < v->nlines ? v->lines[v->selected].order.row : NONE;
}

static bool view__passes(const struct top_view *v, const struct function_row *f)
{
	return f->total[0] && (!v->filter[0] || strcasestr(f->label, v->filter));
}

/* The lines, of what the model counted last. */
static int view__list(struct top_view *v)
{
	const uint32_t selected = view__selected(v);
	const struct function_table *functions = &v->model->functions;

	v->nlines = 0;
	for (uint32_t i = 0; i < functions->n; i++) {
		const struct function_row *row = &functions->rows[i];

		if (!view__passes(v, row))
			continue;
		if (array__room(&v->lines, v->nlines, &v->cap, sizeof(*v->lines)))
			return -ENOMEM;
		v->lines[v->nlines++] = (struct top_line){
			.order.row = i,
			.self = row->self[0],
			.total = row->total[0],
		};
	}
	view__sort(v);
	/* the first line is where the selection is at first: it stays there */
	for (size_t i = 0; i < v->nlines && v->selected && selected != NONE; i++)
		if (v->lines[i].order.row == selected)
			v->selected = i;
	if (v->selected >= v->nlines)
		v->selected = v->nlines ? v->nlines - 1 : 0;
	return 0;
}

static int view__callers(struct top_view *v)
{
	const struct function_table *functions = &v->model->functions;
	int count;

	v->of_total = v->of < functions->n ? functions->rows[v->of].total[0] : 0;
	count = top_callers__of(v->model, &v->scope, v->of, v->callers);
	v->ncallers = count < 0 ? 0 : (size_t)count;
	if (v->first_caller >= v->ncallers)
		v->first_caller = 0;
	return count < 0 ? count : 0;
}

/* Functions are others when counting restarted: what was chosen among them is void. */
static void view__forget(struct top_view *v)
{
	v->selected = 0;
	v->nlines = 0;
	if (v->pane == TOP_CALLERS)
		v->pane = TOP_FUNCTIONS;
}

/* Have it counted again, paused or not: what is asked for is another. */
static int view__renew(struct top_view *v)
{
	uint32_t restarts = v->model->restarts;
	int err;

	if (restarts != v->restarts)
		view__forget(v);
	v->restarts = restarts;
	v->samples = top_model__count(v->model, &v->scope);
	v->seconds = top_model__seconds(v->model, v->scope.since);
	err = view__list(v);
	if (!err && v->pane == TOP_CALLERS)
		err = view__callers(v);
	return err;
}

int top_view__update(struct top_view *v)
{
	int err = view__processes(v);

	/* paused, but what is shown is of functions that are no more */
	if (err || (v->paused && v->model->restarts == v->restarts))
		return err;
	return view__renew(v);
}

/* By @lines, down or up. */
static void view__move(struct top_view *v, long lines)
{
	size_t *at = &v->selected, n = v->nlines;
	long to;

	if (v->pane == TOP_CALLERS) {
		at = &v->first_caller;
		n = v->ncallers;
	} else if (v->pane == TOP_DUMP) {
		at = &v->first_dump_line;
		n = v->dump_lines;
	}
	to = (long)*at + lines;
	if (to >= (long)n)
		to = (long)n - 1;
	*at = to < 0 ? 0 : (size_t)to;
}

/* Of that process alone, of the next one, and in the end of all. */
static void view__next_process(struct top_view *v)
{
	size_t i = 0;

	while (v->scope.serial && i < v->nprocesses && v->processes[i].serial != v->scope.serial)
		i++;
	i += v->scope.serial != 0;
	v->scope.serial = i < v->nprocesses ? v->processes[i].serial : 0;
}

static int view__type(struct top_view *v, int key)
{
	size_t len = strlen(v->filter);

	switch (key) {
	case TOP_KEY_ENTER:
		v->typing = false;
		return 0;
	case TOP_KEY_ESCAPE:
		v->typing = false;
		v->filter[0] = '\0';
		break;
	case TOP_KEY_BACKSPACE:
		/* a whole character: bytes that continue one, and its first byte (RFC 3629) */
		while (len && (v->filter[--len] & 0xc0) == 0x80)
			;
		v->filter[len] = '\0';
		break;
	default:
		if (key < ' ' || key > 0xff || key == 0x7f || len + 1 >= sizeof(v->filter))
			return 0;
		v->filter[len] = (char)key;
		v->filter[len + 1] = '\0';
	}
	return view__list(v);
}

static int view__open_callers(struct top_view *v)
{
	if (v->selected >= v->nlines)
		return 0;
	v->of = v->lines[v->selected].order.row;
	v->first_caller = 0;
	v->pane = TOP_CALLERS;
	return view__callers(v);
}

/* Of the process that is chosen, else of the busiest. */
static void view__open_dump(struct top_view *v)
{
	size_t i = 0;

	while (v->scope.serial && i < v->nprocesses && v->processes[i].serial != v->scope.serial)
		i++;
	if (i >= v->nprocesses)
		return;
	v->dump_pid = v->processes[i].pid;
	v->dumps++;
	v->pane = TOP_DUMP;
	v->first_dump_line = 0;
	top_view__dump(v, NULL);
}

void top_view__dump(struct top_view *v, const struct buf *text)
{
	v->dump = text;
	v->dump_lines = 0;
	for (size_t i = 0; text && i < text->len; i++)
		v->dump_lines += text->data[i] == '\n';
}

/* Keys that move in what is shown, or lead from one pane to another.  Returns whether it is one. */
static bool view__navigate(struct top_view *v, int key, int *err)
{
	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		view__move(v, -1);
		return true;
	case TOP_KEY_DOWN:
	case 'j':
		view__move(v, 1);
		return true;
	case TOP_KEY_PAGE_UP:
		view__move(v, -(long)v->page);
		return true;
	case TOP_KEY_PAGE_DOWN:
		view__move(v, (long)v->page);
		return true;
	case TOP_KEY_HOME:
		view__move(v, -(long)INT32_MAX);
		return true;
	case TOP_KEY_END:
		view__move(v, INT32_MAX);
		return true;
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		v->pane = TOP_FUNCTIONS;
		return true;
	case TOP_KEY_ENTER:
		if (v->pane == TOP_FUNCTIONS)
			*err = view__open_callers(v);
		else
			v->pane = TOP_FUNCTIONS;
		return true;
	case 'd':
		view__open_dump(v);
		return true;
	case 'h':
	case '?':
		v->pane = v->pane == TOP_HELP ? TOP_FUNCTIONS : TOP_HELP;
		return true;
	}
	return false;
}

int top_view__key(struct top_view *v, int key)
{
	int err = 0;

	if (v->typing)
		return view__type(v, key);
	if (view__navigate(v, key, &err))
		return err;
	switch (key) {
	case 'q':
		return 1;
	case 's':
	case 't':
		v->by_total = key == 't';
		return view__list(v);
	case 'w':
		v->scope.since = !v->scope.since;
		break;
	case 'f':
		v->scope.fold = !v->scope.fold;
		break;
	case 'c':
		v->scope.merge = !v->scope.merge;
		break;
	case 'v':
		v->scope.type = top_model__next_type(v->model, v->scope.type);
		break;
	case 'n':
	case TOP_KEY_TAB:
		view__next_process(v);
		break;
	case 'p':
	case ' ':
		v->paused = !v->paused;
		return top_view__update(v);
	case 'r':
		top_model__reset(v->model);
		view__forget(v);
		break;
	case '/':
		v->pane = TOP_FUNCTIONS;
		v->typing = true;
		return 0;
	default:
		return 0;
	}
	return view__renew(v);
}
