/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/sizes.h"

#include "base/limits.h"

#define RING_LEAST   (2u << 20)
#define RING_MOST    (1u << 30)
#define SAMPLE_BYTES 1100u /* in the ring, of 30 calls with packages: (72 + 2 * 16 * 32) */

#define EACH_RATE 20000u /* samples a second of a CPU where each event is one, in a burst */

/* Texts of a process that are in use at a time: what is beyond is sent again now and then. */
#define SENT_EACH 8u
/* An LRU map keeps 128 free entries for each CPU (kernel/bpf/bpf_lru_list.c). */
#define SENT_PER_CPU 256u
#define SENT_LEAST   4096u

/* What an entry takes in the kernel, measured on 6.18: with its place in the table. */
#define ROW_BYTES  (sizeof(struct xr_row) + 72)
#define SENT_BYTES 96u
#define WAIT_BYTES 192u /* of both maps */

/* Those of processes that start and end at a time, and with --idle all of theirs. */
#define WAITS_EACH  4u
#define WAITS_LEAST 1024u

/* Samples a second that may come of a CPU: those asked for, or what a program makes of events. */
static uint32_t sizes__rate(const struct engine_config *config)
{
	const struct event_list *events = config->events;
	bool each = false;

	for (uint32_t i = 0; events && i < events->n && !each; i++)
		each = events->all[i].kind != EVENT_PERF || config->period;
	return each && config->freq < EACH_RATE ? EACH_RATE : config->freq;
}

struct bpf_sizes bpf_sizes__of(const struct engine_config *config, uint32_t cpus)
{
	const uint64_t memory = config->memory ? config->memory : LIMIT_MEMORY;
	struct bpf_sizes s = {
		.rows = config->max_processes ? config->max_processes : LIMIT_SAMPLED,
		.ring = RING_LEAST,
	};
	/* user space is woken when a quarter is full: the rest is for half a second */
	const uint64_t held = (uint64_t)cpus * sizes__rate(config) * SAMPLE_BYTES / 2 / 3 * 4;
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
	if (config->capture & XR_ROW_OFF_CPU)
		s.waits = s.rows * WAITS_EACH > WAITS_LEAST ? s.rows * WAITS_EACH : WAITS_LEAST;
	s.all = s.rows * ROW_BYTES + (uint64_t)s.sent * SENT_BYTES + s.ring +
		(uint64_t)s.waits * WAIT_BYTES;
	return s;
}
