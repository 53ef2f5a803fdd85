/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The labels that the R program of one process has set, as the sampler sent them (XR_TEXT_LABELS):
 * the sets sent last.  There may be a new one for each request that the program serves.
 */
#ifndef XR_PROFILE_LABEL_SETS_H
#define XR_PROFILE_LABEL_SETS_H

#include "abi.h"
#include "base/budget.h"
#include "profile/profile.h"

/* The sampler sends a set again if another one was sent since: a few would do. */
#define LABEL_SETS 32u

struct label_set;

/* Starts as { .budget = ... }, freed by label_sets__free. */
struct label_sets {
	struct budget *budget;
	struct label_set *sets[LABEL_SETS];
	uint32_t next; /* the place of the one sent first */
};

/*
 * label_sets__put - keep the set of @id, from the @len bytes at @text.  Labels without a key are
 * left out, and those of a key that profiles have anyway, or that came before.  -ENOSPC: it
 * does not fit.
 */
int label_sets__put(struct label_sets *s, uint64_t id, const char *text, size_t len);

/* label_sets__find - the labels of @id, ordered by key: *@n of them, 0: not known. */
const struct profile_label *label_sets__find(const struct label_sets *s, uint64_t id, size_t *n);

void label_sets__free(struct label_sets *s);

#endif
