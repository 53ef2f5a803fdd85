/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/rprof_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define VALLOC_UNIT 8u /* R counts vectors so, and nodes in bytes */

/* A line that waits: this, then its text. */
struct waiting {
	uint64_t times;
	size_t len;
};

/* Those of a process. */
struct rprof_counts {
	bool begun;	       /* no line waits any more */
	uint64_t since;	       /* time of the first sample, ns */
	struct xr_memory last; /* of the line before */
	struct buf waiting;
};

#define COUNTS_COST (sizeof(struct rprof_counts) + 2 * sizeof(struct map_entry))

/* One line, @times times; @heads go before the first that is not dropped, and are emptied. */
static int memory__write(struct rprof_memory *m, struct xr_memory counts, uint64_t times,
			 struct buf *heads, const char *text, size_t len)
{
	uint64_t lines;
	int err = 0;

	for (; times; times -= lines) {
		lines = output__error(m->out) ? times : 1;
		m->line.len = 0;
		err = buf__printf(&m->line, ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":",
				  (uint64_t)counts.small / VALLOC_UNIT,
				  (uint64_t)counts.large / VALLOC_UNIT, (uint64_t)counts.nodes,
				  (uint64_t)counts.dups);
		if (!err)
			err = buf__add(&m->line, text, len);
		if (err)
			return err;
		output__write(m->out, heads->data, heads->len);
		output__write(m->out, m->line.data, m->line.len);
		err = output__commit(m->out, lines);
		if (!err)
			heads->len = 0;
		counts.dups = 0;
	}
	return err;
}

/* Write what waits, with the counts in `last`. */
static int counts__begin(struct rprof_memory *m, struct rprof_counts *c)
{
	const struct xr_memory counts = {c->last.small, c->last.large, c->last.nodes, 0};
	struct buf none = {0};
	struct waiting w;
	int err = 0;

	for (size_t at = 0; at < c->waiting.len; at += w.len) {
		memcpy(&w, c->waiting.data + at, sizeof(w));
		at += sizeof(w);
		err = memory__write(m, counts, w.times, &none, c->waiting.data + at, w.len);
	}
	c->begun = true;
	budget__give(m->budget, c->waiting.len);
	buf__free(&c->waiting);
	return err;
}

/* Have @line wait.  False: there is no room. */
static bool counts__wait(struct rprof_memory *m, struct rprof_counts *c, const struct sample *s,
			 const struct buf *line)
{
	const struct waiting w = {s->weight, line->len};
	const size_t len = sizeof(w) + line->len, had = c->waiting.len;

	if (had + len > RPROF_MEMORY_BYTES || s->time > c->since + RPROF_MEMORY_NS ||
	    !budget__take(m->budget, len))
		return false;
	if (!buf__add(&c->waiting, (const char *)&w, sizeof(w)) &&
	    !buf__add(&c->waiting, line->data, line->len))
		return true;
	c->waiting.len = had;
	budget__give(m->budget, len);
	return false;
}

static struct rprof_counts *memory__counts(struct rprof_memory *m, const struct sample *s)
{
	struct rprof_counts *c = map__get(&m->processes, s->serial, 0);

	if (c || !budget__take(m->budget, COUNTS_COST))
		return c;
	c = calloc(1, sizeof(*c));
	if (c && !map__put(&m->processes, s->serial, 0, c)) {
		c->since = s->time;
		return c;
	}
	free(c);
	budget__give(m->budget, COUNTS_COST);
	return NULL;
}

int rprof_memory__line(struct rprof_memory *m, const struct sample *s, struct buf *heads,
		       const struct buf *line)
{
	struct rprof_counts *c = memory__counts(m, s), none = {.begun = true};
	const bool known = s->flags & XR_F_MEMORY;
	int err = 0;

	if (!c) /* there is no room to remember it: it has what it has */
		c = &none;
	if (known)
		c->last = s->memory;
	else
		c->last.dups = 0;
	if (!c->begun) {
		if (!known && counts__wait(m, c, s, line)) {
			/* the next lines may need them */
			err = output__write(m->out, heads->data, heads->len);
			heads->len = 0;
			return err ? err : output__commit(m->out, 0);
		}
		err = counts__begin(m, c);
	}
	return err == -ENOMEM ? err
			      : memory__write(m, c->last, s->weight, heads, line->data, line->len);
}

int rprof_memory__close(struct rprof_memory *m)
{
	int err = 0;

	for (size_t i = 0; i < m->processes.cap; i++) {
		struct rprof_counts *c = m->processes.entries[i].value;

		if (!c)
			continue;
		err = counts__begin(m, c);
		budget__give(m->budget, c->waiting.len + COUNTS_COST);
		buf__free(&c->waiting);
		free(c);
	}
	map__free(&m->processes);
	buf__free(&m->line);
	return err;
}
