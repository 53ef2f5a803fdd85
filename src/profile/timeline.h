/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When the samples of an aggregate's rows were taken: how much of each row in each of many equal
 * spans of time.  Where there is too much of it the spans become twice as long, so what it takes
 * has a bound, however long a profile is.
 */
#ifndef XR_PROFILE_TIMELINE_H
#define XR_PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_WIDTH	 (1024 * 1024ULL) /* ns of a span at first: about a millisecond */
#define TIMELINE_SPANS	 4096u		  /* at most: half of them, at least, once it is long */
#define TIMELINE_ENTRIES (1u << 18)	  /* at most, or one for each row if there are more rows */

#define TIMELINE_PIECES 1024u /* that what took long is put into */

/* So much of a row in one span.  There may be two of the same row and span. */
struct timeline_entry {
	uint32_t span, row;
	uint64_t value; /* weights of samples added up */
};

/* Starts as { 0 }. */
struct timeline {
	uint64_t begin, width; /* ns; width 0: nothing came yet */
	uint64_t least;	       /* ns, of a span at first; 0: TIMELINE_WIDTH */
	struct timeline_entry *entries;
	size_t n, cap;
	uint32_t *last; /* by row: 1 + the entry that is its newest */
	size_t rows;	/* in last */
};

/*
 * timeline__add - @value of row @row at @time (ns, any clock that goes on).  What is from before
 * the first is taken for as early as that.  -ENOMEM: it is not in it.
 */
int timeline__add(struct timeline *t, uint32_t row, uint64_t time, uint64_t value);

/*
 * timeline__spread - @value of row @row that took from @begin to @end: each span has its share, in
 * at most TIMELINE_PIECES pieces.  What is from before the first is taken for as early as that,
 * unless it is the first itself.  All of @value is in it, or, for -ENOMEM, a part.
 */
int timeline__spread(struct timeline *t, uint32_t row, uint64_t begin, uint64_t end,
		     uint64_t value);

/* timeline__spans - how many there are: one more than the last that is not empty. */
uint32_t timeline__spans(const struct timeline *t);

void timeline__free(struct timeline *t); /* and it is as new */

#endif
