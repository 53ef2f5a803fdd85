/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/intern.h"
#include "base/limits.h"
#include "base/map.h"

#define NOTHING "``" /* as R quotes names, with nothing in it */

struct intern_key {
	const char *text;
	size_t len;
};

void intern__init(struct intern *t, struct budget *budget)
{
	*t = (struct intern){.table.budget = budget, .arena.budget = budget};
}

static bool name__same(const void *record, const void *arg)
{
	const struct name *name = record;
	const struct intern_key *key = arg;

	return name->len == key->len && !memcmp(name->text, key->text, key->len);
}

/* Is there nothing in @text that any escaping is about?  True for nearly all names. */
static bool text__tame(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == ';' || c == '\\')
			return false;
	}
	return true;
}

/* Keep @escaped, unless it is the same as @same. */
static int intern__keep(struct intern *t, const struct buf *escaped, const char *same,
			size_t same_len, const char **text, uint32_t *len)
{
	char *copy;

	*text = same;
	*len = (uint32_t)same_len;
	if (escaped->len == same_len && !memcmp(escaped->data, same, same_len))
		return 0;
	copy = arena__alloc(&t->arena, escaped->len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, escaped->data, escaped->len);
	copy[escaped->len] = '\0';
	*text = copy;
	*len = (uint32_t)escaped->len;
	return 0;
}

/* Fill in the escaped forms of @name, whose text is set. */
static int name__escape(struct intern *t, struct name *name)
{
	struct buf safe = {0}, field = {0};
	int err = escape__text(&safe, name->text, "\"", LIMIT_NAME);

	if (err >= 0) {
		name->cut = err;
		err = escape__text(&field, name->text, "\";", LIMIT_NAME);
	}
	if (err >= 0)
		err = intern__keep(t, &safe, name->text, name->len, &name->safe, &name->safe_len);
	if (!err)
		err = intern__keep(t, &field, name->safe, name->safe_len, &name->field,
				   &name->field_len);
	buf__free(&safe);
	buf__free(&field);
	return err;
}

const struct name *intern__get(struct intern *t, const char *text, size_t len)
{
	struct intern_key key = {text, strnlen(text, len)};
	uint64_t hash;
	struct name *name;

	if (key.len > UINT32_MAX / 8)
		return NULL;
	hash = map__hash_text(text, key.len);
	name = table__find(&t->table, hash, name__same, &key);
	if (name)
		return name;
	name = arena__alloc(&t->arena, sizeof(*name) + key.len + 1);
	if (!name)
		return NULL;
	*name = (struct name){.hash = hash,
			      .len = (uint32_t)key.len,
			      .safe = name->text,
			      .field = name->text,
			      .safe_len = (uint32_t)key.len,
			      .field_len = (uint32_t)key.len};
	memcpy(name->text, text, key.len);
	name->text[key.len] = '\0';
	if (!key.len) {
		name->safe = name->field = NOTHING;
		name->safe_len = name->field_len = sizeof(NOTHING) - 1;
	}
	if ((key.len > LIMIT_NAME || !text__tame(name->text, key.len)) && name__escape(t, name))
		return NULL; /* the bytes stay in the arena, unused */
	return table__add(&t->table, name) ? NULL : name;
}

void intern__free(struct intern *t)
{
	table__free(&t->table);
	arena__free(&t->arena);
}
