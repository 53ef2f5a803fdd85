/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/crowd.h"

#include "base/clock.h"
#include "base/limits.h"

#define CROWD_TRY_S 5u

void crowd__full(struct crowd *c, enum crowd_place place, uint32_t size, uint64_t now)
{
	if (size)
		c->rest = 0;
	else if (!c->full)
		c->rest = !c->rest ? 1 : 2 * c->rest < CROWD_S ? 2 * c->rest : CROWD_S;
	c->full = true;
	c->place = place;
	c->size = size;
	c->at = now;
}

/* Is it time to try all, as none fits? */
static bool crowd__rested(const struct crowd *c, uint64_t now)
{
	return c->rest && now - c->at >= c->rest * NS_PER_S;
}

void crowd__fits(struct crowd *c, uint32_t size)
{
	if (c->place != CROWD_ENGINE || size <= c->size)
		return;
	c->full = false;
	c->rest = 0;
}

/* For want of memory it is not known, so that it is counted again. */
static void crowd__keep(struct crowd *c, pid_t pid, uint64_t start_time)
{
	if (c->known.count >= LIMIT_CROWD) {
		map__free(&c->earlier);
		c->earlier = c->known;
		c->known = (struct map){0};
	}
	map__put(&c->known, (uint64_t)pid, start_time, c);
}

bool crowd__knows(struct crowd *c, pid_t pid, uint64_t start_time)
{
	if (map__get(&c->known, (uint64_t)pid, start_time))
		return true;
	if (!map__get(&c->earlier, (uint64_t)pid, start_time))
		return false;
	crowd__keep(c, pid, start_time);
	return true;
}

void crowd__count(struct crowd *c, pid_t pid, uint64_t start_time)
{
	if (crowd__knows(c, pid, start_time))
		return;
	c->counted++;
	crowd__keep(c, pid, start_time);
}

bool crowd__try(struct crowd *c, const uint32_t sizes[CROWD_PLACES], uint64_t now)
{
	if (crowd__rested(c, now))
		c->full = false;
	if (!c->full)
		return true;
	if (now - c->at >= CROWD_S * NS_PER_S) {
		c->at = now;
		return true;
	}
	if (now - c->tried_at >= NS_PER_S) {
		c->tried_at = now;
		c->tried = 0;
	}
	if ((uint64_t)sizes[c->place] + c->tried >= c->size)
		return false;
	c->tried++;
	return true;
}

bool crowd__over(struct crowd *c, const uint32_t sizes[CROWD_PLACES], uint64_t now)
{
	if (!c->full ||
	    (!crowd__rested(c, now) && (uint64_t)sizes[c->place] * 8 >= (uint64_t)c->size * 7))
		return false;
	c->full = false;
	return true;
}

/* A try takes a moment, in which nothing fits yet. */
bool crowd__starved(const struct crowd *c, uint64_t now)
{
	return c->rest && now - c->at < (c->rest + CROWD_TRY_S) * NS_PER_S;
}

void crowd__free(struct crowd *c)
{
	map__free(&c->known);
	map__free(&c->earlier);
	*c = (struct crowd){0};
}
