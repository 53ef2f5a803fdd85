/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples of a process that are kept back, with their stacks, until it is known where they go.
 */
#ifndef XR_OUTPUT_HELD_H
#define XR_OUTPUT_HELD_H

#include "base/budget.h"
#include "profile/stacks.h"

/* Starts as { 0 }; freed by held__free, after which it is as new. */
struct held {
	struct stacks stacks;
	uint64_t last_id;
	struct sample *samples; /* in their order */
	uint32_t n, cap;
};

/* held__add - copy @s.  @budget: borrowed until held__free.  -ENOSPC: there is no room, or no
 * memory. */
int held__add(struct held *h, const struct sample *s, struct budget *budget);

void held__free(struct held *h);

#endif
