/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sizes of maps: what was always there, what more CPUs and processes need, and limits. */
#include "abi.h"
#include "base/limits.h"
#include "engine/bpf/sizes.h"
#include "tap.h"

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* Samples of @calls calls with packages that fit into what is left when user space is woken. */
static double samples_held(uint32_t ring, uint32_t calls)
{
	return ring * 0.75 / (sizeof(struct xr_sample) + 2.0 * calls * sizeof(struct xr_slot) + 8);
}

TEST(sizes)
{
	struct engine_config config = {.freq = 99};
	struct bpf_sizes s = bpf_sizes__of(&config, 2), more;
	struct event_list events = {0};

	tap__ok(s.rows == LIMIT_SAMPLED && s.ring == 2u << 20 && s.sent == 8 * LIMIT_SAMPLED,
		"two CPUs: %u rows, %u texts, a ring of %u bytes", s.rows, s.sent, s.ring);
	tap__ok(s.all < 7u << 20, "which take %llu bytes", (unsigned long long)s.all);

	for (uint32_t cpus = 1; cpus <= 128; cpus *= 2) {
		s = bpf_sizes__of(&config, cpus);
		tap__ok(power_of_two(s.ring) && samples_held(s.ring, 20) >= cpus * 99 / 2.0,
			"%u CPUs: a ring of %u bytes holds half a second of 20 calls at 99 Hz",
			cpus, s.ring);
	}
	tap__ok(s.cpu_bits == 7 && bpf_sizes__of(&config, 1).cpu_bits == 0 &&
			bpf_sizes__of(&config, 3).cpu_bits == 2,
		"the bits of a CPU's number");
	tap__ok(s.ring <= LIMIT_MEMORY / 4, "within a quarter of the memory");
	config.freq = 9999;
	s = bpf_sizes__of(&config, 4096);
	tap__ok(s.ring <= LIMIT_MEMORY / 4, "at any rate, on any machine");
	config.memory = 1u << 30;
	more = bpf_sizes__of(&config, 4096);
	tap__ok(more.ring > s.ring && power_of_two(more.ring), "it is larger where it may be");
	tap__ok(more.sent >= 4096 * 256, "each CPU keeps some of the texts to itself");

	config = (struct engine_config){.freq = 19, .max_processes = 100000};
	s = bpf_sizes__of(&config, 2);
	tap__ok(s.rows == 100000, "as many processes as asked for");
	tap__ok(s.sent == LIMIT_MEMORY / 256, "names have a share of the memory");
	tap__ok(s.all > 100000 * sizeof(struct xr_row),
		"sizes.all contains the memory of the rows");
	config.memory = 1 << 20;
	config.max_processes = 1;
	s = bpf_sizes__of(&config, 2);
	tap__ok(s.rows == 1 && s.sent == 4096 && s.ring == 2u << 20, "and there is a least");

	config = (struct engine_config){.freq = 99, .memory = 128 << 20, .events = &events};
	tap__ok(!event_list__add(&events, "page-faults", NULL) &&
			bpf_sizes__of(&config, 2).ring == 2u << 20,
		"events at a rate come as often as ticks");
	config.period = 1;
	tap__ok(bpf_sizes__of(&config, 2).ring > 2u << 20, "each of them comes more often");
	s = bpf_sizes__of(&config, 2);
	config.capture = XR_ROW_OFF_CPU;
	more = bpf_sizes__of(&config, 2);
	tap__ok(!s.waits && more.waits == 4 * more.rows && more.all > s.all,
		"threads that wait have room where they are asked for");
	events.n = config.period = 0;
	tap__ok(!event_list__add(&events, "tracepoint:a:b", NULL) &&
			bpf_sizes__of(&config, 2).ring > 2u << 20,
		"and so does a tracepoint");
}
