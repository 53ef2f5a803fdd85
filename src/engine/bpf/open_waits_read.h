/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The helper process that reads the stacks of threads that wait: reading the memory of another
 * process may never end (userfaultfd).
 */
#ifndef XR_ENGINE_BPF_OPEN_WAITS_READ_H
#define XR_ENGINE_BPF_OPEN_WAITS_READ_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "os/linux/helper.h"

/* A thread that waits, and has for a period at least. */
struct open_wait {
	struct xr_row row;
	struct xr_wait wait;
	uint64_t from; /* ns: what was before is counted already */
	uint32_t tid;
};

/*
 * To the helper.  With a descriptor it is slab @slab, and nothing is answered.  Else read @wait,
 * which may hold up a process that runs for @sample_ns.
 */
struct open_wait_question {
	uint32_t slab;
	uint64_t sample_ns;
	struct open_wait wait;
};

/*
 * From the helper, after the records of the sample, which are one message each, of weight 1 and
 * with time 0.
 */
struct open_wait_done {
	struct xr_head head; /* type 0 */
	int32_t result;	     /* as remote_walk__finish() */
};

extern const struct helper_job open_waits_read__job;

#endif
