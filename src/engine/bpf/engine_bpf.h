/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF engine tells of itself, for `info`.
 */
#ifndef XR_ENGINE_BPF_ENGINE_BPF_H
#define XR_ENGINE_BPF_ENGINE_BPF_H

#include <stdint.h>

#include "engine/engine.h"

/* A program that was loaded, from the verifier's log. */
struct bpf_program_cost {
	const char *name;
	uint64_t insns;	 /* instructions gone through; the kernel's limit is 1,000,000 */
	uint64_t states; /* kept while doing so */
	uint64_t usec;	 /* the verifier's time */
};

/*
 * engine_bpf__programs - load the programs, as for @config, say what each cost, and unload them.
 * The sampler's two forms are both loaded where the kernel has bpf_loop.
 */
int engine_bpf__programs(const struct engine_config *config,
			 void (*each)(void *arg, const struct bpf_program_cost *cost), void *arg,
			 struct errmsg *f);

#endif
