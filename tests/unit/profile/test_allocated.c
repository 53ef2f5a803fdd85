/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process allocated between samples, by R's counts of its memory. */
#include "profile/allocated.h"
#include "tap.h"

static struct sample s;

static uint64_t at(struct allocated *a, uint32_t flags, uint64_t small, uint64_t large,
		   uint64_t nodes, uint64_t dups)
{
	s = (struct sample){.flags = flags, .memory = {small, large, nodes, dups}};
	return allocated__sample(a, &s);
}

TEST(allocated)
{
	struct allocated a = {0};

	tap__ok(!at(&a, 0, 1, 1, 1, 5) && !a.begun, "a sample without counts says nothing");
	tap__ok(!at(&a, XR_F_MEMORY, 1000, 2000, 3000, 40) && !s.memory.dups &&
			s.memory.large == 2000,
		"what was there before the first is not its doing, nor are duplications");
	tap__ok(at(&a, XR_F_MEMORY, 1100, 2000, 3050, 45) == 150 && s.memory.dups == 5,
		"what came since is the next one's");
	tap__ok(!at(&a, XR_F_MEMORY, 1100, 2000, 3050, 45) && !s.memory.dups, "or nothing is");
	tap__ok(!at(&a, 0, 0, 0, 0, 0), "one without counts in between");
	tap__ok(at(&a, XR_F_MEMORY, 900, 2500, 3050, 46) == 300 && s.memory.dups == 1,
		"changes no other: what fell is taken off");
	tap__ok(!at(&a, XR_F_MEMORY | XR_F_GC, 950, 2500, 3050, 46), "a collection begins");
	tap__ok(!at(&a, XR_F_MEMORY | XR_F_GC, 0, 100, 3050, 46), "it ends");
	tap__ok(!at(&a, XR_F_MEMORY | XR_F_GC, 500, 100, 3050, 46),
		"what grows then was not allocated");
	tap__ok(at(&a, XR_F_MEMORY, 600, 100, 2000, 46) == 50,
		"nor what is left afterwards: but what came before it began");
	tap__ok(at(&a, XR_F_MEMORY, 601, 101, 2001, 46) == 3, "from there on it counts");
	tap__ok(!at(&a, XR_F_MEMORY | XR_F_OTHER_THREAD, 700, 101, 2001, 47) && s.memory.dups == 1,
		"what is seen from another thread");
	tap__ok(at(&a, XR_F_MEMORY, 701, 101, 2001, 47) == 100, "is R's thread's doing");
	tap__ok(!at(&a, XR_F_MEMORY, 701, 101, 2001, 4) && s.memory.dups == 4,
		"Rprof() of R itself restarted the count");
}
