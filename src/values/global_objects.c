/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which objects there are, and what they hold; what is large gets a node. */
#include "values/global_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "sexp.h"
#include "values/value.h"

#define NAMES_MAX   100000u /* nested names with a node */
#define NODES_MAX   (4u << 20)
#define PENDING_MAX (8u << 20)
#define PROBES_MAX  4096u
#define CHECKED	    65536u /* bytes of a vector whose end is not looked at */
#define LENGTH_MAX  (1ull << 44)
#define SMALLEST    4096u /* bytes of a node without environments */
#define CLOCK_STEPS 4096u

/* --- what was seen --- */

static struct seen *seen__place(const struct gather *w, uint64_t block)
{
	size_t i = (size_t)map__hash(block, 0);

	for (unsigned int n = 0; n < PROBES_MAX; n++, i++) {
		struct seen *place = &w->seen[i & (w->seen_cap - 1)];

		if (!place->bits || place->block == block)
			return place;
	}
	return NULL;
}

static int seen__grow(struct gather *w)
{
	struct seen *old = w->seen, *place;
	const size_t cap = w->seen_cap;

	w->seen_cap = cap ? cap * 2 : 65536;
	w->seen = calloc(w->seen_cap, sizeof(*w->seen));
	if (!w->seen) {
		w->seen = old;
		w->seen_cap = cap;
		return -ENOMEM;
	}
	for (size_t i = 0; i < cap; i++)
		if (old[i].bits && (place = seen__place(w, old[i].block)))
			*place = old[i];
	free(old);
	return 0;
}

bool gather__first(struct gather *w, uint64_t at)
{
	const uint64_t bit = 1ull << at / 8 % 64;
	struct seen *place;

	if (w->nblocks * 4 >= w->seen_cap * 3 && seen__grow(w)) {
		w->err = -ENOMEM;
		return false;
	}
	place = seen__place(w, at / 512);
	if (!place)
		w->out->unreadable++;
	if (!place || place->bits & bit)
		return false;
	w->nblocks += !place->bits;
	*place = (struct seen){at / 512, place->bits | bit};
	if (++w->nseen >= w->limits->objects)
		w->out->stopped = "objects";
	return true;
}

bool gather__goes(struct gather *w)
{
	if (++w->steps % CLOCK_STEPS == 0 && w->limits->now() >= w->until)
		w->out->stopped = "time";
	return !w->err && !w->out->stopped;
}

/* --- nodes --- */

uint32_t gather__node(struct gather *w, const struct node *n)
{
	if (w->nnodes >= NODES_MAX)
		return n->parent;
	if (array__room(&w->nodes, w->nnodes, &w->nodes_cap, sizeof(*n))) {
		w->err = -ENOMEM;
		return n->parent;
	}
	w->nodes[w->nnodes] = *n;
	return (uint32_t)w->nnodes++;
}

/* The node of the newest name; those around it get theirs, too. */
static uint32_t gather__here(struct gather *w)
{
	uint32_t parent = w->env;
	size_t i = w->nnames;

	while (i && w->names[i - 1].node == NONE)
		i--;
	if (i)
		parent = w->names[i - 1].node;
	for (; i < w->nnames && !w->err; i++) {
		struct named *m = &w->names[i];
		const struct node n = {
			.at = m->at,
			.name = m->name,
			.list = m->list,
			.length = m->length,
			.parent = parent,
			.type = m->type,
			.has_class = m->has_class,
		};

		parent = m->node = gather__node(w, &n);
	}
	return parent;
}

void gather__push(struct gather *w, uint64_t at, uint64_t next)
{
	if (next == WHOLE && (!at || at == w->h.nil))
		return;
	if (w->npending >= PENDING_MAX && next != CLOSE) {
		w->out->unreadable++;
		return;
	}
	if (array__room(&w->pending, w->npending, &w->pending_cap, sizeof(*w->pending)))
		w->err = -ENOMEM;
	else
		w->pending[w->npending++] = (struct pending){at, next};
}

void gather__open(struct gather *w, uint64_t at, const struct object *o, uint64_t name,
		  uint64_t list)
{
	struct object plain = *o;

	if (w->nnames < NAMES_MAX) {
		if (array__room(&w->names, w->nnames, &w->names_cap, sizeof(*w->names))) {
			w->err = -ENOMEM;
			return;
		}
		if (o->alt)
			heap__plain(&w->h, &plain);
		w->names[w->nnames++] = (struct named){
			.at = o->at,
			.name = name,
			.list = list,
			.length = plain.length,
			.node = NONE,
			.type = (uint8_t)o->type,
			.has_class = o->has_class,
		};
		gather__push(w, 0, CLOSE);
	}
	gather__push(w, at, WHOLE);
}

/* All parts of the newest name were counted. */
static void gather__close(struct gather *w)
{
	struct named *m = &w->names[w->nnames - 1];

	if (m->bytes >= SMALLEST && m->bytes >= w->out->bytes / 4096)
		gather__here(w);
	w->nnames--;
	if (m->node != NONE)
		w->nodes[m->node].bytes += m->bytes;
	else if (w->nnames)
		w->names[w->nnames - 1].bytes += m->bytes;
	else
		w->nodes[w->env].bytes += m->bytes;
}

static void gather__bytes(struct gather *w, uint64_t bytes)
{
	w->out->bytes += bytes;
	if (w->nnames)
		w->names[w->nnames - 1].bytes += bytes;
	else
		w->nodes[w->env].bytes += bytes;
}

/* --- objects --- */

/* Bytes of one element. */
static unsigned int object__element(const struct object *o)
{
	switch (o->type) {
	case HEAP_CHAR:
	case HEAP_RAW:
		return 1;
	case HEAP_LOGICAL:
	case HEAP_INTEGER:
		return 4;
	case HEAP_COMPLEX:
		return 16;
	default:
		return 8;
	}
}

static bool object__is_vector(const struct object *o)
{
	return !o->alt && (o->type == HEAP_CHAR || heap__is_vector(o->type));
}

/* As objectsize() rounds; a length that cannot be right counts as 0. */
static uint64_t gather__vector(struct gather *w, struct object *o)
{
	static const uint8_t classes[] = {0, 8, 16, 32, 32, 48, 48, 64, 64};
	uint64_t bytes, units;
	char last;

	if (o->type == HEAP_CHAR)
		o->length &= 0xffffffff;
	bytes = o->length * object__element(o) + (o->type == HEAP_CHAR);
	if (o->length > LENGTH_MAX ||
	    (bytes > CHECKED &&
	     mem_reader__read(w->cache.under, o->at + w->h.vector_data + bytes - 1, &last, 1))) {
		w->out->unreadable++;
		o->length = 0;
		return w->h.vector_data;
	}
	units = (bytes + 7) / 8;
	return w->h.vector_data + (units > 16 ? units * 8 : units >= 9 ? 128u : classes[units]);
}

bool gather__count(struct gather *w, struct object *o)
{
	struct buf na = {0};
	bool is_na;

	if (o->type == HEAP_SYMBOL) { /* counts wherever it is mentioned, as in objectsize() */
		gather__bytes(w, R_CELL_BYTES);
		if (o->word[1] != w->h.nil && w->base != NONE && gather__first(w, o->at)) {
			if (array__room(&w->queue, w->nqueue, &w->queue_cap, sizeof(*w->queue)))
				w->err = -ENOMEM;
			else
				w->queue[w->nqueue++] = (struct queued){o->at, w->base};
		}
		return false;
	}
	if (o->type == HEAP_CHAR && (o->length & 0xffffffff) == 2) {
		is_na = heap__text(&w->h, o->at, &na, 8) == 1;
		buf__free(&na);
		if (is_na)
			return false;
	}
	if (!gather__first(w, o->at))
		return false;
	w->out->objects++;
	if (object__is_vector(o))
		gather__bytes(w, gather__vector(w, o));
	else
		gather__bytes(w, o->type == HEAP_WEAK	   ? w->h.vector_data + 32
				 : o->type == HEAP_POINTER ? R_CELL_BYTES + 8
							   : R_CELL_BYTES);
	return true;
}

/* The environment @o was met; its variables are walked later. */
static void gather__environment(struct gather *w, const struct object *o)
{
	const uint32_t here = gather__here(w);
	struct node n = {.at = o->at, .parent = here, .type = HEAP_ENVIRONMENT, .wraps = true};
	struct queued q = {o->at, here};

	if (!w->nnames || w->names[w->nnames - 1].at != o->at)
		q.node = gather__node(w, &n);
	if (w->err || array__room(&w->queue, w->nqueue, &w->queue_cap, sizeof(q)))
		w->err = -ENOMEM;
	else
		w->queue[w->nqueue++] = q;
}

static void gather__object(struct gather *w, uint64_t at)
{
	struct object o;

	if (!heap__object(&w->h, at, &o) || !strcmp(value__type(o.type), "?")) {
		w->out->unreadable++;
		return;
	}
	if (!o.type || !gather__count(w, &o))
		return;
	if (o.type == HEAP_CHAR)
		return;
	gather__push(w, o.attributes, WHOLE);
	if (o.alt) {
		gather__push(w, o.word[1], WHOLE);
		gather__push(w, o.word[0], WHOLE);
		return;
	}
	switch (o.type) {
	case HEAP_STRING:
	case HEAP_LIST:
	case HEAP_EXPRESSION:
		if (o.length)
			gather__push(w, at, 0);
		break;
	case HEAP_PAIRLIST:
	case HEAP_CALL:
	case HEAP_DOTS:
	case HEAP_BYTECODE:
	case HEAP_CLOSURE:
	case HEAP_PROMISE: /* its value comes first, then code, then environment */
		gather__push(w, o.word[o.type == HEAP_CLOSURE || o.type == HEAP_PROMISE ? 2 : 1],
			     WHOLE);
		gather__push(w, o.word[o.type == HEAP_CLOSURE || o.type == HEAP_PROMISE ? 1 : 2],
			     WHOLE);
		if (!value__is_scalar(o.extra))
			gather__push(w, o.word[0], WHOLE);
		break;
	case HEAP_POINTER:
		gather__push(w, o.word[1], WHOLE);
		gather__push(w, o.word[2], WHOLE);
		break;
	case HEAP_S4:
		gather__push(w, o.word[2], WHOLE);
		break;
	case HEAP_ENVIRONMENT:
		gather__environment(w, &o);
		break;
	}
}

static bool object__is_leaf(const struct gather *w, const struct object *o)
{
	return object__is_vector(o) && o->attributes == w->h.nil && o->type != HEAP_STRING &&
	       o->type != HEAP_LIST && o->type != HEAP_EXPRESSION && o->length < 256;
}

/* The elements of a vector of objects, up to one that has parts. */
static void gather__elements(struct gather *w, struct pending p)
{
	uint64_t wanted[MEM_SPANS_MAX];
	struct object o, e;

	if (!heap__object(&w->h, p.at, &o) || !object__is_vector(&o) || object__element(&o) != 8 ||
	    o.length > LENGTH_MAX) {
		w->out->unreadable++;
		return;
	}
	for (uint64_t i = p.next; i < o.length && gather__goes(w); i++) {
		const uint64_t from = o.at + w->h.vector_data + i * 8;
		const uint64_t n = o.length - i < MEM_SPANS_MAX ? o.length - i : MEM_SPANS_MAX;
		uint64_t at;

		if (i % MEM_SPANS_MAX == 0 && heap__read(&w->h, from, wanted, n * 8))
			page_cache__want(&w->cache, wanted, n);
		if (!heap__word(&w->h, &o, i, &at)) {
			w->out->unreadable++;
			return;
		}
		if (at == w->h.nil)
			continue;
		if (!heap__object(&w->h, at, &e) ||
		    (o.type == HEAP_STRING) != (e.type == HEAP_CHAR)) {
			w->out->unreadable++;
			continue;
		}
		if (object__is_leaf(w, &e)) {
			gather__count(w, &e);
			continue;
		}
		if (i + 1 < o.length)
			gather__push(w, p.at, i + 1);
		gather__open(w, at, &e, i, p.at);
		return;
	}
}

void gather__run(struct gather *w)
{
	while (w->npending) {
		const struct pending p = w->pending[--w->npending];

		if (p.next == CLOSE)
			gather__close(w);
		else if (gather__goes(w) && p.next == WHOLE)
			gather__object(w, p.at);
		else if (gather__goes(w))
			gather__elements(w, p);
	}
}
