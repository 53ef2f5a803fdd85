/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sample of a process may cost, by what the samples before it did.  A limit cuts frames; it
 * never leaves out a sample.
 *
 *   - A sample with the whole budget that was cut adds STRIKES_EACH strikes.  One that was not cut
 *     takes one strike away.
 *   - After one that was cut, and was not the first for long, the next 2^n samples have a budget
 *     of a 2^n-th, n being strikes / STRIKES_EACH, at most REDUCED_SHIFT.  They tell nothing of
 *     what a whole stack costs, so they leave the strikes as they are.  The sample after them has
 *     the whole budget again.
 *
 * So if all stacks of a process are too deep, its samples soon take two whole budgets in 129 ticks
 * together: one with its frames as far as the whole budget leads, and 128 with the innermost
 * frames.  A process of which less than a fifth of the samples are cut always has the whole budget.
 * STRIKES_MAX samples that are not cut make it forget that stacks were too deep once.
 *
 * The state is in the row of the process (layout.h), so no other process is affected.  Threads of
 * the process may change it on several CPUs at once; what can get lost is a strike.
 */
#ifndef XR_SAMPLE_BUDGET_H
#define XR_SAMPLE_BUDGET_H

#include "walk.h"

#define STRIKES_EACH  4u
#define REDUCED_SHIFT 7u
#define STRIKES_MAX   (REDUCED_SHIFT * STRIKES_EACH)

WALK_FN __u32 sample_budget__shift(__u32 strikes)
{
	const __u32 shift = strikes / STRIKES_EACH;

	return shift > REDUCED_SHIFT ? REDUCED_SHIFT : shift;
}

/*
 * sample_budget__begin - set the limits of a sample of the process of @row that begins at @now.
 * @ns, @work: the whole budget, as of struct walk_budget.
 */
WALK_FN void sample_budget__begin(struct walk_budget *b, struct xr_row *row, __u64 now, __u64 ns,
				  __u32 work)
{
	const __u32 left = row->reduced;
	__u32 shift = 0;

	if (left) {
		shift = sample_budget__shift(row->strikes);
		row->reduced = (left > 1u << REDUCED_SHIFT ? 1u << REDUCED_SHIFT : left) - 1;
	}
	b->reduced = left != 0;
	b->deadline = now + (ns >> shift);
	b->work_max = work >> shift;
}

/*
 * sample_budget__end - a sample of the process of @row was taken with @b.  1: from now on samples
 * are reduced that were not before; 0.
 */
WALK_FN int sample_budget__end(const struct walk_budget *b, struct xr_row *row)
{
	const __u32 before = row->strikes;
	__u32 strikes = before + STRIKES_EACH;

	if (b->reduced)
		return 0;
	if (!b->over) {
		row->strikes = before ? before - 1 : 0;
		return 0;
	}
	if (strikes > STRIKES_MAX)
		strikes = STRIKES_MAX;
	row->strikes = strikes;
	if (strikes < 2 * STRIKES_EACH)
		return 0;
	row->reduced = 1u << sample_budget__shift(strikes);
	return before < 2 * STRIKES_EACH;
}

#endif
