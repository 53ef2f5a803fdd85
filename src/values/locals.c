/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/locals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "values/literal.h"

#define HASH_MAX  65536u /* chains of a hash table */
#define CHAIN_MAX 1024u	 /* variables of one that are compared */
#define TRIES	  3u	 /* to read what R replaces meanwhile */

static char *buf__take(struct buf *b)
{
	if (buf__add(b, "", 1)) {
		buf__free(b);
		return NULL;
	}
	return b->data;
}

/*
 * The value of the binding @cell, to @value.  If R gives the variable another one meanwhile, the
 * memory of the first one may have been used again: it is read again.
 */
static int locals__value(struct heap *h, const struct object *cell, size_t max, struct buf *value,
			 struct value_kind *kind)
{
	struct object is = *cell, was;
	int err;

	for (unsigned int i = 0; i < TRIES; i++) {
		was = is;
		value->len = 0;
		err = value__in_binding(h, &was, value, max, kind);
		if (err || !heap__object(h, cell->at, &is) || is.word[0] == was.word[0])
			break;
	}
	return err;
}

static int locals__add(struct heap *h, const struct object *cell, size_t max, struct locals *out)
{
	struct buf name = {0}, value = {0};
	struct value_kind kind;
	struct local v = {0};
	int err = heap__name(h, cell->word[2], &name, LITERAL_NAME_BYTES);

	if (err == -EFAULT) {
		out->damaged = true;
		buf__free(&name);
		return 0;
	}
	err = err ? err : locals__value(h, cell, max, &value, &kind);
	if (!err)
		err = array__room(&out->list, out->n, &out->cap, sizeof(*out->list));
	v.name = buf__take(&name);
	v.value = buf__take(&value);
	if (err || !v.name || !v.value) {
		free(v.name);
		free(v.value);
		return err ? err : -ENOMEM;
	}
	v.kind = kind;
	out->list[out->n++] = v;
	return 0;
}

/* The bindings of one chain. */
static int locals__chain(struct heap *h, uint64_t at, size_t most, size_t max, struct locals *out)
{
	struct object cell;
	int err = 0;

	while (at != h->nil && !err) {
		if (out->n >= most) {
			out->more = true;
			break;
		}
		if (!heap__object(h, at, &cell) || cell.type != HEAP_PAIRLIST) {
			out->damaged = true;
			break;
		}
		err = locals__add(h, &cell, max, out);
		at = cell.word[1];
	}
	return err;
}

static int local__compare(const void *a, const void *b)
{
	const struct local *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* As locals__read(), in any order; 1: R moved the variables to another hash table meanwhile. */
static int locals__read_once(struct heap *h, uint64_t env, size_t most, size_t max,
			     struct locals *out)
{
	struct object o, table, now;
	uint64_t chain;
	int err;

	if (!heap__object(h, env, &o) || o.type != HEAP_ENVIRONMENT) {
		out->damaged = true;
		return 0;
	}
	err = locals__chain(h, o.word[0], most, max, out);
	if (err || o.word[2] == h->nil)
		return err;
	if (!heap__object(h, o.word[2], &table) || table.type != HEAP_LIST) {
		out->damaged = true;
		table.length = 0;
	}
	for (uint64_t i = 0; i < table.length && !err && !out->more; i++) {
		if (!heap__word(h, &table, i, &chain)) {
			out->damaged = true;
			break;
		}
		err = locals__chain(h, chain, most, max, out);
	}
	if (!err && heap__object(h, env, &now) && now.word[2] != o.word[2])
		return 1;
	return err;
}

int locals__read(struct heap *h, uint64_t env, size_t most, size_t max, struct locals *out)
{
	int err = 1;

	*out = (struct locals){0};
	for (unsigned int i = 0; i < TRIES && err == 1; i++) {
		locals__free(out);
		err = locals__read_once(h, env, most, max, out);
	}
	if (err == 1)
		out->damaged = true;
	if (out->n)
		qsort(out->list, out->n, sizeof(*out->list), local__compare);
	return err == 1 ? 0 : err;
}

void locals__free(struct locals *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->list[i].name);
		free(v->list[i].value);
	}
	free(v->list);
	*v = (struct locals){0};
}

/* The binding of @name in one chain. */
static bool chain__find(struct heap *h, uint64_t at, const char *name, struct object *cell)
{
	for (uint32_t i = 0; at != h->nil && i < CHAIN_MAX; i++, at = cell->word[1]) {
		if (!heap__object(h, at, cell) || cell->type != HEAP_PAIRLIST)
			return false;
		if (heap__is(h, cell->word[2], name))
			return true;
	}
	return false;
}

static bool table__find(struct heap *h, uint64_t at, const char *name, struct object *cell)
{
	struct object table;
	uint64_t chain;

	if (at == h->nil || !heap__object(h, at, &table) || table.type != HEAP_LIST)
		return false;
	for (uint64_t i = 0; i < table.length && i < HASH_MAX; i++)
		if (heap__word(h, &table, i, &chain) && chain != h->nil &&
		    chain__find(h, chain, name, cell))
			return true;
	return false;
}

bool locals__find(struct heap *h, uint64_t env, const char *name, struct object *value)
{
	struct object o, cell;

	if (!heap__object(h, env, &o) || o.type != HEAP_ENVIRONMENT ||
	    (!chain__find(h, o.word[0], name, &cell) && !table__find(h, o.word[2], name, &cell)))
		return false;
	return value__bound(h, &cell, value);
}
