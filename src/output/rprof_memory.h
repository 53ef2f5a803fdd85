/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counts of memory before each line of Rprof.out, :small:large:nodes:duplications: (doprof(),
 * eval.c), as R of those processes counts them.
 *
 * They are known only after they were seen to be right in the running process.  Where a process'
 * first samples come earlier, the lines wait until then, for RPROF_MEMORY_NS at most, and get the
 * first counts that are known: a file that began with zeros would have all memory in use as
 * allocated by one line.  Later on, a line without counts has those of the one before.
 */
#ifndef XR_OUTPUT_RPROF_MEMORY_H
#define XR_OUTPUT_RPROF_MEMORY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/map.h"
#include "output/output.h"
#include "profile/profile.h"

#define RPROF_MEMORY_NS	   (30 * NS_PER_S)
#define RPROF_MEMORY_BYTES 65536u /* of the lines of one process that wait */
#define RPROF_MEMORY_LEN   96u	  /* of what goes before a line, at most */

/* Starts as { .out = ..., .budget = ... }, both borrowed. */
struct rprof_memory {
	struct output *out;
	struct budget *budget;
	struct map processes; /* (serial, 0) to struct rprof_counts */
	struct buf line;
};

/*
 * rprof_memory__line - @line, without what goes before it and with its end, is sample @s, and is
 * written as often as its weight says; duplications are those of the first.  @heads, lines that go
 * before it, are emptied if they were written.  As output__commit().
 */
int rprof_memory__line(struct rprof_memory *m, const struct sample *s, struct buf *heads,
		       const struct buf *line);

/* rprof_memory__close - lines that wait are written, without counts.  As output__commit(). */
int rprof_memory__close(struct rprof_memory *m);

#endif
