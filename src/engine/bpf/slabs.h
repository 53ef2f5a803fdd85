/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slabs of space.h as maps of the kernel, each of one value, which user space has mapped.
 */
#ifndef XR_ENGINE_BPF_SLABS_H
#define XR_ENGINE_BPF_SLABS_H

#include <stdint.h>

#define BPF_SLABS_MAX 256u

/* Starts zeroed. */
struct bpf_slabs {
	uint64_t *words[BPF_SLABS_MAX];
};

/* bpf_slabs__max - entries that the map of slabs is to have. */
uint32_t bpf_slabs__max(void);

/* bpf_slabs__get - as engine_ops.slab; @outer: the map of slabs. */
int bpf_slabs__get(struct bpf_slabs *s, int outer, uint32_t slab, uint64_t **words);

void bpf_slabs__free(struct bpf_slabs *s);

#endif
