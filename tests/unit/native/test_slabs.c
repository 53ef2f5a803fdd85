/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Room in slabs: nothing overlaps, and what is given back is used again only later. */
#include "native/slabs.h"

#include "base/clock.h"
#include "space.h"
#include "some.h"
#include "tap.h"

#define SLABS 3
#define TAKEN 400

static uint64_t *memory[SLABS];

static int fake__slab(struct engine *e, uint32_t slab, uint64_t **words)
{
	if (slab >= SLABS)
		return -E2BIG;
	if (!memory[slab])
		memory[slab] = calloc(XR_SLAB_WORDS, sizeof(uint64_t));
	*words = memory[slab];
	return memory[slab] ? 0 : -ENOMEM;
}

static const struct engine_ops fake = {.slab = fake__slab};

TEST(random)
{
	struct extent extents[TAKEN] = {0};
	struct slabs s;
	uint32_t wrong = 0, refused = 0, taken = 0;
	uint64_t now = 1;

	slabs__init(&s, &fake, NULL, SLABS);
	for (uint32_t round = 0; round < 40000; round++) {
		uint32_t i = some(TAKEN);
		uint64_t *words;

		now += NS_PER_MS;
		slabs__tend(&s, now);
		if (extents[i].n) {
			words = slabs__words(&s, extents[i]);
			for (uint32_t k = 0; k < extents[i].n; k++)
				wrong += words[k] != i + 1;
			slabs__give(&s, extents[i], now);
			extents[i].n = 0;
			continue;
		}
		if (slabs__take(&s, 1 + some(3000), &extents[i], &words)) {
			refused++;
			extents[i].n = 0;
			continue;
		}
		taken++;
		for (uint32_t k = 0; k < extents[i].n; k++)
			words[k] = i + 1;
	}
	tap__ok(!wrong && taken > 10000, "what is taken is not taken twice: %u taken, %u refused",
		taken, refused);
	for (uint32_t i = 0; i < TAKEN; i++)
		if (extents[i].n)
			slabs__give(&s, extents[i], now);
	slabs__tend(&s, now + 10 * NS_PER_S);
	tap__ok(!s.used && s.free.count == s.count,
		"all that is given back is whole again: %zu pieces", s.free.count);
	slabs__free(&s);
}

TEST(rest)
{
	struct extent first, second;
	struct slabs s;
	uint64_t *words;

	slabs__init(&s, &fake, NULL, 1);
	tap__ok(!slabs__take(&s, XR_SLAB_WORDS, &first, &words), "a whole slab can be taken");
	tap__ok(slabs__take(&s, 1, &second, &words) == -E2BIG, "then there is no room");
	slabs__give(&s, first, 1000);
	slabs__tend(&s, 1000 + NS_PER_MS);
	tap__ok(slabs__take(&s, 1, &second, &words) == -E2BIG,
		"nor as long as a sample may still be there");
	slabs__tend(&s, 1000 + 2 * NS_PER_S);
	tap__ok(!slabs__take(&s, 1, &second, &words), "afterwards there is");
	tap__ok(slabs__take(&s, XR_SLAB_WORDS + 1, &second, &words) == -E2BIG &&
			slabs__take(&s, 0, &second, &words) == -E2BIG,
		"more than a slab has, or nothing, is refused");
	slabs__free(&s);
}
