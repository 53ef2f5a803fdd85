/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/waiting.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/limits.h"

#define TRY_S 5u

int pids__put(struct pids *q, pid_t pid)
{
	int err = array__room(&q->list, q->n, &q->room, sizeof(*q->list));

	if (!err)
		q->list[q->n++] = pid;
	return err;
}

bool pids__take(struct pids *q, pid_t *pid)
{
	if (q->first == q->n)
		return false;
	*pid = q->list[q->first++];
	if (q->first == q->n)
		q->first = q->n = 0;
	return true;
}

void pids__free(struct pids *q)
{
	free(q->list);
	*q = (struct pids){0};
}

void waiting__full(struct waiting *w, enum waiting_place place, uint32_t size,
		   const struct errmsg *why, uint64_t now)
{
	if (size)
		w->rest = 0;
	else if (!w->full)
		w->rest = !w->rest ? 1 : 2 * w->rest < WAITING_S ? 2 * w->rest : WAITING_S;
	w->full = true;
	w->place = place;
	w->size = size;
	w->at = now;
	if (why)
		w->why = *why;
}

/* Is it time to try all, as none fits? */
static bool waiting__rested(const struct waiting *w, uint64_t now)
{
	return w->rest && now - w->at >= w->rest * NS_PER_S;
}

void waiting__fits(struct waiting *w, uint32_t size)
{
	if (w->place != WAITING_ENGINE || size <= w->size)
		return;
	w->full = false;
	w->rest = 0;
}

/* Without memory it stays unknown, and is counted again. */
static void waiting__keep(struct waiting *w, pid_t pid, uint64_t start_time)
{
	if (w->known.count >= LIMIT_WAITING) {
		map__free(&w->earlier);
		w->earlier = w->known;
		w->known = (struct map){0};
	}
	map__put(&w->known, (uint64_t)pid, start_time, w);
}

bool waiting__knows(struct waiting *w, pid_t pid, uint64_t start_time)
{
	if (map__get(&w->known, (uint64_t)pid, start_time))
		return true;
	if (!map__get(&w->earlier, (uint64_t)pid, start_time))
		return false;
	waiting__keep(w, pid, start_time);
	return true;
}

void waiting__count(struct waiting *w, pid_t pid, uint64_t start_time)
{
	if (waiting__knows(w, pid, start_time))
		return;
	w->counted++;
	waiting__keep(w, pid, start_time);
}

bool waiting__try(struct waiting *w, const uint32_t sizes[WAITING_PLACES], uint64_t now)
{
	if (waiting__rested(w, now))
		w->full = false;
	if (!w->full)
		return true;
	if (now - w->at >= WAITING_S * NS_PER_S) {
		w->at = now;
		return true;
	}
	if (now - w->tried_at >= NS_PER_S) {
		w->tried_at = now;
		w->tried = 0;
	}
	if ((uint64_t)sizes[w->place] + w->tried >= w->size)
		return false;
	w->tried++;
	return true;
}

bool waiting__over(struct waiting *w, const uint32_t sizes[WAITING_PLACES], uint64_t now)
{
	if (!w->full ||
	    (!waiting__rested(w, now) && (uint64_t)sizes[w->place] * 8 >= (uint64_t)w->size * 7))
		return false;
	w->full = false;
	return true;
}

/* A try takes a moment, until which nothing fits. */
bool waiting__starved(const struct waiting *w, uint64_t now)
{
	return w->rest && now - w->at < (w->rest + TRY_S) * NS_PER_S;
}

void waiting__free(struct waiting *w)
{
	map__free(&w->known);
	map__free(&w->earlier);
	*w = (struct waiting){0};
}
