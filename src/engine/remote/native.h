/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Native frames as the engines have them that read from outside: of a thread that stands still,
 * while its sample is made of what was read (REMOTE_FINAL).  The tables (space.h) are plain memory.
 */
#ifndef XR_ENGINE_REMOTE_NATIVE_H
#define XR_ENGINE_REMOTE_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

#define REMOTE_SLABS_MAX 256u

struct remote_walk;

/* The tables of all targets of an engine, and room to work in. */
struct remote_native;

/* The registers of a thread that stands still; 0: not known. */
struct remote_regs {
	uint64_t pc, sp, fp;
	uint64_t lr;	 /* arm64 */
	uint64_t thread; /* the thread pointer */
	uint64_t top;	 /* where the thread's stack ends */
	uint64_t pc_mask;
};

/* remote_native__new - -ENOMEM. */
int remote_native__new(struct remote_native **out);
void remote_native__free(struct remote_native *n); /* NULL is allowed */

/* remote_native__slab - as engine_ops.slab. */
int remote_native__slab(struct remote_native *n, uint32_t slab, uint64_t **words);

/* remote_native__lend - slab @slab is @words, borrowed; then all of @n's must be lent. */
void remote_native__lend(struct remote_native *n, uint32_t slab, uint64_t *words);

/*
 * remote_native__unknown - did the last stack come to code that is in no mapping, and is it to be
 * reported to the session, at @now (ns)?  @row: that of its process.
 */
bool remote_native__unknown(struct remote_native *n, const struct xr_row *row, uint64_t now);

/*
 * For remote_walk.c.
 *
 * remote_native__walk - from walk__begin() to the end of the sample that @rw makes: as
 * walk__step().  Native frames end at @deadline, ns (0: none).
 */
int remote_native__walk(struct remote_native *n, struct remote_walk *rw,
			const struct remote_regs *regs, uint64_t deadline);

/*
 * remote_native__alone - the frames of a thread that is not R's, as many as one record has; the
 * walk is one in which nothing was read.
 */
void remote_native__alone(struct remote_native *n, struct remote_walk *rw,
			  const struct remote_regs *regs, uint64_t deadline);

/* remote_native__flags - XR_F_* of that stack's record. */
uint32_t remote_native__flags(const struct remote_native *n);

/* remote_native__count - what became of that stack is added to @counts. */
void remote_native__count(const struct remote_native *n, uint64_t counts[XR_COUNTERS]);

#endif
