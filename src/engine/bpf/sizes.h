/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How large the maps of the sampler are (bpf/maps.h): by the processes, the memory, the rate and
 * the CPUs there are to be.
 */
#ifndef XR_ENGINE_BPF_SIZES_H
#define XR_ENGINE_BPF_SIZES_H

#include <stdint.h>

#include "engine/engine.h"

struct bpf_sizes {
	uint32_t rows;	   /* entries: processes */
	uint32_t waits;	   /* entries: threads that wait; 0: not asked for */
	uint32_t sent;	   /* entries: texts that are known to have been sent */
	uint32_t ring;	   /* bytes, a power of two */
	uint64_t all;	   /* bytes of the kernel's memory that these take, about */
	uint32_t cpu_bits; /* that the number of a CPU takes */
};

/*
 * bpf_sizes__of - for an engine of @config on a machine of @cpus.
 *
 * The ring holds what comes in half a second without a reader, of stacks of some thirty
 * calls, when all CPUs run R all the time; a quarter of `memory` at most.  Where that is less, or
 * stacks are deeper, samples are lost sooner, and counted.
 */
struct bpf_sizes bpf_sizes__of(const struct engine_config *config, uint32_t cpus);

#endif
