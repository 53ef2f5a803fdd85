/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/slabs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "space.h"

#define SLAB_BYTES (8u * XR_SLAB_WORDS)

uint32_t bpf_slabs__max(void)
{
	return BPF_SLABS_MAX;
}

/* A slab that is mapped, and in @outer: its descriptor. */
static int slab__make(int outer, uint32_t slab, uint64_t **words)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", sizeof(uint32_t), SLAB_BYTES, 1, &opts);
	void *mapped;
	int err;

	if (fd < 0)
		return -errno;
	mapped = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = mapped == MAP_FAILED ? -errno : 0;
	if (!err && bpf_map_update_elem(outer, &slab, &fd, BPF_ANY)) {
		err = -errno;
		munmap(mapped, SLAB_BYTES);
	}
	if (err) {
		close(fd);
		return err;
	}
	*words = mapped;
	return fd;
}

int bpf_slabs__get(struct bpf_slabs *s, int outer, uint32_t slab, uint64_t **words)
{
	int fd;

	if (slab >= BPF_SLABS_MAX)
		return -E2BIG;
	if (!s->words[slab]) {
		fd = slab__make(outer, slab, &s->words[slab]);
		if (fd < 0)
			return fd;
		if (s->shared)
			s->fds[slab] = fd;
		else
			close(fd);
	}
	*words = s->words[slab];
	return 0;
}

uint64_t *bpf_slabs__map(int fd)
{
	void *mapped = mmap(NULL, SLAB_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

void bpf_slabs__free(struct bpf_slabs *s)
{
	for (uint32_t i = 0; i < BPF_SLABS_MAX; i++) {
		if (!s->words[i])
			continue;
		munmap(s->words[i], SLAB_BYTES);
		if (s->shared)
			close(s->fds[i]);
		s->words[i] = NULL;
	}
}
