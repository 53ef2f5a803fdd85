/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits that are not over when a profile is to be complete, at its end or at that of an interval:
 * the kernel's programs see a wait when it is over.  A helper reads the stacks from outside, and
 * may take as long as it is given.  They count if the thread has not been on a CPU since.
 */
#ifndef XR_ENGINE_BPF_OPEN_WAITS_H
#define XR_ENGINE_BPF_OPEN_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/bpf/slabs.h"
#include "engine/engine.h"

struct sampler; /* sampler.skel.h */

#define OPEN_WAITS_SILENT 16u

/* A thread that waits, and has for a period at least. */
struct open_wait {
	struct xr_row row;
	struct xr_wait wait;
	uint64_t from; /* ns: what was before is counted already */
	uint32_t tid;
};

struct open_waits {
	uint64_t counts[XR_COUNTERS]; /* of their samples */
	uint64_t left;		      /* by the last call, as there was no time for them */
	struct buf records;	      /* of the sample that is being received */
	struct {
		uint64_t since;
		uint32_t tid;
	} silent[OPEN_WAITS_SILENT]; /* whose memory did not respond: not read again */
	uint32_t nsilent;
	struct helper_pool *pool;
	uint32_t id; /* of the helper */
	int fd;	     /* its socket; -1: there is none */
	bool greeted;
	bool has_slab[BPF_SLABS_MAX]; /* that it has been sent */
};

/* open_waits__init - @pool forks the helper when it is needed; it is borrowed. */
void open_waits__init(struct open_waits *o, struct helper_pool *pool);

/*
 * open_waits__read - deliver, within @limit_ns, samples of the waits that began a period (@period,
 * ns) ago or earlier and are not over; @sample_ns: what reading one may hold up a process that
 * runs.  Returns the number of records, or a negative errno: no helper could be started.
 */
int open_waits__read(struct open_waits *o, struct sampler *s, const struct bpf_slabs *slabs,
		     uint64_t period, uint64_t sample_ns, uint64_t limit_ns, engine_sink sink,
		     void *arg);

/*
 * open_wait__counts - does @w, which has been read, count up to @now (ns)?  @waits and @told are
 * the maps of bpf/wait.h.  The entry for the kernel's program is made before the check: a wait that
 * ends in between counts there from @now on, and the entry says that it was used, so that nothing
 * counts twice and nothing is lost.
 */
bool open_wait__counts(int waits, int told, const struct open_wait *w, uint64_t now);

void open_waits__free(struct open_waits *o);

#endif
