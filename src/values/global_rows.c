/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of what was found: which node is shown, its path and its class. */
#include "values/global_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "values/literal.h"
#include "values/value.h"

#define PARTS_MAX 40u /* of a path */

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

int gather__rows(struct gather *w)
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
