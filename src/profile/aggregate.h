/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile added up: how much of each sample type was seen of (stack, process, labels).  It owns
 * all that it holds, so what it was made from may go.
 */
#ifndef XR_PROFILE_AGGREGATE_H
#define XR_PROFILE_AGGREGATE_H

#include "profile/profile.h"

#define AGGREGATE_TYPES (XR_UNIT_BYTES + 1)

/* A process of an aggregate.  One that changed its name is there once for each. */
struct aggregate_process {
	uint32_t serial, pid, parent_pid;
	char comm[XR_COMM_LEN]; /* terminated; may hold anything but NUL */
};

/* Rows are in the order in which they were first seen. */
struct aggregate_row {
	const struct stack *stack; /* equal ones are one, in all processes */
	uint32_t process;	   /* for aggregate__process() */
	uint32_t labels;	   /* flags of the sample, those asked for */
	uint64_t samples;
	uint64_t values[AGGREGATE_TYPES]; /* by enum xr_unit */
};

struct aggregate;

/*
 * aggregate__new - that takes at most @max bytes, and a little more for what it is made of.
 * @labels: the XR_F_ flags by which samples are kept apart.  -ENOMEM.
 */
int aggregate__new(struct aggregate **out, size_t max, uint32_t labels);

/*
 * aggregate__add - count one sample.  0; -ENOMEM; -ENOSPC: there is no room for its stack, so
 * nothing was counted (aggregate__drop counts it all the same).
 */
int aggregate__add(struct aggregate *a, const struct profile_process *p, const struct sample *s);

/*
 * aggregate__drop - count a sample without its stack: the row's is then stacks__none().  All such
 * are one row, of the first process that had one.
 */
void aggregate__drop(struct aggregate *a, const struct profile_process *p, const struct sample *s);

/* aggregate__rows - all rows, and how many; borrowed until more is added. */
const struct aggregate_row *aggregate__rows(const struct aggregate *a, size_t *n);

/* aggregate__process - a row's process; borrowed until more is added. */
const struct aggregate_process *aggregate__process(const struct aggregate *a, uint32_t process);

/* aggregate__size - bytes taken of the limit. */
size_t aggregate__size(const struct aggregate *a);

/* aggregate__dropped - samples whose stack found no room, since it was made. */
uint64_t aggregate__dropped(const struct aggregate *a);

/* aggregate__span - when its first and its last sample were taken: ns, CLOCK_MONOTONIC; 0: none. */
void aggregate__span(const struct aggregate *a, uint64_t *first, uint64_t *last);

/* aggregate__clear - forget all rows; those dropped stay counted. */
void aggregate__clear(struct aggregate *a);

void aggregate__free(struct aggregate *a); /* NULL is allowed */

#endif
