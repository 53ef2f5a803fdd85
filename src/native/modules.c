/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "native/modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct module *modules__number(const struct modules *all, uint32_t number)
{
	return number ? map__get(&all->numbers, number, 0) : NULL;
}

struct module *modules__get(struct modules *all, const struct target_file *file,
			    enum native_kind kind, const char *path)
{
	struct module *first = map__get(&all->files, file->dev, file->ino), *m;

	for (m = first; m; m = m->next)
		if (m->kind == kind && !memcmp(&m->file, file, sizeof(*file)))
			return m;
	if (all->last == XR_NATIVE_MODULES_MAX)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->path = strdup(path);
	m->file = *file;
	m->kind = kind;
	m->number = ++all->last;
	m->next = first;
	if (!m->path || map__put(&all->numbers, m->number, 0, m))
		goto no_memory;
	if (map__put(&all->files, file->dev, file->ino, m)) {
		map__remove(&all->numbers, m->number, 0);
		goto no_memory;
	}
	all->made++;
	return m;
no_memory:
	free(m->path);
	free(m);
	return NULL;
}

/* Rows [@first, @first + @n) of @a and all its rules, as a part in a slab. */
static int module__part(struct module *m, const struct native_module *a, struct slabs *slabs,
			uint32_t first, uint32_t n)
{
	const uint32_t rules = 2 * a->head->nrules;
	struct module_part *part = &m->parts[m->nparts];
	uint64_t *words;
	int err;

	if (m->nparts == MODULE_PARTS_MAX)
		return -E2BIG;
	err = slabs__take(slabs, n + rules, &part->extent, &words);
	if (err)
		return err;
	memcpy(words, &a->rows[first], (size_t)n * 8);
	memcpy(words + n, a->rules, (size_t)rules * 8);
	part->pc = a->rows[first].pc;
	part->rows = part->extent.first;
	part->nrows = n;
	part->rules = part->extent.first + n;
	m->nparts++;
	return 0;
}

static void module__give_parts(struct module *m, struct slabs *slabs, uint64_t now)
{
	for (uint32_t i = 0; i < m->nparts; i++)
		slabs__give(slabs, m->parts[i].extent, now);
	m->nparts = 0;
}

static int module__table(struct module *m, const struct native_module *a, struct slabs *slabs)
{
	const uint32_t rules = 2 * a->head->nrules, room = XR_SLAB_WORDS - rules;
	uint32_t n;
	int err = 0;

	if (a->head->nrows && rules > XR_SLAB_WORDS / 2)
		return -E2BIG;
	for (uint32_t at = 0; at < a->head->nrows && !err; at += n) {
		n = a->head->nrows - at < room ? a->head->nrows - at : room;
		err = module__part(m, a, slabs, at, n);
	}
	if (err)
		module__give_parts(m, slabs, 0);
	return err;
}

static int module__names(struct modules *all, struct module *m, const struct native_module *a)
{
	const struct native_module_head *h = a->head;
	const size_t symbols = h->nsymbols * sizeof(*m->symbols);
	const size_t builtins = h->nbuiltins * sizeof(*m->builtins);
	const size_t size = symbols + builtins + h->texts;

	if (size > all->names_max - all->names)
		return -E2BIG;
	m->symbols = malloc(symbols + 1);
	m->builtins = malloc(builtins + 1);
	m->texts = malloc((size_t)h->texts + 1);
	if (!m->symbols || !m->builtins || !m->texts)
		return -ENOMEM;
	memcpy(m->symbols, a->symbols, symbols);
	memcpy(m->builtins, a->builtins, builtins);
	memcpy(m->texts, a->texts, h->texts);
	m->texts[h->texts] = '\0';
	m->nsymbols = h->nsymbols;
	m->nbuiltins = h->nbuiltins;
	m->texts_size = h->texts;
	all->names += size;
	return 0;
}

int modules__know(struct modules *all, struct module *m, const struct native_module *a,
		  struct slabs *slabs)
{
	const struct native_module_head *h = a->head;
	int err;

	m->state = MODULE_KNOWN;
	m->base = h->base;
	m->nsegments = h->nsegments;
	memcpy(m->segments, h->segments, sizeof(m->segments));
	for (uint32_t i = 0; i < h->build_id_len; i++)
		snprintf(m->build_id + (size_t)2 * i, 3, "%02x", h->build_id[i]);
	for (uint32_t i = 0; i < h->hash_len; i++)
		snprintf(m->hash + (size_t)2 * i, 3, "%02x", h->hash[i]);
	m->is_r = h->nbuiltins != 0;
	err = module__table(m, a, slabs);
	if (!err || err == -E2BIG) {
		m->no_room = err != 0;
		err = module__names(all, m, a);
		m->no_room = m->no_room || err;
	}
	all->no_room += m->no_room;
	return err == -E2BIG ? 0 : err;
}

void modules__hold(struct module *m)
{
	m->refs++;
}

static void module__free(struct modules *all, struct module *m)
{
	all->names -= m->nsymbols * sizeof(*m->symbols) + m->nbuiltins * sizeof(*m->builtins) +
		      m->texts_size;
	free(m->symbols);
	free(m->builtins);
	free(m->texts);
	free(m->path);
	free(m);
}

void modules__release(struct modules *all, struct module *m, struct slabs *slabs, uint64_t now)
{
	struct module *first, **at;

	if (--m->refs)
		return;
	first = map__get(&all->files, m->file.dev, m->file.ino);
	for (at = &first; *at && *at != m; at = &(*at)->next)
		;
	if (*at)
		*at = m->next;
	if (!first)
		map__remove(&all->files, m->file.dev, m->file.ino);
	else
		map__put(&all->files, m->file.dev, m->file.ino, first); /* it is there: no memory */
	map__remove(&all->numbers, m->number, 0);
	module__give_parts(m, slabs, now);
	module__free(all, m);
	all->dropped++;
}

const char *module__name(const struct module *m, uint32_t pc)
{
	uint32_t low = 0, high = m->nsymbols;
	const struct native_symbol *at;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->symbols[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	at = &m->symbols[low - 1];
	return at->pc == pc || pc - at->pc < at->size ? m->texts + at->name : NULL;
}

const char *module__builtin(const struct module *m, uint32_t n)
{
	const char *name = n < m->nbuiltins ? m->texts + m->builtins[n] : NULL;

	return name && *name ? name : NULL;
}

uint64_t module__base(const struct module *m, uint64_t start, uint64_t offset)
{
	const uint64_t page = 4095;

	for (uint32_t i = 0; i < m->nsegments; i++) {
		const struct native_segment *s = &m->segments[i];

		if (offset >= (s->offset & ~page) && offset < s->offset + s->size)
			return start - offset + (s->offset - s->address) + m->base;
	}
	return start - offset + m->base;
}

void modules__free(struct modules *all)
{
	for (size_t i = 0; i < all->numbers.cap; i++)
		if (all->numbers.entries[i].value)
			module__free(all, all->numbers.entries[i].value);
	map__free(&all->files);
	map__free(&all->numbers);
}
