/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF engine asks the kernel before it loads anything; `info` prints the answers. */
#ifndef XR_ENGINE_BPF_PROBE_H
#define XR_ENGINE_BPF_PROBE_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/bpf/waits.h"
#include "engine/engine.h"

/* The answers that the programs are configured by. */
struct bpf_features {
	bool loop;		     /* bpf_loop, 5.17 */
	bool task_regs;		     /* bpf_task_pt_regs, 5.15 */
	bool task_btf;		     /* bpf_get_current_task_btf, 5.11 */
	struct bpf_wait_hooks waits; /* back BPF_BACK_NONE: not asked, or not to be had */
	ino_t pidns;		     /* the profiler's pid namespace, 0: the first one */
};

/*
 * bpf_probe__ask - engine_ops.probe of the BPF engine; @features is filled, too.  XRPROF_BPF_LOOP=0
 * in the environment stands for a kernel without bpf_loop.
 */
int bpf_probe__ask(const struct engine_config *config, engine_found found, void *arg,
		   struct bpf_features *features, struct errmsg *f);

/* bpf_probe__pid_namespace - the inode of this process' pid namespace; 0: it is the first one. */
ino_t bpf_probe__pid_namespace(void);

/* bpf_probe__fault - say why the kernel did not take a program or a map: @err, which is returned */
int bpf_probe__fault(struct errmsg *f, int err, const struct engine_config *config);

#endif
