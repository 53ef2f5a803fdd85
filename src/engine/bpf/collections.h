/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What makes the programs of --event gc run (bpf/collection.h): a watchpoint on R_in_gc for the
 * threads of each process, one of the four that a CPU has.  If none is free, a probe on
 * R_gc_internal() in the file with R in it, and on its return.
 *
 * A forked child inherits the watchpoint.  One that was forked before the variable was known gets
 * its own; and what comes by two ways counts once (collection__weight()).
 */
#ifndef XR_ENGINE_BPF_COLLECTIONS_H
#define XR_ENGINE_BPF_COLLECTIONS_H

#include "base/errmsg.h"
#include "engine/event_names.h"
#include "layout.h"

/* collections__ask - how collections are noticed here, to @value, and 0; or a negative errno, and
 * why they are not. */
int collections__ask(struct errmsg *value);

struct collections;

/*
 * collections__new - @event is borrowed.  @watch_fd, @probe_fd: the programs, borrowed, for the one
 * and the other; @probe_fd is -1 where there may be no probes.  @rows_fd: the map of rows,
 * borrowed. -ENOENT: this machine has neither, and @f says why.
 */
int collections__new(struct collections **out, const struct event_name *event, int watch_fd,
		     int probe_fd, int rows_fd, struct errmsg *f);

/*
 * collections__row - the row of a process is, or becomes now, @row; @old: what it was, NULL: there
 * was none.  Where R's counts have no address yet it is only seen to that there will be something.
 * A negative errno, and @f: there will be no samples of it.
 */
int collections__row(struct collections *c, const struct xr_row *old, const struct xr_row *row,
		     struct errmsg *f);

void collections__stop(struct collections *c); /* no more samples */
void collections__free(struct collections *c); /* NULL is allowed */

#endif
