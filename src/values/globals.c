/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects are walked depth first on a list of what is pending, environments breadth first in a
 * queue: so an object counts at a path through as few environments as possible.  What is large, or
 * leads to an environment, has a node.  At the end a node has what is below it, too.
 */
#include "values/globals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/page_cache.h"
#include "sexp.h"
#include "values/calls.h"
#include "values/deparse.h"
#include "values/literal.h"
#include "values/value.h"

#define NONE	    UINT32_MAX
#define CLOSE	    UINT64_MAX	     /* of what is pending: the end of the newest name */
#define WHOLE	    (UINT64_MAX - 1) /* an object that was not looked at yet */
#define NAMES_MAX   100000u	     /* lists in lists that are told apart */
#define NODES_MAX   (4u << 20)
#define PENDING_MAX (8u << 20)
#define PROBES_MAX  4096u
#define CHECKED	    65536u /* bytes of a vector whose end is not looked at */
#define LENGTH_MAX  (1ull << 44)
#define SMALLEST    4096u /* bytes of a node without environments */
#define PARTS_MAX   40u	  /* of a path */
#define CLOCK_STEPS 4096u

/* An object that may get a row, or leads to one that may. */
struct node {
	uint64_t at, name; /* the object; a symbol, or an element's number */
	uint64_t list;	   /* that it is an element of; 0: it is a variable */
	uint64_t bytes;	   /* without its children's, until the end */
	uint64_t shown;	   /* of its children: those that hold a fifth or more */
	uint64_t length;
	char *root; /* a path; NULL: it has a parent */
	uint32_t parent;
	uint8_t type;
	bool has_class, wraps; /* wraps: the environment of its parent */
};

/* An object with a name, whose parts are pending. */
struct named {
	uint64_t at, name, list, bytes, length;
	uint32_t node;
	uint8_t type;
	bool has_class;
};

struct pending {
	uint64_t at, next; /* next: CLOSE, WHOLE, or an element of the vector */
};

struct queued {
	uint64_t at;
	uint32_t node;
};

struct walk {
	struct heap h;
	struct page_cache cache;
	const struct globals_limits *limits;
	struct globals *out;
	uint64_t *seen;
	size_t seen_cap, nseen;
	struct node *nodes;
	struct named *names;
	struct pending *pending;
	struct queued *queue;
	size_t nnodes, nodes_cap, nnames, names_cap, npending, pending_cap, nqueue, queue_cap;
	uint32_t env; /* the node whose variables are walked */
	uint32_t registry, base;
	uint64_t steps, until;
	int err;
};

/* --- what was seen --- */

static uint64_t *seen__place(const struct walk *w, uint64_t at)
{
	size_t i = (size_t)map__hash(at, 0);

	for (unsigned int n = 0; n < PROBES_MAX; n++, i++) {
		uint64_t *place = &w->seen[i & (w->seen_cap - 1)];

		if (!*place || *place == at)
			return place;
	}
	return NULL;
}

static int seen__grow(struct walk *w)
{
	uint64_t *old = w->seen, *place;
	const size_t cap = w->seen_cap;

	w->seen_cap = cap ? cap * 2 : 65536;
	w->seen = calloc(w->seen_cap, sizeof(*w->seen));
	if (!w->seen) {
		w->seen = old;
		w->seen_cap = cap;
		return -ENOMEM;
	}
	for (size_t i = 0; i < cap; i++)
		if (old[i] && (place = seen__place(w, old[i])))
			*place = old[i];
	free(old);
	return 0;
}

/* Is this the first time? */
static bool walk__first(struct walk *w, uint64_t at)
{
	uint64_t *place;

	if (w->nseen * 4 >= w->seen_cap * 3 && seen__grow(w)) {
		w->err = -ENOMEM;
		return false;
	}
	place = seen__place(w, at);
	if (!place)
		w->out->unreadable++;
	if (!place || *place)
		return false;
	*place = at;
	if (++w->nseen >= w->limits->objects)
		w->out->stopped = "objects";
	return true;
}

/* May it go on? */
static bool walk__goes(struct walk *w)
{
	if (++w->steps % CLOCK_STEPS == 0 && w->limits->now() >= w->until)
		w->out->stopped = "time";
	return !w->err && !w->out->stopped;
}

/* --- nodes --- */

static uint32_t walk__node(struct walk *w, const struct node *n)
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
static uint32_t walk__here(struct walk *w)
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

		parent = m->node = walk__node(w, &n);
	}
	return parent;
}

static void walk__push(struct walk *w, uint64_t at, uint64_t next)
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

/* @o, behind @at, is @name: the variable of this symbol, or element of @list. */
static void walk__open(struct walk *w, uint64_t at, const struct object *o, uint64_t name,
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
		walk__push(w, 0, CLOSE);
	}
	walk__push(w, at, WHOLE);
}

/* All parts of the newest name were counted. */
static void walk__close(struct walk *w)
{
	struct named *m = &w->names[w->nnames - 1];

	if (m->bytes >= SMALLEST && m->bytes >= w->out->bytes / 4096)
		walk__here(w);
	w->nnames--;
	if (m->node != NONE)
		w->nodes[m->node].bytes += m->bytes;
	else if (w->nnames)
		w->names[w->nnames - 1].bytes += m->bytes;
	else
		w->nodes[w->env].bytes += m->bytes;
}

static void walk__bytes(struct walk *w, uint64_t bytes)
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
	return !o->alt &&
	       (o->type == HEAP_CHAR || (o->type >= HEAP_LOGICAL && o->type <= HEAP_STRING) ||
		o->type == HEAP_LIST || o->type == HEAP_EXPRESSION || o->type == HEAP_RAW);
}

/* As objectsize() rounds; a length that cannot be right counts as 0. */
static uint64_t walk__vector(struct walk *w, struct object *o)
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

/* Count @o, without its parts.  False: it was counted before, or there is nothing in it. */
static bool walk__count(struct walk *w, struct object *o)
{
	struct buf na = {0};
	bool is_na;

	if (o->type == HEAP_SYMBOL) { /* counts wherever it is mentioned, as in objectsize() */
		walk__bytes(w, R_CELL_BYTES);
		if (o->word[1] != w->h.nil && w->base != NONE && walk__first(w, o->at)) {
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
	if (!walk__first(w, o->at))
		return false;
	w->out->objects++;
	if (object__is_vector(o))
		walk__bytes(w, walk__vector(w, o));
	else
		walk__bytes(w, o->type == HEAP_WEAK	 ? w->h.vector_data + 32
			       : o->type == HEAP_POINTER ? R_CELL_BYTES + 8
							 : R_CELL_BYTES);
	return true;
}

/* The environment @o was met; its variables are walked later. */
static void walk__environment(struct walk *w, const struct object *o)
{
	const uint32_t here = walk__here(w);
	struct node n = {.at = o->at, .parent = here, .type = HEAP_ENVIRONMENT, .wraps = true};
	struct queued q = {o->at, here};

	if (!w->nnames || w->names[w->nnames - 1].at != o->at)
		q.node = walk__node(w, &n);
	if (w->err || array__room(&w->queue, w->nqueue, &w->queue_cap, sizeof(q)))
		w->err = -ENOMEM;
	else
		w->queue[w->nqueue++] = q;
}

static void walk__object(struct walk *w, uint64_t at)
{
	struct object o;

	if (!heap__object(&w->h, at, &o) || !strcmp(value__type(o.type), "?")) {
		w->out->unreadable++;
		return;
	}
	if (!o.type || !walk__count(w, &o))
		return;
	if (o.type == HEAP_CHAR)
		return;
	walk__push(w, o.attributes, WHOLE);
	if (o.alt) {
		walk__push(w, o.word[1], WHOLE);
		walk__push(w, o.word[0], WHOLE);
		return;
	}
	switch (o.type) {
	case HEAP_STRING:
	case HEAP_LIST:
	case HEAP_EXPRESSION:
		if (o.length)
			walk__push(w, at, 0);
		break;
	case HEAP_PAIRLIST:
	case HEAP_CALL:
	case HEAP_DOTS:
	case HEAP_BYTECODE:
	case HEAP_CLOSURE:
	case HEAP_PROMISE: /* its value comes first, then code, then environment */
		walk__push(w, o.word[o.type == HEAP_CLOSURE || o.type == HEAP_PROMISE ? 2 : 1],
			   WHOLE);
		walk__push(w, o.word[o.type == HEAP_CLOSURE || o.type == HEAP_PROMISE ? 1 : 2],
			   WHOLE);
		if (!value__is_scalar(o.extra))
			walk__push(w, o.word[0], WHOLE);
		break;
	case HEAP_POINTER:
		walk__push(w, o.word[1], WHOLE);
		walk__push(w, o.word[2], WHOLE);
		break;
	case HEAP_S4:
		walk__push(w, o.word[2], WHOLE);
		break;
	case HEAP_ENVIRONMENT:
		walk__environment(w, &o);
		break;
	}
}

static bool object__is_leaf(const struct walk *w, const struct object *o)
{
	return object__is_vector(o) && o->attributes == w->h.nil && o->type != HEAP_STRING &&
	       o->type != HEAP_LIST && o->type != HEAP_EXPRESSION && o->length < 256;
}

/* The elements of a vector of objects, up to one that has parts. */
static void walk__elements(struct walk *w, struct pending p)
{
	uint64_t wanted[MEM_SPANS_MAX];
	struct object o, e;

	if (!heap__object(&w->h, p.at, &o) || !object__is_vector(&o) || object__element(&o) != 8 ||
	    o.length > LENGTH_MAX) {
		w->out->unreadable++;
		return;
	}
	for (uint64_t i = p.next; i < o.length && walk__goes(w); i++) {
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
			walk__count(w, &e);
			continue;
		}
		if (i + 1 < o.length)
			walk__push(w, p.at, i + 1);
		walk__open(w, at, &e, i, p.at);
		return;
	}
}

static void walk__run(struct walk *w)
{
	while (w->npending) {
		const struct pending p = w->pending[--w->npending];

		if (p.next == CLOSE)
			walk__close(w);
		else if (walk__goes(w) && p.next == WHOLE)
			walk__object(w, p.at);
		else if (walk__goes(w))
			walk__elements(w, p);
	}
}

/* --- environments --- */

/* The variable @name with what lies at @at: of a promise that was forced, its value is shown. */
static void walk__variable(struct walk *w, uint64_t name, uint64_t at)
{
	struct object o, value;

	if (at == w->h.nil)
		return;
	if (!heap__object(&w->h, at, &o)) {
		w->out->unreadable++;
		return;
	}
	if (o.type == HEAP_SYMBOL)
		return;
	if (o.type == HEAP_PROMISE && !value__is_scalar(o.extra) &&
	    heap__object(&w->h, o.word[0], &value) && value.type != HEAP_SYMBOL)
		o = value;
	walk__open(w, at, &o, name, 0);
	walk__run(w);
}

static void walk__chain(struct walk *w, uint64_t at)
{
	struct object cell;

	while (at != w->h.nil && walk__goes(w)) {
		if (!heap__object(&w->h, at, &cell) || cell.type != HEAP_PAIRLIST) {
			w->out->unreadable++;
			return;
		}
		if (!walk__count(w, &cell))
			return;
		w->nodes[w->env].length++;
		if (!value__is_scalar(cell.extra))
			walk__variable(w, cell.word[2], cell.word[0]);
		at = cell.word[1];
	}
}

static void walk__variables(struct walk *w, const struct object *o)
{
	struct object table;
	uint64_t chain;

	w->nodes[w->env].length = 0;
	walk__chain(w, o->word[0]);
	if (o->word[2] == w->h.nil)
		return;
	if (!heap__object(&w->h, o->word[2], &table) || table.type != HEAP_LIST || table.alt) {
		w->out->unreadable++;
		return;
	}
	if (!walk__count(w, &table))
		return;
	for (uint64_t i = 0; i < table.length && walk__goes(w); i++) {
		if (!heap__word(&w->h, &table, i, &chain)) {
			w->out->unreadable++;
			return;
		}
		walk__chain(w, chain);
	}
}

/* @path is the caller's. */
static uint32_t walk__root(struct walk *w, uint64_t at, const char *path, const char *end)
{
	struct node n = {.at = at, .parent = NONE, .type = HEAP_ENVIRONMENT};
	const size_t size = strlen(path) + strlen(end) + 1;
	uint32_t node;

	n.root = malloc(size);
	if (!n.root) {
		w->err = -ENOMEM;
		return NONE;
	}
	memcpy(n.root, path, strlen(path));
	memcpy(n.root + strlen(path), end, strlen(end) + 1);
	node = walk__node(w, &n);
	if (node == NONE)
		free(n.root);
	return node;
}

/* Walk @at as a root, unless it was met before.  Its variables are those of @path. */
static uint32_t walk__begin(struct walk *w, uint64_t at, const char *path, const char *end)
{
	uint32_t node = NONE;

	if (!at || at == w->h.nil || w->err || !walk__first(w, at))
		return NONE;
	node = walk__root(w, at, path, end);
	if (node != NONE && !array__room(&w->queue, w->nqueue, &w->queue_cap, sizeof(*w->queue)))
		w->queue[w->nqueue++] = (struct queued){at, node};
	else if (!w->err && node != NONE)
		w->err = -ENOMEM;
	return node;
}

/* What @o lies in: an environment with a name, as on the search path, is a root. */
static void walk__enclosure(struct walk *w, const struct object *o)
{
	struct object outer, name;
	struct buf text = {0};
	uint64_t at;

	if (o->word[1] == w->h.nil || !heap__object(&w->h, o->word[1], &outer) ||
	    outer.type != HEAP_ENVIRONMENT)
		return;
	if (heap__object(&w->h, heap__attribute(&w->h, &outer, "name"), &name) &&
	    name.type == HEAP_STRING && heap__word(&w->h, &name, 0, &at) &&
	    !heap__text(&w->h, at, &text, LITERAL_NAME_BYTES) && text.len &&
	    !buf__add(&text, "", 1)) {
		walk__begin(w, outer.at, text.data, "$");
	} else {
		walk__push(w, outer.at, WHOLE);
		walk__run(w);
	}
	buf__free(&text);
}

static void walk__queue(struct walk *w)
{
	struct object o;

	for (size_t i = 0; i < w->nqueue && walk__goes(w); i++) {
		w->env = w->queue[i].node;
		if (!heap__object(&w->h, w->queue[i].at, &o))
			w->out->unreadable++;
		else if (o.type == HEAP_SYMBOL) /* a variable of package base */
			walk__variable(w, o.at, o.word[1]);
		else if (o.type == HEAP_ENVIRONMENT) {
			walk__variables(w, &o);
			walk__enclosure(w, &o);
		} else
			w->out->unreadable++;
	}
}

static void walk__frames(struct walk *w, const struct mem_reader *reader, const struct xr_row *row)
{
	struct calls calls;
	struct object call;
	struct buf name = {0};

	if (calls__read(reader, row, 32760, &calls) == -ENOMEM)
		w->err = -ENOMEM;
	for (size_t i = 0; i < calls.n && !w->err; i++) {
		name.len = 0;
		if (heap__object(&w->h, calls.list[i].call, &call) && call.type == HEAP_CALL)
			deparse__call(&w->h, call.word[0], &name, 60);
		if (buf__add(&name, "", 1))
			w->err = -ENOMEM;
		else
			walk__begin(w, calls.list[i].env, name.data, "()/");
	}
	buf__free(&name);
	calls__free(&calls);
}

/* --- rows --- */

static bool node__is_root(const struct node *n)
{
	return n->root != NULL;
}

static int walk__part(struct walk *w, const struct node *n, struct buf *b)
{
	const struct node *p = &w->nodes[n->parent];
	struct object list, names;
	struct buf text = {0};
	uint64_t at = 0;
	int err = 0;

	if (n->wraps)
		return buf__str(b, ")");
	if (n->list) {
		if (heap__object(&w->h, n->list, &list) &&
		    heap__object(&w->h, heap__attribute(&w->h, &list, "names"), &names) &&
		    names.type == HEAP_STRING && heap__plain(&w->h, &names) &&
		    heap__word(&w->h, &names, n->name, &at))
			err = heap__text(&w->h, at, &text, LITERAL_NAME_BYTES);
		if (err || !text.len)
			err = buf__printf(b, "[[%llu]]", (unsigned long long)n->name + 1);
		else
			err = buf__str(b, "$");
	} else {
		err = heap__name(&w->h, n->name, &text, LITERAL_NAME_BYTES) == -ENOMEM ? -ENOMEM
										       : 0;
		if (!err && !node__is_root(p))
			err = buf__str(b, p->parent == w->registry ? "::" : "$");
	}
	if (!err && text.len)
		err = literal__name(b, text.data, text.len);
	buf__free(&text);
	return err;
}

static int walk__path(struct walk *w, uint32_t node, char **path)
{
	uint32_t parts[PARTS_MAX], n = 0;
	struct buf b = {0};
	int err = 0;

	for (; node != NONE && n < PARTS_MAX; node = w->nodes[node].parent)
		parts[n++] = node;
	for (uint32_t i = 0; i < n && !err; i++)
		if (w->nodes[parts[i]].wraps)
			err = buf__str(&b, "environment(");
	if (!err && node != NONE)
		err = buf__str(&b, "...");
	while (n-- && !err)
		err = node__is_root(&w->nodes[parts[n]]) ? buf__str(&b, w->nodes[parts[n]].root)
							 : walk__part(w, &w->nodes[parts[n]], &b);
	if (!err && node__is_root(&w->nodes[parts[0]]))
		err = buf__str(&b, "*");
	else if (!err && w->nodes[parts[0]].parent == w->registry)
		err = buf__str(&b, "::*");
	if (!err)
		err = buf__add(&b, "", 1);
	*path = b.data;
	return err;
}

static void walk__class(struct walk *w, const struct node *n, char class[64])
{
	struct object o, names;
	struct buf text = {0};
	uint64_t at;

	if (!heap__object(&w->h, n->at, &o) || o.type != n->type)
		return;
	if (o.alt) {
		memcpy(class, "ALTREP ", 8);
		heap__alt_class(&w->h, &o, class + 7);
	} else if (o.has_class &&
		   heap__object(&w->h, heap__attribute(&w->h, &o, "class"), &names) &&
		   names.type == HEAP_STRING && heap__word(&w->h, &names, 0, &at) &&
		   !heap__text(&w->h, at, &text, 31)) { /* twice as long as UTF-8, at most */
		memcpy(class, text.len ? text.data : "", text.len);
	}
	buf__free(&text);
}

/*
 * A list is shown by its elements, and an environment by its variables, if at most five of them
 * hold nine tenths of it.  What has a class stays one, except environments.
 */
static bool node__is_split(const struct node *n, uint32_t i, const struct walk *w)
{
	if (node__is_root(n) || i == w->registry)
		return true;
	return (!n->has_class || n->type == HEAP_ENVIRONMENT) && n->shown / 9 >= n->bytes / 10;
}

/* The largest of what is not split, inside of what is. */
static int walk__rows(struct walk *w)
{
	uint32_t rows[GLOBALS_ROWS + 1];
	uint64_t bytes[GLOBALS_ROWS + 1];
	size_t n = 0, k;
	bool *open = calloc(w->nnodes + 1, sizeof(*open));
	uint64_t *rest = calloc(w->nnodes + 1, sizeof(*rest));
	int err = open && rest ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < w->nnodes && !err; i++)
		rest[i] = w->nodes[i].bytes;
	for (uint32_t i = (uint32_t)w->nnodes; i-- > 0 && !err;)
		if (w->nodes[i].parent != NONE)
			w->nodes[w->nodes[i].parent].bytes += w->nodes[i].bytes;
	for (uint32_t i = 0; i < w->nnodes && !err; i++) {
		struct node *c = &w->nodes[i];

		if (c->parent != NONE && c->bytes >= w->nodes[c->parent].bytes / 5)
			w->nodes[c->parent].shown += c->bytes;
	}
	for (uint32_t i = 0; i < w->nnodes && !err; i++) {
		const struct node *c = &w->nodes[i];
		uint64_t size;

		if (c->parent != NONE && !open[c->parent])
			continue;
		open[i] = node__is_split(c, i, w);
		if (open[i] && !node__is_root(c))
			continue;
		size = open[i] ? rest[i] : c->bytes;
		for (k = n; k && bytes[k - 1] < size; k--) {
			rows[k] = rows[k - 1];
			bytes[k] = bytes[k - 1];
		}
		rows[k] = i;
		bytes[k] = size;
		n = n < GLOBALS_ROWS ? n + 1 : n;
	}
	for (k = 0; k < n && !err && bytes[k]; k++) {
		struct global_row *row = &w->out->rows[k];
		const struct node *c = &w->nodes[rows[k]];

		*row = (struct global_row){
			.type = node__is_root(c) ? "small variables" : value__type(c->type),
			.length = c->length,
			.bytes = bytes[k],
		};
		err = walk__path(w, rows[k], &row->path);
		walk__class(w, c, row->class);
		w->out->n = k + 1;
	}
	free(open);
	free(rest);
	return err;
}

static void walk__free(struct walk *w)
{
	for (size_t i = 0; i < w->nnodes; i++)
		free(w->nodes[i].root);
	free(w->nodes);
	free(w->names);
	free(w->pending);
	free(w->queue);
	free(w->seen);
	page_cache__close(&w->cache);
}

int globals__find(const struct mem_reader *reader, const struct xr_row *row, uint64_t namespaces,
		  const struct globals_limits *limits, struct globals *out)
{
	struct walk w = {.limits = limits, .out = out, .registry = NONE, .base = NONE};
	struct mem_reader cached;

	*out = (struct globals){0};
	w.until = limits->now() + limits->ns;
	w.err = page_cache__open(&w.cache, reader);
	cached = page_cache__reader(&w.cache);
	heap__init(&w.h, &cached, row, UINT32_MAX);
	if (!w.err) {
		w.base = walk__root(&w, 0, "base", "::");
		w.registry = walk__begin(&w, namespaces, "", "");
		walk__begin(&w, row->global_env, "", "");
		walk__frames(&w, &cached, row);
		walk__queue(&w);
	}
	w.err = w.err ? w.err : walk__rows(&w);
	walk__free(&w);
	return w.err;
}

void globals__free(struct globals *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->rows[i].path);
	*g = (struct globals){0};
}
