/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/held.h"

#include <errno.h>
#include <stdlib.h>

int held__add(struct held *h, const struct sample *s, struct budget *budget)
{
	uint32_t cap = h->cap ? h->cap * 2 : 4;
	struct sample *samples;
	const struct stack *stack;

	if (!h->n)
		stacks__init(&h->stacks, budget, &h->last_id);
	if (h->n == h->cap) {
		samples = realloc(h->samples, cap * sizeof(*samples));
		if (!samples)
			return -ENOSPC;
		h->samples = samples;
		h->cap = cap;
	}
	stack = stacks__copy(&h->stacks, s->stack);
	if (!stack)
		return -ENOSPC;
	h->samples[h->n] = *s;
	h->samples[h->n++].stack = stack;
	return 0;
}

void held__free(struct held *h)
{
	if (h->cap)
		stacks__free(&h->stacks);
	free(h->samples);
	*h = (struct held){0};
}
