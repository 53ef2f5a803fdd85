/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of functions, lines or packages: how much of each was seen as the innermost frame (self)
 * and anywhere in a stack (total).  `report`, `report --diff` and `top` count in it.
 */
#ifndef XR_PROFILE_FUNCTION_TABLE_H
#define XR_PROFILE_FUNCTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "profile/aggregate.h"

enum function_by { BY_FUNCTIONS, BY_LINES, BY_PACKAGES };

/* Values are in the unit of the sample type; [1] is of the second of two profiles. */
struct function_row {
	const char *label; /* escaped, terminated */
	uint64_t self[2], total[2];
	uint64_t stamp; /* of the last stack with it, */
	uint32_t step;	/* and its step there */
};

/* Starts as { .budget, .by }; the budget is borrowed, NULL: no limit. */
struct function_table {
	struct budget *budget;
	enum function_by by;
	struct function_row *rows; /* in the order in which they were first seen */
	size_t n, cap;
	uint64_t samples[2]; /* all values that were counted */
	/* internal */
	struct intern labels;
	struct map by_label, by_frame; /* (label or frame, 0) to the number of the row, from 1 on */
	uint64_t stamp;
};

/* A row in a stack, and whether it stays if wrappers are folded. */
struct function_step {
	uint32_t row : 31;
	uint32_t stays : 1;
};

/*
 * function_table__row - the index of the row of @frame, made if it is new.  @frame stays where it
 * is until function_table__free.  Negative: -ENOSPC, -ENOMEM.
 */
long function_table__row(struct function_table *t, const struct frame *frame);

/*
 * function_table__steps - the rows in @stack, each once, innermost first: how many, at most one
 * more than it has frames; -ENOSPC, -ENOMEM.  @folded: what stays of @stack without wrappers.
 * @functions: NULL, or a table by functions: of a function that calls itself only the innermost
 * call counts.
 */
long function_table__steps(struct function_table *t, struct function_table *functions,
			   const struct stack *stack, const struct stack *folded,
			   struct function_step *steps);

/* function_table__count - add @value of a stack with these steps.  @fold: without wrappers. */
void function_table__count(struct function_table *t, const struct function_step *steps, size_t n,
			   uint64_t value, int side, bool fold);

/*
 * function_table__add - add all of sample type @type in @a, which stays until function_table__free.
 * @merge: as `functions` of function_table__steps.  -ENOMEM, -ENOSPC.
 */
int function_table__add(struct function_table *t, const struct aggregate *a, uint32_t type,
			int side, bool merge);

/* A row that is shown. */
struct function_line {
	double key[2];	   /* it is sorted by: large values first, */
	const char *label; /* then by label, or by row if this is NULL */
	uint32_t row;
};

/* function_line__compare - for qsort(), of structures that begin with a struct function_line. */
int function_line__compare(const void *a, const void *b);

/* function_table__free - the table is empty then; what it took of the budget stays taken. */
void function_table__free(struct function_table *t);

#endif
