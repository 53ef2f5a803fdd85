/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/sizes.h"

#include "base/limits.h"

#define RING_LEAST   (2u << 20)
#define RING_MOST    (1u << 30)
#define SAMPLE_BYTES 1100u /* in the ring, of 30 calls with packages: (72 + 2 * 16 * 32) */

/* Texts of a process that are in use at a time: what is beyond is sent again now and then. */
#define SENT_EACH 8u
/* An LRU map keeps 128 free entries for each CPU (kernel/bpf/bpf_lru_list.c). */
#define SENT_PER_CPU 256u
#define SENT_LEAST   4096u

/* What an entry takes in the kernel, measured on 6.18: with its place in the table. */
#define ROW_BYTES  (sizeof(struct xr_row) + 72)
#define SENT_BYTES 96u

struct bpf_sizes bpf_sizes__of(const struct engine_config *config, uint32_t cpus)
{
	const uint64_t memory = config->memory ? config->memory : LIMIT_MEMORY;
	struct bpf_sizes s = {
		.rows = config->max_processes ? config->max_processes : LIMIT_SAMPLED,
		.ring = RING_LEAST,
	};
	/* user space is woken when a quarter is full: the rest is for half a second */
	const uint64_t held = (uint64_t)cpus * config->freq * SAMPLE_BYTES / 2 / 3 * 4;
	uint64_t sent = (uint64_t)s.rows * SENT_EACH;

	if (sent > memory / 256)
		sent = memory / 256;
	if (sent < (uint64_t)cpus * SENT_PER_CPU)
		sent = (uint64_t)cpus * SENT_PER_CPU;
	s.sent = sent < SENT_LEAST ? SENT_LEAST : (uint32_t)sent;
	while (s.ring < held && s.ring < RING_MOST && s.ring <= memory / 8)
		s.ring *= 2;
	while (s.cpu_bits < 31 && 1u << s.cpu_bits < cpus)
		s.cpu_bits++;
	s.all = s.rows * ROW_BYTES + (uint64_t)s.sent * SENT_BYTES + s.ring;
	return s;
}
