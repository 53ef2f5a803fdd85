/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "engine/remote/hooks.h"

#define REST_MAX  16u /* contexts outside the core that one try reads at once */
#define CELLS_MAX 256u

/*
 * The reads of one second look at a moving target.
 *
 * The core is R_GlobalContext and the contexts from there to the innermost call, that one included.
 * These contexts are read, then what they refer to (before they were there that may have been other
 * objects in the same place), then R_GlobalContext, what is volatile, and the contexts again.
 * If they are the same, and R_GlobalContext leads to them, the innermost call was live when it was
 * read: it takes no more than one short read between two others.  The contexts outside it that the
 * first look did not see, and the first that it saw, are read both before and after all that and
 * what they refer to; if they are the same they were what the core was called from.  (That the
 * first look saw the same bytes is not enough for the last of these: what returned calls leave on
 * the stack is the same each time.)
 */
struct guess {
	struct remote_look looks[MEM_SPANS_MAX];
	uint32_t n;
	uint32_t core[VERIFY_MAX], ncore;
	uint32_t rest[REST_MAX], nrest;
	uint8_t again[VERIFY_MAX][REMOTE_PIECE_MAX]; /* of the core */
	uint8_t before[REST_MAX][REMOTE_PIECE_MAX];  /* of the rest */
};

static uint32_t ids__find(const uint32_t *ids, uint32_t n, uint32_t id)
{
	uint32_t i = 0;

	while (i < n && ids[i] != id)
		i++;
	return i;
}

static void guess__look(struct guess *g, uint32_t id, uint8_t *to)
{
	g->looks[g->n++] = (struct remote_look){id, to};
}

static bool guess__head(const struct remote_walk *rw, uint32_t id)
{
	return rw->memory.pieces[id].addr == rw->walk.row.head_at;
}

/* Of the pieces [@i, @n) of @plan those that are not contexts: the volatile ones, or the others. */
static void guess__cells(const struct remote_walk *rw, struct guess *g, const struct plan *plan,
			 uint32_t i, uint32_t n, bool is_volatile)
{
	const struct piece *pieces = rw->memory.pieces;

	for (; i < n && g->n < CELLS_MAX; i++)
		if (pieces[plan->ids[i]].kind != READ_CONTEXT &&
		    kind__is_volatile(pieces[plan->ids[i]].kind) == is_volatile &&
		    ids__find(g->core, g->ncore, plan->ids[i]) == g->ncore)
			guess__look(g, plan->ids[i], NULL);
}

/* @n pieces of @plan are what the walk will likely ask for; the core is that of the last walk. */
static void guess__make(const struct remote_walk *rw, struct guess *g, const struct plan *plan,
			uint32_t n)
{
	const struct piece *pieces = rw->memory.pieces;
	uint32_t outer = n; /* what comes before is asked for by the core, perhaps */

	g->n = g->nrest = 0;
	g->ncore = rw->nverify <= VERIFY_MAX ? rw->nverify : 0;
	memcpy(g->core, rw->verify, g->ncore * sizeof(*g->core));
	for (uint32_t i = 0; i < n && g->nrest < REST_MAX; i++)
		if (pieces[plan->ids[i]].kind == READ_CONTEXT &&
		    ids__find(g->core, g->ncore, plan->ids[i]) == g->ncore &&
		    ids__find(g->rest, g->nrest, plan->ids[i]) == g->nrest) {
			outer = g->nrest ? outer : i;
			g->rest[g->nrest++] = plan->ids[i];
		}
	for (uint32_t i = 0; i < g->nrest; i++)
		guess__look(g, g->rest[i], g->before[i]);
	guess__cells(rw, g, plan, outer, n, false);
	for (uint32_t i = 0; i < g->ncore; i++)
		if (pieces[g->core[i]].kind == READ_CONTEXT)
			guess__look(g, g->core[i], NULL);
	guess__cells(rw, g, plan, 0, outer, false);
	for (uint32_t i = 0; i < g->ncore; i++)
		if (pieces[g->core[i]].kind != READ_CONTEXT)
			guess__look(g, g->core[i], NULL);
	guess__cells(rw, g, plan, 0, n, true);
	for (uint32_t i = 0; i < g->ncore; i++)
		if (!guess__head(rw, g->core[i]))
			guess__look(g, g->core[i], g->again[i]);
	for (uint32_t i = 0; i < g->nrest; i++)
		guess__look(g, g->rest[i], NULL);
}

static bool guess__same(const struct remote_walk *rw, uint32_t id, const uint8_t *bytes)
{
	const struct piece *p = &rw->memory.pieces[id];

	return p->fresh_seq > rw->top_floor &&
	       !memcmp(remote_memory__fresh(&rw->memory, id), bytes, p->len);
}

/* Were the contexts outside the core the same before and after? */
static bool guess__rest_holds(const struct remote_walk *rw, const struct guess *g)
{
	for (uint32_t i = 0; i < rw->top.count; i++) {
		uint32_t id = rw->top.ids[i], at;

		if (rw->memory.pieces[id].kind != READ_CONTEXT ||
		    ids__find(g->core, g->ncore, id) < g->ncore)
			continue;
		at = ids__find(g->rest, g->nrest, id);
		if (at == g->nrest || !guess__same(rw, id, g->before[at]))
			return false;
	}
	return true;
}

/*
 * Is there anything that the walk asked for and that was read before the core was?  @core: that
 * the core asked for.
 */
static bool remote__early(const struct remote_walk *rw, bool core)
{
	const struct piece *pieces = rw->memory.pieces;
	uint64_t seq = UINT64_MAX;

	for (uint32_t i = 0; i < rw->nverify; i++)
		if (pieces[rw->verify[i]].kind == READ_CONTEXT &&
		    pieces[rw->verify[i]].fresh_seq < seq)
			seq = pieces[rw->verify[i]].fresh_seq;
	for (uint32_t i = 0; i < rw->top.count; i++) {
		const uint32_t id = rw->top.ids[i];
		const struct piece *p = &pieces[id];
		const bool context = p->kind == READ_CONTEXT;

		if (core && context && ids__find(rw->verify, rw->nverify, id) == rw->nverify)
			return false;
		if (!context && p->fresh_seq > rw->top_floor && p->fresh_seq < seq)
			return true;
	}
	return false;
}

/* The walk is over: did it ask for what was guessed, and was that still? */
static bool guess__holds(const struct remote_walk *rw, const struct guess *g)
{
	if (rw->loose || !g->ncore || rw->nverify != g->ncore ||
	    memcmp(rw->verify, g->core, g->ncore * sizeof(*g->core)))
		return false;
	for (uint32_t i = 0; i < g->ncore; i++)
		if (!guess__head(rw, g->core[i]) && !guess__same(rw, g->core[i], g->again[i]))
			return false;
	return guess__rest_holds(rw, g) && !remote__early(rw, true);
}

/*
 * The walk asked for more than was guessed, and read it: read the core again, R_GlobalContext
 * first.  If it is the same the innermost call was live from its first read to that of
 * R_GlobalContext, and all that lies outside it did not move in between.
 */
static bool remote__verify(struct remote_walk *rw, struct guess *g)
{
	if (!rw->nverify || rw->nverify > VERIFY_MAX)
		return false;
	g->n = 0;
	for (uint32_t i = 0; i < rw->nverify; i++)
		guess__look(g, rw->verify[i], g->again[i]);
	if (!remote_memory__at_once(&rw->memory, g->looks, g->n))
		return false;
	for (uint32_t i = 0; i < rw->nverify; i++)
		if (!guess__same(rw, rw->verify[i], g->again[i]))
			return false;
	return !remote__early(rw, true) && (guess__rest_holds(rw, g) || !remote__early(rw, false));
}

bool remote_walk__try(struct remote_walk *rw, const struct plan *plan, uint32_t n, int *result)
{
	struct guess g;
	bool read;

	guess__make(rw, &g, plan, n);
	rw->top_floor = rw->memory.seq;
	read = remote_memory__at_once(&rw->memory, g.looks, g.n);
	*result = remote_walk__top(rw);
	return !rw->dead && ((read && guess__holds(rw, &g)) || remote__verify(rw, &g));
}
