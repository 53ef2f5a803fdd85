/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash map from a pair of 64-bit numbers to a pointer.  Starts as { 0 }; freed by map__free,
 * which leaves what the values point at alone.
 */
#ifndef XR_BASE_MAP_H
#define XR_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t a, b;
	void *value; /* NULL: this place is free */
};

struct map {
	struct map_entry *entries; /* cap of them; linear probing */
	size_t cap, count;	   /* cap: 0 or a power of two */
	uint64_t seed;
};

/* map__hash - mixes two numbers into a hash with all bits used. */
uint64_t map__hash(uint64_t a, uint64_t b);

/* map__hash_bytes - FNV-1a of @len bytes; with the length it makes a key for texts. */
uint64_t map__hash_bytes(const char *text, size_t len);

/* map__hash_text - a hash of @len bytes for tables, another one in each run (seed.h). */
uint64_t map__hash_text(const char *text, size_t len);

/* map__get - the value of (@a, @b), or NULL. */
void *map__get(const struct map *m, uint64_t a, uint64_t b);

/* map__put - set the value of (@a, @b) to @value, which must not be NULL.  -ENOMEM: not set. */
int map__put(struct map *m, uint64_t a, uint64_t b, void *value);

/* map__remove - take (@a, @b) out.  Returns its value, or NULL when it was not there. */
void *map__remove(struct map *m, uint64_t a, uint64_t b);

/*
 * map__number - a number that was kept with map__put_number instead of a pointer; 0: none was.
 */
static inline uint64_t map__number(const struct map *m, uint64_t a, uint64_t b)
{
	return (uintptr_t)map__get(m, a, b);
}

static inline int map__put_number(struct map *m, uint64_t a, uint64_t b, uint64_t number)
{
	return map__put(m, a, b, (void *)(uintptr_t)number);
}

void map__free(struct map *m);

#endif
