/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes map files as code: PERF_RECORD_MMAP of an event on each CPU that counts nothing
 * (PERF_COUNT_SW_DUMMY).  It wakes no process.
 */
#ifndef XR_ENGINE_BPF_MAPPING_EVENTS_H
#define XR_ENGINE_BPF_MAPPING_EVENTS_H

#include <stdint.h>

struct mapping_events;

/*
 * mapping_events__new - on all CPUs that are online.  A negative errno: at least one of
 * them reports nothing.
 */
int mapping_events__new(struct mapping_events **out);

/*
 * mapping_events__drain - call @each with the pid of every process that mapped a file since the
 * last call, as often as it did; pid 0: some were lost.
 */
void mapping_events__drain(struct mapping_events *m, void (*each)(void *arg, uint32_t pid),
			   void *arg);

void mapping_events__free(struct mapping_events *m); /* NULL is allowed */

#endif
