/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"

#define INTERN_BLOCK 65536u

struct block {
	struct block *next;
	char data[];
};

/* One string; those with the same hash and length hang together. */
struct entry {
	struct entry *next;
	char text[];
};

struct intern {
	struct map entries;   /* (hash, length) to the first struct entry */
	struct block *blocks; /* the newest is the one being filled */
	size_t used, size;    /* of the newest block's data */
	size_t total;	      /* of all blocks' data */
};

int intern__new(struct intern **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void *intern__alloc(struct intern *t, size_t size)
{
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!t->blocks || size > t->size - t->used) {
		size_t room = size > INTERN_BLOCK ? size : INTERN_BLOCK;
		struct block *b = NULL;

		if (t->total + room <= INTERN_MAX)
			b = malloc(sizeof(*b) + room);
		if (!b)
			return NULL;
		t->total += room;
		b->next = t->blocks;
		t->blocks = b;
		t->used = 0;
		t->size = room;
	}
	p = t->blocks->data + t->used;
	t->used += size;
	return p;
}

const char *intern__get(struct intern *t, const char *text, size_t len)
{
	struct entry *first, *e;
	uint64_t hash;

	len = strnlen(text, len);
	hash = map__hash_bytes(text, len);
	first = map__get(&t->entries, hash, len);
	for (e = first; e; e = e->next)
		if (!memcmp(e->text, text, len))
			return e->text;
	e = intern__alloc(t, sizeof(*e) + len + 1);
	if (!e)
		return NULL;
	memcpy(e->text, text, len);
	e->text[len] = '\0';
	e->next = first;
	if (map__put(&t->entries, hash, len, e))
		return NULL; /* the bytes stay in the block, unused */
	return e->text;
}

void intern__free(struct intern *t)
{
	if (!t)
		return;
	while (t->blocks) {
		struct block *b = t->blocks;

		t->blocks = b->next;
		free(b);
	}
	map__free(&t->entries);
	free(t);
}
