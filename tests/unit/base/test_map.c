/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The map and the interned strings, against plain arrays. */
#include <stdint.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "tap.h"

#define KEYS 512u

/* A fixed sequence, so that a failure comes again: xorshift64. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void test_map(void)
{
	static char values[8];
	void *want[KEYS] = {0};
	struct map m = {0};
	uint64_t state = 1;
	size_t count = 0, wrong = 0;

	tap__ok(!map__get(&m, 1, 2) && !map__remove(&m, 1, 2), "an empty map holds nothing");
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t key = next(&state) % KEYS;

		if (next(&state) % 5 < 3) {
			void *value = &values[next(&state) % sizeof(values)];

			count += !want[key];
			want[key] = value;
			wrong += map__put(&m, key, ~key, value) != 0;
		} else {
			count -= want[key] != NULL;
			wrong += map__remove(&m, key, ~key) != want[key];
			want[key] = NULL;
		}
		key = next(&state) % KEYS;
		wrong += map__get(&m, key, ~key) != want[key] || m.count != count;
	}
	tap__ok(!wrong, "200000 puts and removes leave what they should, %zu wrong", wrong);
	tap__ok(!map__get(&m, 1, 1), "both numbers of the key count");
	map__free(&m);
	tap__ok(!m.entries && !m.count, "a freed map is empty");
}

static void test_intern(void)
{
	struct intern *t;
	const char *one, *long_one;
	char text[32];
	static char big[100000];
	size_t wrong = 0;

	if (intern__new(&t))
		tap__bail("no memory");
	one = intern__get(t, "fun", 3);
	tap__ok(!strcmp(one, "fun"), "a string comes back");
	tap__ok(intern__get(t, "funny", 3) == one, "equal strings have one address");
	tap__ok(intern__get(t, "fun\0ny", 6) == one, "a NUL ends the string");
	tap__ok(intern__get(t, "fu", 2) != one, "other strings have another");
	tap__ok(!strcmp(intern__get(t, "", 0), ""), "the empty string");
	memset(big, 'x', sizeof(big));
	long_one = intern__get(t, big, sizeof(big));
	tap__ok(strlen(long_one) == sizeof(big), "a string longer than a block");
	for (int i = 0; i < 20000; i++) {
		int len = snprintf(text, sizeof(text), "name %d", i);
		const char *s = intern__get(t, text, (size_t)len);

		wrong += strcmp(s, text) != 0 || intern__get(t, text, (size_t)len) != s;
	}
	tap__ok(!wrong && intern__get(t, "fun", 3) == one, "20000 strings stay where they are");
	intern__free(t);
	intern__free(NULL);
}

int main(void)
{
	test_map();
	test_intern();
	return tap__done();
}
