/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs and maps of the sampler (bpf/), before they are loaded: sized, and set up for what
 * is asked for and what the kernel has.  And what they cost the verifier, for `info`.
 */
#ifndef XR_ENGINE_BPF_PROGRAMS_H
#define XR_ENGINE_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/bpf/kernel.h"

struct sampler; /* sampler.skel.h */

/* bpf_programs__quiet - libbpf says nothing, unless @config is verbose. */
void bpf_programs__quiet(const struct engine_config *config);

/* bpf_programs__sample - is a program of this name one that takes samples? */
bool bpf_programs__sample(const char *name);

/*
 * bpf_programs__check_memory - -ENOMEM, said in @f, if the cgroup allows too little for loading and
 * @more bytes.
 */
int bpf_programs__check_memory(const struct engine_config *config, uint64_t more, struct errmsg *f);

/*
 * bpf_programs__open - *@out is to be loaded, and given to sampler__destroy().  @loop: by
 * bpf_loop().  A negative errno, said in @f.
 */
int bpf_programs__open(struct sampler **out, const struct engine_config *config,
		       const struct bpf_features *have, bool loop, struct errmsg *f);

/* What the programs of one event of the user's are configured by (bpf/event.h). */
struct bpf_event_constants {
	uint32_t number;  /* 0 and up */
	uint32_t unit;	  /* enum xr_unit */
	uint64_t every;	  /* if the event has no period: each Nth; 0: each, or */
	uint32_t chance;  /* samples a second, by chance; 0: not by chance */
	bool collections; /* it is R's collections of garbage */
};

/*
 * bpf_programs__open_event - as bpf_programs__open, for an event of the user's: the caller chooses
 * the program that is loaded, by bpf_program__set_autoload().  It shares the maps of @all, which is
 * loaded.
 */
int bpf_programs__open_event(struct sampler **out, const struct engine_config *config,
			     const struct bpf_features *have, const struct sampler *all,
			     const struct bpf_event_constants *constants, struct errmsg *f);

/* A program that was loaded, from the verifier's log. */
struct bpf_program_cost {
	const char *name;
	uint64_t insns;	 /* instructions gone through; the kernel's limit is 1,000,000 */
	uint64_t states; /* kept while doing so */
	uint64_t usec;	 /* the verifier's time */
};

/*
 * bpf_programs__costs - load the programs, as for @config, say what each cost, and unload them.
 * The sampler's two forms are both loaded where the kernel has bpf_loop.
 */
int bpf_programs__costs(const struct engine_config *config, const struct bpf_features *have,
			void (*each)(void *arg, const struct bpf_program_cost *cost), void *arg,
			struct errmsg *f);

#endif
