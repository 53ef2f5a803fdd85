/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R's counts of its memory as a walk reads them, part of walk.h: what Rprof(memory.profiling =
 * TRUE) writes with each line (R 3.0 to 4.6, doprof() in eval.c, get_current_mem() in memory.c,
 * duplicate_counter in duplicate.c).  While a collection runs they are on their way to what they
 * will be: R's own profiler writes them as they are then, too.
 */
#ifndef XR_MEMORY_WALK_H
#define XR_MEMORY_WALK_H

#include "walk_state.h"

#define WALK_VALLOC_UNIT 8u /* bytes: sizeof(VECREC), in which R counts vectors */

/*
 * memory__begin - with XR_ROW_MEMORY, where the row has the addresses: read the counts, and emit
 * them as the first slots; w->first says whether.  What cannot be read is not there, and nothing
 * else of the sample is lost for it.  0, or as walk__emit().
 */
WALK_FN int memory__begin(struct walk *w)
{
	struct xr_memory *m = &w->counts;
	int err;

	if (!walk__wants(w, XR_ROW_MEMORY) || !w->row.small_at)
		return 0;
	m->dups = 0;
	w->lenient = 1;
	err = walk__load(w, READ_GC, &m->small, 8, w->row.small_at);
	if (!err)
		err = walk__load(w, READ_GC, &m->large, 8, w->row.large_at);
	if (!err)
		err = walk__load(w, READ_GC, &m->nodes, 8, w->row.nodes_at);
	if (!err && w->row.dups_at)
		err = walk__load(w, READ_GC, &m->dups, 8, w->row.dups_at);
	w->lenient = 0;
	if (err)
		return 0;
	m->small *= WALK_VALLOC_UNIT;
	m->large *= WALK_VALLOC_UNIT;
	m->nodes *= w->row.node_size;
	w->first |= XR_F_MEMORY;
	err = walk__emit(w, m->small, m->large);
	return err ? err : walk__emit(w, m->nodes, m->dups);
}

#endif
