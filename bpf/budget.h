/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What samples may cost.  Interrupts are off while one is taken and the target decides how much
 * there is to read, so each has a budget of time and work (struct walk_budget), and a process
 * whose samples keep hitting it is sampled less:
 *
 *   - a sample that was cut because it was over adds STRIKES_EACH, any other takes one away;
 *   - after one that was cut, and was not the first for long, ticks of its process are left out:
 *     2^n of them, n being strikes / STRIKES_EACH, at most SKIP_MAX.
 *
 * So a process all of whose samples are cut soon has one of 65 ticks sampled; one of whose samples
 * less than a fifth are is not held back; and what was once expensive is forgotten after
 * STRIKES_MAX cheap samples.  The state is in the row of the process: no other is affected.  Its
 * threads may change it on several CPUs at once; what is lost by that is a strike.
 */
#ifndef XR_BUDGET_H
#define XR_BUDGET_H

#include "emit.h"

#define STRIKES_EACH 4
#define SKIP_SHIFT   6
#define SKIP_MAX     (1U << SKIP_SHIFT)
#define STRIKES_MAX  (SKIP_SHIFT * STRIKES_EACH)

/* budget__skips - is this tick of the process of @row left out? */
static __always_inline bool budget__skips(struct xr_row *row)
{
	__u32 skip = row->skip;

	if (!skip)
		return false;
	row->skip = (skip > SKIP_MAX ? SKIP_MAX : skip) - 1;
	return true;
}

/* budget__begin - of a sample whose start is in part.time */
static __always_inline void budget__begin(struct scratch *s)
{
	s->walk.budget.deadline = s->part.time + cfg_sample_ns;
	s->walk.budget.work_max = cfg_sample_work;
}

/*
 * What the sample just taken at @level says about its process: it was cut, or it was not and those
 * before were.  A function of its own, for it needs stack.
 */
__noinline int budget_strike(__u32 level)
{
	struct scratch *s = scratch__get(level);
	struct xr_row *row;
	__u32 pid, before, strikes;

	if (!s)
		return 0;
	pid = s->walk.row.pid;
	row = bpf_map_lookup_elem(&rows, &pid);
	if (!row || row->serial != s->walk.row.serial) /* another process has it by now */
		return 0;
	before = row->strikes;
	if (!s->walk.budget.over) {
		if (before)
			row->strikes = before - 1;
		return 0;
	}
	strikes = before + STRIKES_EACH;
	if (strikes > STRIKES_MAX)
		strikes = STRIKES_MAX;
	row->strikes = strikes;
	if (strikes < 2 * STRIKES_EACH)
		return 0;
	row->skip = 1U << (strikes / STRIKES_EACH & 31);
	if (before < 2 * STRIKES_EACH)
		process__tell((struct task_struct *)bpf_get_current_task(), XR_PROCESS_THROTTLED,
			      row, 0, 0);
	return 0;
}

/* budget__spent - count what a tick took since part.time, and return it: ns. */
static __always_inline __u64 budget__spent(struct scratch *s, struct tally *tally)
{
	__u64 ns = bpf_ktime_get_ns() - s->part.time;

	tally->counts[XR_SPENT_NS] += ns;
	return ns;
}

/*
 * budget__end - what the sample took, @ns, and did; @strikes: of its process before.  Maxima are
 * counted when there is a new one with this record: most samples save that.
 */
static __always_inline void budget__end(struct scratch *s, struct tally *tally, __u64 ns,
					__u32 strikes)
{
	__u32 work = s->walk.budget.work;

	if (ns > s->longest_ns)
		tally->counts[XR_LONGEST_NS] = s->longest_ns = ns;
	if (work > s->most_work)
		tally->counts[XR_MOST_WORK] = s->most_work = work;
	if (ns > cfg_sample_ns + cfg_sample_ns / 2)
		tally->counts[XR_OVERRUN]++;
	if (s->walk.budget.over || strikes)
		budget_strike(s->level);
}

#endif
