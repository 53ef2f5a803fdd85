/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that `top` has seen, each label once.
 */
#ifndef XR_CMD_LINUX_TOP_FUNCTIONS_H
#define XR_CMD_LINUX_TOP_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "profile/profile.h"

struct top_function {
	const char *label;    /* writer__label(), escaped: it may be shown */
	uint64_t self, total; /* samples: whoever counts sets them */
	uint64_t stamp;	      /* likewise: when it was last met, */
	uint32_t place;	      /* and where */
};

/* Starts as { .budget = ... }, borrowed; freed by top_functions__free. */
struct top_functions {
	struct budget *budget;
	struct intern labels;
	struct map by_label; /* (label, 0) to the function's number, from 1 on */
	struct map by_frame; /* (frame, 0) likewise */
	struct top_function *list;
	size_t n, cap;
};

/*
 * top_functions__of - the index in `list` of the function of @frame, which must stay where it is
 * until top_functions__free.  Negative: -ENOSPC, -ENOMEM.
 */
long top_functions__of(struct top_functions *fs, const struct frame *frame);

/* top_functions__free - and it is as new, but for what it took of the budget. */
void top_functions__free(struct top_functions *fs);

#endif
