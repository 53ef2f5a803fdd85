/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Once a second the engine is asked whether it lost forks, execs or exits, or had no room for a
 * process.
 */
#ifndef XR_SESSION_SWEEP_H
#define XR_SESSION_SWEEP_H

#include "session/lifecycle.h"

/* Starts as { 0 }. */
struct sweep {
	uint64_t at;			 /* ns, CLOCK_MONOTONIC: when it was asked last */
	uint64_t events_lost, rows_full; /* its counts then */
};

/*
 * sweep__run - if it is time, ask; processes whose rows the engine no longer has are taken for
 * replaced.  Returns whether all processes must be looked at again, because some may have been
 * missed or there is room again.
 */
bool sweep__run(struct sweep *s, struct lifecycle *l, uint64_t now);

#endif
