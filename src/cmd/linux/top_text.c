/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "cmd/linux/top_text.h"

#include <stdarg.h>
#include <string.h>

#include "base/escape.h"
#include "base/version.h"
#include "cmd/value_text.h"
#include "os/linux/columns.h"

#define NARROW	    60u	      /* columns: below, shares alone */
#define WIDE	    INT16_MAX /* no terminal: as much as there is */
#define COMMAND_MAX 512u      /* bytes of a command line, escaped */
#define INDENT_MAX  40u
#define NUMBER	    8 /* columns of a number, at least */

/* Append what of @line fits, unless @err; @line is freed. */
static int line__fit(struct buf *b, struct buf *line, unsigned int width, int err)
{
	err = err ? err : buf__add(line, "", 1);
	err = err ? err : columns__fit(b, line->data, width, false);
	buf__free(line);
	return err;
}

/* What printf makes of @fmt, as much as fits. */
__attribute__((format(printf, 3, 4))) static int text__line(struct buf *b, unsigned int width,
							    const char *fmt, ...)
{
	struct buf line = {0};
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = buf__vprintf(&line, fmt, ap);
	va_end(ap);
	return line__fit(b, &line, width, err);
}

int top_text__title(struct buf *b, const struct top_view *v, const char *clock, unsigned int width)
{
	const struct profile_about *about = &v->model->about;
	const char *paused = v->paused ? " - PAUSED" : "";

	if (!about->engine)
		return text__line(b, width, "%s top - %s", XR_PROGRAM, clock);
	if (about->no_ticks)
		return text__line(b, width, "%s top - %s, %s, at %s%s", XR_PROGRAM, clock,
				  about->engine, about->event, paused);
	return text__line(b, width, "%s top - %s, %s, %s clock, %u Hz%s", XR_PROGRAM, clock,
			  about->engine, about->clock, about->freq, paused);
}

int top_text__counts(struct buf *b, const struct top_view *v, const struct stats *st,
		     unsigned int width)
{
	double rate = st->seconds > 0 ? (double)st->written / st->seconds : 0;

	return text__line(
		b, width, "%llu %s in %.1f s, %.1f a second; %llu lost%s",
		(unsigned long long)st->written, count__word(st->written, "sample", "samples"),
		st->seconds, rate, (unsigned long long)(st->lost + st->unreadable),
		v->model->restarts ? "; memory was full, counting restarted (--max-memory)" : "");
}

int top_text__verdict(struct buf *b, const struct top_view *v, unsigned int width)
{
	struct buf line = {0}, safe = {0};
	int err = top_model__verdict(v->model, &line);

	err = err ? err : buf__add(&line, "", 1);
	/* it has the name of a process in it */
	if (!err)
		err = escape__text(&safe, line.data, "", COMMAND_MAX);
	buf__free(&line);
	return line__fit(b, &safe, width, err < 0 ? err : 0);
}

/* A command without the folder of its program. */
static const char *command__short(const char *command)
{
	size_t word = strcspn(command, " ");
	const char *slash = memrchr(command, '/', word);

	return slash ? slash + 1 : command;
}

int top_text__process_head(struct buf *b, unsigned int width)
{
	return text__line(b, width, "%7s %6s %8s  %s", "PID", "CPU%", "SAMPLES", "COMMAND");
}

int top_text__process(struct buf *b, const struct top_process *p, unsigned int width)
{
	const char *command = p->command && *p->command ? command__short(p->command) : p->comm;
	struct buf safe = {0};
	int err;

	err = escape__text(&safe, command, "", COMMAND_MAX);
	err = err < 0 ? err : buf__add(&safe, "", 1);
	if (!err)
		err = text__line(b, width, "%7u %6.1f %8llu  %s%s", p->pid, 100 * p->cpu,
				 (unsigned long long)p->samples, p->ended ? "(ended) " : "",
				 safe.data);
	buf__free(&safe);
	return err;
}

int top_text__calls_head(struct buf *b, const struct top_view *v, bool ended, unsigned int width)
{
	const struct top_calls *c = &v->model->calls;

	if (ended)
		return text__line(b, width,
				  "%7s %9s  SLOWEST CALLS OF THE LAST MINUTE (%llu ended)", "PID",
				  "LASTED", (unsigned long long)c->ended);
	return text__line(b, width, "%7s %9s  CALLS IN PROGRESS (%zu)", "PID", "FOR", c->nrunning);
}

int top_text__call(struct buf *b, const struct top_view *v, const struct top_call *call,
		   unsigned int width)
{
	char lasted[VALUE_TEXT];
	struct buf safe = {0};
	int err;

	value__text(lasted, PROFILE_NANOSECONDS, top_call__ns(&v->model->calls, call));
	err = escape__text(&safe, call->name, "", COMMAND_MAX);
	if (err >= 0 && *call->request) {
		err = buf__str(&safe, " ");
		err = err ? err : escape__text(&safe, call->request, "", COMMAND_MAX);
	}
	err = err < 0 ? err : buf__add(&safe, "", 1);
	if (!err)
		err = text__line(b, width, "%7u %9s%s %s", call->pid, lasted, call->cut ? "+" : " ",
				 safe.data);
	buf__free(&safe);
	return err;
}

static struct profile_type view__type_of(const struct top_view *v)
{
	return about__type(&v->model->about, v->scope.type);
}

/* Are there several sample types to tell apart? */
static bool view__several(const struct top_view *v)
{
	return top_model__next_type(v->model, v->scope.type) != v->scope.type;
}

int top_text__scope(struct buf *b, const struct top_view *v, unsigned int width)
{
	const struct profile_type type = view__type_of(v);
	const struct top_process *of = NULL;
	char value[VALUE_TEXT];
	struct buf line = {0};
	int err;

	for (size_t i = 0; i < v->nprocesses; i++)
		if (v->processes[i].serial == v->scope.serial)
			of = &v->processes[i];
	value__text(value, type.unit, v->samples);
	err = buf__printf(&line, "%s %s %s %.0f s", value,
			  v->scope.type ? value__called(type) : "samples",
			  v->scope.since ? "in all," : "in the last", v->seconds);
	if (!err && v->scope.serial)
		err = of ? buf__printf(&line, ", of process %u", of->pid)
			 : buf__str(&line, ", of a process that has ended");
	if (!err && v->scope.fold)
		err = buf__str(&line, ", wrappers folded");
	if (!err && v->scope.merge)
		err = buf__str(&line, ", recursion collapsed");
	if (!err && v->filter[0]) {
		err = buf__str(&line, ", with \"");
		err = err ? err : escape__text(&line, v->filter, "", TOP_FILTER_MAX * 4);
		err = err < 0 ? err : buf__str(&line, "\"");
	}
	return line__fit(b, &line, width, err);
}

/* Columns for a number that is part of all of them: counts of what is frequent have many digits. */
static int view__number(const struct top_view *v)
{
	char value[VALUE_TEXT];
	int len;

	value__text(value, view__type_of(v).unit, v->samples);
	len = (int)strlen(value);
	return len > NUMBER ? len : NUMBER;
}

int top_text__function_head(struct buf *b, const struct top_view *v, unsigned int width)
{
	const char *self = v->by_total ? "SELF%" : "*SELF%";
	const char *total = v->by_total ? "*TOTAL%" : "TOTAL%";

	const char *by = view__several(v) ? " by " : "";
	const char *called = view__several(v) ? value__called(view__type_of(v)) : "";
	const int number = view__number(v);

	if (width < NARROW)
		return text__line(b, width, "%6s %7s  FUNCTION%s%s", self, total, by, called);
	return text__line(b, width, "%6s %7s %*s %*s  FUNCTION%s%s", self, total, number, "SELF",
			  number, "TOTAL", by, called);
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static const char *view__label(const struct top_view *v, uint32_t function)
{
	const struct function_table *functions = &v->model->functions;

	return function < functions->n ? functions->rows[function].label : "";
}

int top_text__function(struct buf *b, const struct top_view *v, const struct top_line *line,
		       unsigned int width)
{
	const char *label = view__label(v, line->order.row);
	double self = share(line->self, v->samples), total = share(line->total, v->samples);
	char own[VALUE_TEXT], whole[VALUE_TEXT];
	const int number = view__number(v);

	if (width < NARROW)
		return text__line(b, width, "%6.1f %7.1f  %s", self, total, label);
	value__text(own, view__type_of(v).unit, line->self);
	value__text(whole, view__type_of(v).unit, line->total);
	return text__line(b, width, "%6.1f %7.1f %*s %*s  %s", self, total, number, own, number,
			  whole, label);
}

int top_text__callers_head(struct buf *b, const struct top_view *v, unsigned int width)
{
	const char *what = v->scope.type ? value__called(view__type_of(v)) : "the time";

	return text__line(b, width, "%6.1f%% of %s in, or below, %s; called by:",
			  share(v->of_total, v->samples), what, view__label(v, v->of));
}

int top_text__caller(struct buf *b, const struct top_view *v, const struct top_caller *caller,
		     unsigned int width)
{
	unsigned int indent = 2 * (caller->depth - 1);

	return text__line(b, width, "%6.1f%%  %*s%s", share(caller->samples, v->of_total),
			  (int)(indent < INDENT_MAX ? indent : INDENT_MAX), "",
			  view__label(v, caller->function));
}

const char *top_text__help(size_t i)
{
	static const char *const lines[] = {
		"s t        sort by self, by total",
		"w          the last seconds, or everything since the start",
		"f          hide wrappers: tryCatch, lapply, eval ...",
		"c          collapse recursion among the callers of a function",
		"/          show functions with this text (Escape: all)",
		"v          next sample type: CPU time, waiting, memory, events",
		"n Tab      next process only; after the last one, all",
		"Up Down    select a function; also j k, PgUp, PgDn, Home, End",
		"Enter      callers of the function, heaviest first; Escape: back",
		"d          stack of the process now, of the busiest if n chose none; Escape: back",
		"p Space    pause the display; sampling continues",
		"r          restart counting",
		"h ?        this",
		"q          quit",
		"",
		"SELF%   share of samples in which it was the innermost function",
		"TOTAL%  share of samples with it anywhere in the stack",
		"CPU%    of one CPU, in the last second",
	};

	return i < sizeof(lines) / sizeof(lines[0]) ? lines[i] : NULL;
}

const char *top_text__keys(const struct top_view *v)
{
	switch (v->pane) {
	case TOP_HELP:
		return "h back  q quit";
	case TOP_CALLERS:
		return "Esc back  Up Down scroll  w since  f fold  c collapse recursion  q quit";
	case TOP_DUMP:
		return "Esc back  d again  Up Down scroll  q quit";
	case TOP_FUNCTIONS:
		break;
	}
	return view__several(v)
		       ? "q quit  h help  v sample type  s self  t total  / filter  Enter callers  "
			 "w since  f fold"
		       : "q quit  h help  s self  t total  / filter  Enter callers  w since  f fold"
			 "  p pause";
}

static int text__newline(struct buf *b, int err)
{
	return err ? err : buf__str(b, "\n");
}

static int text__calls(struct buf *b, const struct top_view *v, bool ended)
{
	const struct top_call *calls[TOP_CALLS_SHOWN];
	const size_t n = top_calls__shown(&v->model->calls, ended, calls);
	int err = text__newline(b, top_text__calls_head(b, v, ended, WIDE));

	for (size_t i = 0; i < n && !err; i++)
		err = text__newline(b, top_text__call(b, v, calls[i], WIDE));
	return err;
}

int top_text__all(struct buf *b, const struct top_view *v, const struct stats *st,
		  const char *clock, size_t functions)
{
	size_t before;
	int err;

	err = text__newline(b, top_text__title(b, v, clock, WIDE));
	err = err ? err : text__newline(b, top_text__counts(b, v, st, WIDE));
	before = b->len;
	err = err ? err : top_text__verdict(b, v, WIDE);
	if (!err && b->len > before)
		err = buf__str(b, "\n");
	err = err ? err : text__newline(b, top_text__process_head(b, WIDE));
	for (size_t i = 0; i < v->nprocesses && !err; i++)
		err = text__newline(b, top_text__process(b, &v->processes[i], WIDE));
	for (int ended = 0; v->calls && ended < 2 && !err; ended++)
		err = text__calls(b, v, ended);
	err = err ? err : text__newline(b, top_text__scope(b, v, WIDE));
	err = err ? err : text__newline(b, top_text__function_head(b, v, WIDE));
	for (size_t i = 0; i < v->nlines && i < functions && !err; i++)
		err = text__newline(b, top_text__function(b, v, &v->lines[i], WIDE));
	return err;
}
