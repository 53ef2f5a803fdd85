/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sources.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"

struct source_key {
	uint32_t serial;
	const char *file;
};

static bool source__is(const void *record, const void *arg)
{
	const struct source_text *one = record;
	const struct source_key *key = arg;

	return one->serial == key->serial && !strcmp(one->source.file, key->file);
}

static uint64_t source__hash(const struct source_key *key)
{
	return map__hash(map__hash_bytes(key->file, strlen(key->file)), key->serial);
}

const struct source_text *source_texts__find(const struct source_texts *t, uint32_t serial,
					     const char *file)
{
	const struct source_key key = {serial, file};

	return table__find(&t->table, source__hash(&key), source__is, &key);
}

static const char *sources__copy(struct source_texts *t, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = arena__alloc(&t->arena, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

bool source__same(const struct profile_source *a, const struct profile_source *b)
{
	if (a->text && b->text)
		return !strcmp(a->text, b->text);
	if (a->path && b->path)
		return !strcmp(a->path, b->path) && a->time == b->time;
	return !a->text && !b->text && !a->path && !b->path;
}

int source_texts__add(struct source_texts *t, uint32_t serial, const struct profile_source *source)
{
	const struct source_key key = {serial, source->file};
	const uint64_t hash = source__hash(&key);
	struct source_text *one = table__find(&t->table, hash, source__is, &key);

	if (one && (one->source.text || one->source.path)) {
		one->several = one->several || !source__same(&one->source, source);
		return 0;
	}
	if (!one) {
		if (t->table.count >= LIMIT_SOURCES)
			return 0;
		one = arena__alloc(&t->arena, sizeof(*one));
		if (!one)
			return -ENOMEM;
		*one = (struct source_text){.hash = hash, .serial = serial};
		one->source.file = sources__copy(t, source->file);
		if (!one->source.file || table__add(&t->table, one))
			return -ENOMEM;
	}
	one->source.err = source->err;
	one->source.time = source->time;
	if (source->text && t->bytes + strlen(source->text) > LIMIT_SOURCES_ALL) {
		one->source.err = -ENOSPC;
		return 0;
	}
	if (source->text) {
		t->bytes += strlen(source->text);
		one->source.text = sources__copy(t, source->text);
	}
	if (source->path)
		one->source.path = sources__copy(t, source->path);
	return (source->text && !one->source.text) || (source->path && !one->source.path) ? -ENOMEM
											  : 0;
}

void source_texts__free(struct source_texts *t)
{
	table__free(&t->table);
	arena__free(&t->arena);
	*t = (struct source_texts){0};
}
