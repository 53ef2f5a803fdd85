/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of a thread that waits, read from outside: in a process of its own, for reading the
 * memory of another may never end (userfaultfd).
 */
#ifndef XR_ENGINE_BPF_OPEN_WAITS_READ_H
#define XR_ENGINE_BPF_OPEN_WAITS_READ_H

#include <stddef.h>
#include <stdint.h>

#include "engine/bpf/slabs.h"
#include "layout.h"

/* A thread that waits, and has for a period at least. */
struct open_wait {
	struct xr_row row;
	struct xr_wait wait;
	uint64_t from; /* ns: what was before is counted already */
	uint32_t tid;
};

/* What the process writes when it is done with wait @index: after the records of its sample. */
struct open_wait_done {
	struct xr_head head; /* type 0 */
	uint32_t index;
	int32_t result; /* as remote_walk__finish() */
};

/*
 * open_waits_read__all - of @n waits, from @from on, write the records of their samples to
 * descriptor @to: of weight 1, and with time 0.  Ends when that cannot be written to.
 */
void open_waits_read__all(const struct open_wait *waits, size_t n, size_t from,
			  const struct bpf_slabs *slabs, uint64_t sample_ns, int to);

#endif
