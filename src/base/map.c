/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/seed.h"

uint64_t map__hash(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ULL ^ (b + 0x7f4a7c15ULL) * 0xc2b2ae3d27d4eb4fULL;

	/* the finalizer of MurmurHash3 (public domain) */
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 33;
}

uint64_t map__hash_bytes(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return h;
}

static uint64_t rotated(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void sip__round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] = rotated(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

/* SipHash-1-3 (Aumasson and Bernstein, 2012). */
uint64_t map__hash_text(const char *text, size_t len)
{
	const uint64_t seed = seed__get(), other = map__hash(seed, 1);
	uint64_t v[4] = {seed ^ 0x736f6d6570736575ULL, other ^ 0x646f72616e646f6dULL,
			 seed ^ 0x6c7967656e657261ULL, other ^ 0x7465646279746573ULL};
	size_t n = 8;

	for (size_t at = 0; n == 8; at += n) {
		uint64_t word = 0;

		n = len - at < 8 ? len - at : 8;
		memcpy(&word, text + at, n);
		word |= n < 8 ? (uint64_t)len << 56 : 0;
		v[3] ^= word;
		sip__round(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip__round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static size_t map__home(const struct map *m, uint64_t a, uint64_t b)
{
	return map__hash(a ^ m->seed, b) & (m->cap - 1);
}

/* Where (a, b) is, or the free place where it would be.  The map has at least one free place. */
static size_t map__find(const struct map *m, uint64_t a, uint64_t b)
{
	size_t i = map__home(m, a, b);

	while (m->entries[i].value && (m->entries[i].a != a || m->entries[i].b != b))
		i = (i + 1) & (m->cap - 1);
	return i;
}

void *map__get(const struct map *m, uint64_t a, uint64_t b)
{
	return m->cap ? m->entries[map__find(m, a, b)].value : NULL;
}

static int map__grow(struct map *m)
{
	struct map bigger = {.cap = m->cap ? m->cap * 2 : 16, .count = m->count, .seed = m->seed};

	bigger.entries = calloc(bigger.cap, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	if (!m->cap)
		bigger.seed = seed__get();
	for (size_t i = 0; i < m->cap; i++) {
		const struct map_entry *e = &m->entries[i];

		if (e->value)
			bigger.entries[map__find(&bigger, e->a, e->b)] = *e;
	}
	free(m->entries);
	*m = bigger;
	return 0;
}

int map__put(struct map *m, uint64_t a, uint64_t b, void *value)
{
	struct map_entry *e;

	if (m->count >= m->cap / 4 * 3 && map__grow(m))
		return -ENOMEM;
	e = &m->entries[map__find(m, a, b)];
	if (!e->value)
		m->count++;
	*e = (struct map_entry){a, b, value};
	return 0;
}

void *map__remove(struct map *m, uint64_t a, uint64_t b)
{
	size_t hole, i;
	void *value;

	if (!m->cap)
		return NULL;
	hole = map__find(m, a, b);
	value = m->entries[hole].value;
	if (!value)
		return NULL;
	/* close the hole: move back each entry that was pushed past it */
	for (i = (hole + 1) & (m->cap - 1); m->entries[i].value; i = (i + 1) & (m->cap - 1)) {
		size_t home = map__home(m, m->entries[i].a, m->entries[i].b);

		if (((i - home) & (m->cap - 1)) < ((i - hole) & (m->cap - 1)))
			continue;
		m->entries[hole] = m->entries[i];
		hole = i;
	}
	m->entries[hole].value = NULL;
	m->count--;
	return value;
}

void map__free(struct map *m)
{
	free(m->entries);
	*m = (struct map){0};
}
