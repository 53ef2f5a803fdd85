/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF engine asks the kernel before it loads anything; `info` prints the answers. */
#ifndef XR_ENGINE_BPF_PROBE_H
#define XR_ENGINE_BPF_PROBE_H

#include "engine/bpf/kernel.h"
#include "engine/engine.h"

/*
 * bpf_probe__ask - engine_ops.probe of the BPF engine; @features is filled, too.  XRPROF_BPF_LOOP=0
 * in the environment stands for a kernel without bpf_loop.
 */
int bpf_probe__ask(const struct engine_config *config, engine_found found, void *arg,
		   struct bpf_features *features, struct errmsg *f);

#endif
