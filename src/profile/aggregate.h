/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile added up: how much was seen of (stack, process, sample type, labels).  It owns
 * all that it holds, so what it was made from may go.
 */
#ifndef XR_PROFILE_AGGREGATE_H
#define XR_PROFILE_AGGREGATE_H

#include "profile/profile.h"
#include "profile/sink.h"
#include "profile/timeline.h"

/* Rows are in the order in which they were first seen. */
struct aggregate_row {
	const struct stack *stack; /* equal ones are one, in all processes */
	uint32_t process;	   /* for aggregate__process() */
	uint32_t labels;	   /* flags of the sample, those asked for */
	uint32_t tid;		   /* if threads are kept apart, or 0 */
	uint32_t type;		   /* which sample type */
	uint32_t detail;	   /* of the samples, if that is asked for, or 0 */
	/* the innermost call; its `outer` are the others; NULL: none */
	const struct profile_call *call;
	const struct profile_given *given; /* the labels that the program gave; NULL: none */
	uint64_t samples;		   /* none of a type that does not count (type__counts) */
	uint64_t value;			   /* their weights */
};

/*
 * row__waited - is it time not on a CPU?  In ticks, with --clock wall, a thread that sleeps outside
 * of a system call looks as if it were on a CPU.
 */
static inline bool row__waited(const struct aggregate_row *row)
{
	return row->type == PROFILE_TYPE_OFF_CPU ||
	       (row->type == PROFILE_TYPE_TICKS && (row->detail || row->labels & XR_F_WAIT));
}

struct aggregate;

struct aggregate_config {
	size_t max;	 /* bytes that it takes, and a little more for what it is made of */
	size_t rows;	 /* limit; 0: as many as fit */
	uint32_t labels; /* the XR_F_ flags by which samples are kept apart */
	bool threads;	 /* samples of different threads are kept apart */
	bool details;	 /* and those of different details */
	bool given;	 /* and those to which the R program gave different labels */
	uint32_t sets;	 /* of these labels, at most; 0: 1,000 */
	bool timeline;	 /* remember when samples were taken: a wait, over the time it took */
	uint64_t width;	 /* ns of a span of it at first, where waits are of a moment, too; 0: as of
			    timeline.h */
	uint64_t interval_ns; /* of a tick, for waits in ticks; 0: not known */
	bool calls;	      /* samples of different calls are kept apart */
	bool describe; /* a process is known from its first sample on, without aggregate__know */
};

/* aggregate__new - @config is copied.  -ENOMEM. */
int aggregate__new(struct aggregate **out, const struct aggregate_config *config);

/*
 * aggregate__know - a process that is in the profile, even if it has no sample, and what is known
 * of it by now.  -ENOMEM, -ENOSPC.
 */
int aggregate__know(struct aggregate *a, const struct profile_process *p);

/*
 * aggregate__update - what is known by now of a process, by all names that it had, if it is in the
 * profile; it is not added.  What does not fit stays unknown, as with its first sample.
 */
void aggregate__update(struct aggregate *a, const struct profile_process *p);

/*
 * aggregate__add - count one sample.  0; -ENOMEM; -ENOSPC: its stack does not fit, and nothing was
 * counted (aggregate__drop counts it).
 */
int aggregate__add(struct aggregate *a, const struct profile_process *p, const struct sample *s);

/*
 * aggregate__take - count one sample, without its stack if that does not fit.  -ENOMEM.
 * aggregate__sink - a sink that does, and knows processes.
 */
int aggregate__take(struct aggregate *a, const struct profile_process *p, const struct sample *s);
struct sink aggregate__sink(struct aggregate *a);

/*
 * aggregate__drop - count a sample without its stack: the row's is then stacks__none().  All such
 * of a type are one row, of the first process that had one.
 */
void aggregate__drop(struct aggregate *a, const struct profile_process *p, const struct sample *s);

/*
 * aggregate__scale - multiply the values of sample type @type by @times and divide them by @by.
 * What is left of a division counts with the next row, so that their sum stays what it is.
 * -ERANGE: one would be above UINT64_MAX; nothing was changed.
 */
int aggregate__scale(struct aggregate *a, uint32_t type, uint64_t times, uint64_t by);

/* aggregate__rows - all rows, and how many; borrowed until more is added. */
const struct aggregate_row *aggregate__rows(const struct aggregate *a, size_t *n);

/*
 * aggregate__process - the process of a row; borrowed until more is added.  aggregate__processes -
 * all, and how many: those without samples, too.  A process that changed its name is there once for
 * each name.  `comm` is never NULL.  Equal texts of labels are at the same address.
 */
const struct profile_process *aggregate__process(const struct aggregate *a, uint32_t process);
const struct profile_process *aggregate__processes(const struct aggregate *a, size_t *n);

/*
 * aggregate__learn - what is known of a call by now, if one of its samples is there.
 * aggregate__calls - all calls with samples, and how many; borrowed.  One's `outer` is another.
 */
void aggregate__learn(struct aggregate *a, const struct profile_call *call);
struct profile_call *const *aggregate__calls(const struct aggregate *a, size_t *n);

/* aggregate__label - the label @key of @row: the program's, else its process'.  NULL: none. */
const char *aggregate__label(const struct aggregate *a, const struct aggregate_row *row,
			     const char *key);

/* aggregate__unlabelled - samples whose labels did not fit, since it was made. */
uint64_t aggregate__unlabelled(const struct aggregate *a);

/* aggregate__uncalled - samples whose call did not fit, which are counted without it. */
uint64_t aggregate__uncalled(const struct aggregate *a);

/*
 * aggregate__timeline - of its rows, by their index; NULL if it was not asked for, or if no sample
 * had a time.
 */
const struct timeline *aggregate__timeline(const struct aggregate *a);

/* aggregate__size - bytes taken of the limit. */
size_t aggregate__size(const struct aggregate *a);

/* aggregate__dropped - samples whose stack did not fit, since it was made; a tick is one. */
uint64_t aggregate__dropped(const struct aggregate *a);

/* aggregate__span - when its first and its last sample were taken: ns, CLOCK_MONOTONIC; 0: none. */
void aggregate__span(const struct aggregate *a, uint64_t *first, uint64_t *last);

/* aggregate__clear - forget all rows; those dropped stay counted. */
void aggregate__clear(struct aggregate *a);

void aggregate__free(struct aggregate *a); /* NULL is allowed */

#endif
