/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the model of `top` is made of: for top_model.c, which counts, and top_questions.c. */
#ifndef XR_CMD_LINUX_TOP_MODEL_PARTS_H
#define XR_CMD_LINUX_TOP_MODEL_PARTS_H

#include "base/map.h"
#include "cmd/linux/top_model.h"
#include "profile/aggregate.h"
#include "profile/stacks.h"

/*
 * Samples are added up in an aggregate.  Once a second the rows that grew become the entries of
 * that second, and what a row means is kept beside it: the functions in its stack.
 */

/* What goes with a row of the aggregate. */
struct top_row {
	uint64_t counted; /* its value that is in seconds, */
	uint64_t samples; /* and how many samples that was */
	struct function_step *functions;
	uint32_t n;
};

struct top_entry {
	uint64_t value;
	uint32_t row;
};

struct top_second {
	struct top_entry *entries;
	size_t n, cap;
};

struct top_model {
	struct budget budget;
	struct aggregate *aggregate;
	struct function_table functions;
	struct top_row *rows; /* of the first `nrows` of the aggregate's */
	size_t nrows, rows_cap;
	struct arena arena; /* of the rows' functions */
	struct top_second seconds[TOP_WINDOW_MAX];
	uint32_t window, at, filled; /* seconds: of the window; the newest; that are there */
	struct top_process *processes;
	size_t nprocesses, processes_cap;
	struct map by_serial; /* (serial, 0) to the process' number, from 1 on */
	uint64_t began,
		second_at; /* when counting did, and the last second was closed; ns, 0: not */
	bool full;	   /* counting has to restart */
	uint32_t restarts;
	struct profile_about about;
	struct errmsg why;
};

/*
 * top_model__fold - what stays of @stack without wrappers; NULL: no memory.  @to is empty, and
 * freed afterwards.
 */
const struct stack *top_model__fold(struct stacks *to, uint64_t *last_id,
				    const struct stack *stack);

#endif
