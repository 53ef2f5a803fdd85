/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What samples may cost: interrupts are off while one is taken, and the target decides how much
 * there is to read (include/sample_budget.h).
 */
#ifndef XR_BUDGET_H
#define XR_BUDGET_H

#include "emit.h"
#include "sample_budget.h"

/* What the sample just taken at @level says about its process.  It needs stack: a function. */
__noinline int budget_note(__u32 level)
{
	struct scratch *s = scratch__get(level);
	struct xr_row *row;
	__u32 pid;

	if (!s)
		return 0;
	pid = s->walk.row.pid;
	row = bpf_map_lookup_elem(&rows, &pid);
	if (!row || row->serial != s->walk.row.serial) /* another process has it by now */
		return 0;
	if (sample_budget__end(&s->walk.budget, row))
		process__tell((struct task_struct *)bpf_get_current_task(), XR_PROCESS_REDUCED,
			      row->serial, row->pid, 0, 0);
	return 0;
}

/* budget__spent - count what a tick took since part.time, and return it: ns. */
static __always_inline __u64 budget__spent(struct scratch *s, struct tally *tally)
{
	__u64 ns = clock__now() - s->part.time;

	tally->counts[XR_SPENT_NS] += ns;
	return ns;
}

/*
 * budget__end - what the sample took, @ns, and did.  Maxima are counted when there is a new one
 * with this record: most samples save that.
 */
static __always_inline void budget__end(struct scratch *s, struct tally *tally, __u64 ns)
{
	__u32 work = s->walk.budget.work;

	if (ns > s->longest_ns)
		tally->counts[XR_LONGEST_NS] = s->longest_ns = ns;
	if (work > s->most_work)
		tally->counts[XR_MOST_WORK] = s->most_work = work;
	if (ns > cfg_sample_ns + cfg_sample_ns / 2)
		tally->counts[XR_OVERRUN]++;
}

#endif
