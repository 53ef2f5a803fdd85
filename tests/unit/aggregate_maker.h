/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Aggregates by hand. */
#ifndef AGGREGATE_MAKER_H
#define AGGREGATE_MAKER_H

#include "profile/aggregate.h"
#include "stack_maker.h"

static inline struct aggregate *aggregate__made(struct aggregate_config config)
{
	struct aggregate *a;

	tap__bail_if(aggregate__new(&a, &config), "no memory");
	return a;
}

/* The same with room for all, if the config has no limit. */
static inline struct aggregate *aggregate__roomy(struct aggregate_config config)
{
	config.max = config.max ? config.max : 1u << 30;
	return aggregate__made(config);
}

/* An aggregate with these members of its config. */
#define AGGREGATE(...) aggregate__roomy((struct aggregate_config){__VA_ARGS__})

/* aggregate__put - a sample of @p, which is known from then on. */
static inline void aggregate__put(struct aggregate *a, const struct profile_process *p,
				  struct sample s)
{
	tap__bail_if(aggregate__know(a, p) || aggregate__add(a, p, &s), "no room");
}

#endif
