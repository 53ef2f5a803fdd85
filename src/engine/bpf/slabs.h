/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slabs of space.h as maps of the kernel, each of one value, which user space has mapped.
 */
#ifndef XR_ENGINE_BPF_SLABS_H
#define XR_ENGINE_BPF_SLABS_H

#include <stdbool.h>
#include <stdint.h>

#define BPF_SLABS_MAX 256u

/* Starts zeroed. */
struct bpf_slabs {
	bool shared; /* other processes map them, too: the descriptors stay open */
	uint64_t *words[BPF_SLABS_MAX];
	int fds[BPF_SLABS_MAX];
};

/* bpf_slabs__max - entries that the map of slabs is to have. */
uint32_t bpf_slabs__max(void);

/* bpf_slabs__get - as engine_ops.slab; @outer: the map of slabs. */
int bpf_slabs__get(struct bpf_slabs *s, int outer, uint32_t slab, uint64_t **words);

/* bpf_slabs__map - the words of the slab of descriptor @fd, to be read; NULL: not possible. */
uint64_t *bpf_slabs__map(int fd);

void bpf_slabs__free(struct bpf_slabs *s);

#endif
