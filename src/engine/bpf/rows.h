/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The map of processes that are sampled (bpf/maps.h), from user space.  @map is its descriptor.
 */
#ifndef XR_ENGINE_BPF_ROWS_H
#define XR_ENGINE_BPF_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

/* bpf_rows__lookup - -ENOENT: there is none. */
int bpf_rows__lookup(int map, uint32_t pid, struct xr_row *row);

/*
 * bpf_rows__insert - one that is there stands if it is that of this very process, -EEXIST: the
 * kernel copied it from the parent's meanwhile.  -E2BIG: there is no room.
 */
int bpf_rows__insert(int map, const struct xr_row *row);

/*
 * bpf_rows__replace - @row in place of that of its serial; what the sampler found out stays.
 * -ESRCH: it is not there any more, for the process has just become another program.
 */
int bpf_rows__replace(int map, const struct xr_row *row);

/* bpf_rows__holds - is the row of @pid that of @serial? */
bool bpf_rows__holds(int map, uint32_t pid, uint32_t serial);

/* bpf_rows__remove - it, if so. */
void bpf_rows__remove(int map, uint32_t pid, uint32_t serial);

#endif
