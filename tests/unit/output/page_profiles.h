/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles made up for the page: as many stacks and processes as are wanted, the same in each run.
 */
#ifndef PAGE_PROFILES_H
#define PAGE_PROFILES_H

#include "abi.h"
#include "aggregate_maker.h"

static uint64_t profile__chance(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static const struct frame *profile__function(const char *package, const char *name, uint32_t line)
{
	return MADE(.function = name, .package = package, .file = "R/model.R", .line = line);
}

static struct aggregate *profile__new(void)
{
	return AGGREGATE(.timeline = true, .calls = true, .given = true);
}

/* @stacks different stacks, of 8 to 40 frames, in @processes processes, over a minute. */
static struct aggregate *profile__many(uint32_t stacks, uint32_t processes)
{
	static const char *const packages[] = {"base",	"stats",      "utils",	 "data.table",
					       "dplyr", ".GlobalEnv", "ggplot2", "shiny"};
	static const char *const wrappers[] = {"tryCatch", "lapply", "eval", "withCallingHandlers"};
	const struct frame *frames[64];
	struct aggregate *a = profile__new();
	uint64_t chance = 42;
	char name[64], comm[16];

	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t n = 8 + (uint32_t)(profile__chance(&chance) % 33), at = i;
		struct profile_process p = {.serial = 1 + i % processes};
		struct sample s = {.weight = 1};

		/* outermost first: the further out, the fewer there are to choose from */
		for (uint32_t level = 0; level < n; level++) {
			uint32_t which = level < 3 ? 0 : level < 20 ? at % 5 : at % 40;
			const char *package = packages[(which + level) % 8];
			bool wraps = level % 5 == 4;

			snprintf(name, sizeof(name), "%s%u_%u", "step", level, which);
			frames[n - 1 - level] = profile__function(
				wraps ? "base" : package, wraps ? wrappers[level % 4] : name,
				1 + (which * 7 + level) % 300);
			at = level < 3 ? at : at / 3 + (uint32_t)profile__chance(&chance) % 2;
		}
		snprintf(name, sizeof(name), "leaf%u", i % 997);
		frames[0] = profile__function(packages[i % 8], name, 1 + i / 997);
		p.pid = 1000 + p.serial;
		snprintf(comm, sizeof(comm), "worker%u", p.serial);
		p.comm = comm;
		p.r_version = "4.2.2";
		p.cpu_ns = p.serial == 3 ? 60000000 : 40000000000;
		p.elapsed_ns = 60000000000;
		s.stack = stack__of(n, frames, NULL, 0);
		s.time = 1000000000ull + i * (60000000000ull / stacks);
		aggregate__put(a, &p, s);
		if (i % 10 == 0)
			aggregate__put(a, &p, s);
	}
	return a;
}

#endif
