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
