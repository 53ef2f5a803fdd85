/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "os/os.h"

#define SHOW_NS	      (500 * NS_PER_MS)
#define STDERR	      2
#define NAMES	      64u /* functions that are told apart */
#define NAME_LEN      64u /* bytes of their names that are shown */
#define COLUMNS_LEAST 20u

/*
 * The heaviest functions of a stream, by Misra and Gries: a new one takes a free place.  Without
 * one, its weight and the count of each place are lowered until one of them is 0.  So a function
 * with more than 1/NAMES of all is always among them.
 */
struct busy {
	uint64_t hash;
	uint64_t count; /* 0: free */
	char name[NAME_LEN];
};

struct progress {
	struct sink to;
	struct busy busy[NAMES];
	uint64_t ticks; /* of all samples that are counted in them */
	uint64_t shown_at;
	bool shown;
};

int progress__new(struct progress **out, struct sink to)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->to = to;
	return 0;
}

void progress__free(struct progress *p)
{
	free(p);
}

static void busy__count(struct progress *p, const struct name *name, uint64_t weight)
{
	struct busy *free_place = NULL;
	uint64_t least = weight;

	for (size_t i = 0; i < NAMES; i++) {
		struct busy *b = &p->busy[i];

		if (!b->count) {
			free_place = b;
		} else if (b->hash == name->hash) {
			b->count += weight;
			return;
		} else if (b->count < least) {
			least = b->count;
		}
	}
	if (free_place) {
		*free_place = (struct busy){.hash = name->hash, .count = weight};
		snprintf(free_place->name, sizeof(free_place->name), "%s", name->safe);
		return;
	}
	for (size_t i = 0; i < NAMES; i++)
		p->busy[i].count -= least;
	if (weight > least)
		busy__count(p, name, weight - least);
}

static const struct busy *progress__busiest(const struct progress *p)
{
	const struct busy *most = NULL;

	for (size_t i = 0; i < NAMES; i++)
		if (p->busy[i].count && (!most || p->busy[i].count > most->count))
			most = &p->busy[i];
	return most;
}

static int progress__sample(void *arg, const struct profile_process *process,
			    const struct sample *s)
{
	struct progress *p = arg;

	/* others have other units */
	if (s->type == PROFILE_TYPE_TICKS) {
		p->ticks += s->weight;
		if (s->stack->nframes)
			busy__count(p, s->stack->frames[0]->function, s->weight);
	}
	return sink__sample(&p->to, process, s);
}

struct sink progress__sink(struct progress *p)
{
	static const struct sink_ops ops = {
		.sample = progress__sample,
	};

	return (struct sink){&ops, p, &p->to};
}

bool progress__due(const struct progress *p, uint64_t now)
{
	return p && now - p->shown_at >= SHOW_NS;
}

/* Cut @line to @columns characters, each of them one column wide at least. */
static void line__cut(char *line, unsigned int columns)
{
	size_t at = 0, len;

	for (unsigned int n = 0; n < columns && line[at]; n++) {
		len = utf8__length(line + at);
		at += len ? len : 1;
	}
	line[at] = '\0';
}

void progress__line(const struct progress *p, const struct stats *stats, unsigned int columns,
		    char *line, size_t size)
{
	const struct busy *busiest = progress__busiest(p);
	double rate = stats->seconds > 0 ? (double)stats->written / stats->seconds : 0;
	int len;

	len = snprintf(line, size,
		       "%.0f s, %" PRIu64 " %s of %" PRIu64 " %s, %.0f a second, "
		       "%" PRIu64 " lost",
		       stats->seconds, stats->written,
		       count__word(stats->written, "sample", "samples"), stats->processes,
		       count__word(stats->processes, "process", "processes"), rate, stats->lost);
	if (busiest && len > 0 && (size_t)len < size)
		snprintf(line + len, size - (size_t)len, ", %.0f %% in %s",
			 100 * (double)busiest->count / (double)p->ticks, busiest->name);
	utf8__tame(line);
	line__cut(line, columns < COLUMNS_LEAST ? COLUMNS_LEAST : columns - 1);
}

void progress__clear(struct progress *p)
{
	/* back to the first column, and erase to the end of the line (ECMA-48) */
	static const char clear[] = "\r\033[K";

	if (!p || !p->shown)
		return;
	log__put(clear, sizeof(clear) - 1);
	p->shown = false;
}

void progress__show(struct progress *p, const struct stats *stats, uint64_t now)
{
	char line[512];
	unsigned int columns = os__columns(STDERR);

	if (!p || !columns)
		return;
	progress__line(p, stats, columns, line, sizeof(line));
	progress__clear(p);
	log__put(line, strlen(line));
	p->shown = true;
	p->shown_at = now;
}
