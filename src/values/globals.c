/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects are walked depth first on a list of what is pending, environments breadth first in a
 * queue: so an object counts at a path through as few environments as possible.  What is large, or
 * leads to an environment, has a node.  At the end a node has what is below it, too.
 */
#include "values/global_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "values/calls.h"
#include "values/deparse.h"
#include "values/literal.h"
#include "values/value.h"

#define PARTS_MAX 40u /* of a path */

/* The variable @name with what lies at @at: of a promise that was forced, its value is shown. */
static void gather__variable(struct gather *w, uint64_t name, uint64_t at)
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
	gather__open(w, at, &o, name, 0);
	gather__run(w);
}

static void gather__chain(struct gather *w, uint64_t at)
{
	struct object cell;

	while (at != w->h.nil && gather__goes(w)) {
		if (!heap__object(&w->h, at, &cell) || cell.type != HEAP_PAIRLIST) {
			w->out->unreadable++;
			return;
		}
		if (!gather__count(w, &cell))
			return;
		w->nodes[w->env].length++;
		if (!value__is_scalar(cell.extra))
			gather__variable(w, cell.word[2], cell.word[0]);
		at = cell.word[1];
	}
}

static void gather__variables(struct gather *w, const struct object *o)
{
	struct object table;
	uint64_t chain;

	w->nodes[w->env].length = 0;
	gather__chain(w, o->word[0]);
	if (o->word[2] == w->h.nil)
		return;
	if (!heap__object(&w->h, o->word[2], &table) || table.type != HEAP_LIST || table.alt) {
		w->out->unreadable++;
		return;
	}
	if (!gather__count(w, &table))
		return;
	for (uint64_t i = 0; i < table.length && gather__goes(w); i++) {
		if (!heap__word(&w->h, &table, i, &chain)) {
			w->out->unreadable++;
			return;
		}
		gather__chain(w, chain);
	}
}

/* @path is the caller's. */
static uint32_t gather__root(struct gather *w, uint64_t at, const char *path, const char *end)
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
	node = gather__node(w, &n);
	if (node == NONE)
		free(n.root);
	return node;
}

/* Walk @at as a root, unless it was met before.  Its variables are those of @path. */
static uint32_t gather__begin(struct gather *w, uint64_t at, const char *path, const char *end)
{
	uint32_t node = NONE;

	if (!at || at == w->h.nil || w->err || !gather__first(w, at))
		return NONE;
	node = gather__root(w, at, path, end);
	if (node != NONE && !array__room(&w->queue, w->nqueue, &w->queue_cap, sizeof(*w->queue)))
		w->queue[w->nqueue++] = (struct queued){at, node};
	else if (!w->err && node != NONE)
		w->err = -ENOMEM;
	return node;
}

/* What @o lies in: an environment with a name, as on the search path, is a root. */
static void gather__enclosure(struct gather *w, const struct object *o)
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
		gather__begin(w, outer.at, text.data, "$");
	} else {
		gather__push(w, outer.at, WHOLE);
		gather__run(w);
	}
	buf__free(&text);
}

static void gather__queue(struct gather *w)
{
	struct object o;

	for (size_t i = 0; i < w->nqueue && gather__goes(w); i++) {
		w->env = w->queue[i].node;
		if (!heap__object(&w->h, w->queue[i].at, &o))
			w->out->unreadable++;
		else if (o.type == HEAP_SYMBOL) /* a variable of package base */
			gather__variable(w, o.at, o.word[1]);
		else if (o.type == HEAP_ENVIRONMENT) {
			gather__variables(w, &o);
			gather__enclosure(w, &o);
		} else
			w->out->unreadable++;
	}
}

/* @reader must not be the cache: calls that change are read again. */
static void gather__frames(struct gather *w, const struct mem_reader *reader,
			   const struct xr_row *row)
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
			gather__begin(w, calls.list[i].env, name.data, "()/");
	}
	buf__free(&name);
	calls__free(&calls);
}

/* --- what was found: which node is shown, its path and its class --- */

static bool node__is_root(const struct node *n)
{
	return n->root != NULL;
}

static int gather__part(struct gather *w, const struct node *n, struct buf *b)
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

static int gather__path(struct gather *w, uint32_t node, char **path)
{
	uint32_t parts[PARTS_MAX] = {0}, n = 0;
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
							 : gather__part(w, &w->nodes[parts[n]], &b);
	if (!err && node__is_root(&w->nodes[parts[0]]))
		err = buf__str(&b, "*");
	else if (!err && w->nodes[parts[0]].parent == w->registry)
		err = buf__str(&b, "::*");
	if (!err)
		err = buf__add(&b, "", 1);
	*path = b.data;
	return err;
}

static void gather__class(struct gather *w, const struct node *n, char class[64])
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
static bool node__is_split(const struct node *n, uint32_t i, const struct gather *w)
{
	if (node__is_root(n) || i == w->registry)
		return true;
	return (!n->has_class || n->type == HEAP_ENVIRONMENT) && n->shown / 9 >= n->bytes / 10;
}

/* The largest of what is not split, inside of what is: into out.  -ENOMEM. */
static int gather__rows(struct gather *w)
{
	uint32_t rows[GLOBALS_ROWS + 1] = {0};
	uint64_t bytes[GLOBALS_ROWS + 1] = {0};
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
		err = gather__path(w, rows[k], &row->path);
		gather__class(w, c, row->class);
		w->out->n = k + 1;
	}
	free(open);
	free(rest);
	return err;
}

/* --- all --- */

static void gather__free(struct gather *w)
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
	struct gather w = {.limits = limits, .out = out, .registry = NONE, .base = NONE};
	struct mem_reader cached;

	*out = (struct globals){0};
	w.until = limits->now() + limits->ns;
	w.err = page_cache__open(&w.cache, reader);
	cached = page_cache__reader(&w.cache);
	heap__init(&w.h, &cached, row, UINT32_MAX);
	if (!w.err) {
		w.base = gather__root(&w, 0, "base", "::");
		w.registry = gather__begin(&w, namespaces, "", "");
		gather__begin(&w, row->global_env, "", "");
		gather__frames(&w, reader, row);
		gather__queue(&w);
	}
	w.err = w.err ? w.err : gather__rows(&w);
	gather__free(&w);
	return w.err;
}

void globals__free(struct globals *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->rows[i].path);
	*g = (struct globals){0};
}
