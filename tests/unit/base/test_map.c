/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The map, against a plain array. */
#include "base/map.h"
#include "some.h"
#include "tap.h"

#define KEYS 512u

TEST(map)
{
	static char values[8];
	void *want[KEYS] = {0};
	struct map m = {0};
	size_t count = 0, wrong = 0;

	tap__ok(!map__get(&m, 1, 2) && !map__remove(&m, 1, 2), "an empty map holds nothing");
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t key = some(KEYS);

		if (some(5) < 3) {
			void *value = &values[some(sizeof(values))];

			count += !want[key];
			want[key] = value;
			wrong += map__put(&m, key, ~key, value) != 0;
		} else {
			count -= want[key] != NULL;
			wrong += map__remove(&m, key, ~key) != want[key];
			want[key] = NULL;
		}
		key = some(KEYS);
		wrong += map__get(&m, key, ~key) != want[key] || m.count != count;
	}
	tap__ok(!wrong, "200000 puts and removes leave what they should, %zu wrong", wrong);
	tap__ok(!map__get(&m, 1, 1), "both numbers of the key count");
	map__free(&m);
	tap__ok(!m.entries && !m.count, "a freed map is empty");
}

/* Keys that have equal low bits of map__hash(), which anyone can compute, are spread out. */
TEST(chosen_keys)
{
	struct map m = {0};
	size_t run = 0, longest = 0;

	for (uint64_t key = 0; m.count < 1000; key++)
		if (!(map__hash(key, 1) & 0x7ff))
			map__put(&m, key, 1, &m);
	for (size_t i = 0; i < m.cap; i++) {
		run = m.entries[i].value ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	tap__ok(m.cap == 2048 && longest < 500, "of 1000 chosen keys %zu are in a row", longest);
	map__free(&m);
}

TEST(texts)
{
	static const char text[] = "0123456789abcdef";
	size_t equal = 0;

	for (size_t i = 0; i < sizeof(text); i++)
		for (size_t k = 0; k < sizeof(text); k++)
			equal += map__hash_text(text, i) == map__hash_text(text, k);
	tap__ok(equal == sizeof(text), "each length of a text has a hash");
	tap__ok(map__hash_text("0123456789", 10) == map__hash_text(text, 10) &&
			map__hash_text("0123456x89", 10) != map__hash_text(text, 10),
		"it is that of the bytes");
}
