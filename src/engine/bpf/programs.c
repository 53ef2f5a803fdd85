/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/linux/cgroup_memory.h"
#include "os/proc.h"
#include "os/rights.h"
#include "engine/bpf/sizes.h"
#include "engine/bpf/slabs.h"
#include "sampler.skel.h"

/* For the verifier's figures: programs, and bytes of each one's log. */
#define PROGRAMS_MAX   32
#define LOG_BYTES      65536u
#define WINDOW_SAMPLES 8	  /* EVENT_WINDOW of bpf/event.h */
#define TWICE_BYTES    (6u << 20) /* what is kept of loading them once while it is done again */

static int nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

void bpf_programs__quiet(const struct engine_config *config)
{
	if (!config->verbose)
		libbpf_set_print(nothing);
}

bool bpf_programs__sample(const char *name)
{
	return !strncmp(name, "sample_", strlen("sample_"));
}

/*
 * Can a sample interrupt another?  Not while all come from perf events (bpf_prog_active,
 * kernel/events/core.c).
 */
static bool can_nest(const struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		if (bpf_program__autoload(prog) && bpf_programs__sample(bpf_program__name(prog)) &&
		    bpf_program__type(prog) != BPF_PROG_TYPE_PERF_EVENT)
			return true;
	}
	return false;
}

/* Is there an event of the user's whose program may interrupt, or be preempted (bpf/event.h)? */
static bool events_nest(const struct engine_config *config)
{
	for (uint32_t i = 0; config->events && i < config->events->n; i++)
		if (config->events->all[i].kind != EVENT_PERF)
			return true;
	return false;
}

/* Those of events are loaded for each (bpf_programs__open_event), in place of ticks. */
static void programs__events(struct sampler *s, const struct engine_config *config, bool loop)
{
	struct bpf_program *const events[] = {
		s->progs.sample_point_loop,
		s->progs.sample_point_bounded,
		s->progs.sample_probe_loop,
		s->progs.sample_probe_bounded,
	};
	const bool ticks = !config->events || !config->events->n;

	bpf_program__set_autoload(s->progs.sample_loop, ticks && loop);
	bpf_program__set_autoload(s->progs.sample_bounded, ticks && !loop);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		bpf_program__set_autoload(events[i], false);
		bpf_program__set_autoattach(events[i], false);
	}
}

static struct bpf_sizes programs__sizes(const struct engine_config *config)
{
	int cpus = libbpf_num_possible_cpus();

	return bpf_sizes__of(config, cpus > 0 ? (uint32_t)cpus : 1);
}

/* Those that see threads leave their CPU and come back. */
static void programs__waits(struct sampler *s, const struct engine_config *config,
			    const struct bpf_features *have, bool loop)
{
	const bool waits = config->capture & XR_ROW_OFF_CPU;
	const enum bpf_back back = waits ? have->waits.back : BPF_BACK_NONE;
	struct bpf_program *const all[] = {
		s->progs.sample_back_loop,	s->progs.sample_finish_loop,
		s->progs.sample_finish_bounded, s->progs.sample_exit_loop,
		s->progs.sample_exit_bounded,
	};

	bpf_program__set_autoload(s->progs.on_switch, waits);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		bpf_program__set_autoload(all[i], all[i] == bpf_waits__program(s, back, loop));
		bpf_program__set_autoattach(all[i], false); /* by waits.c */
	}
	s->rodata->cfg_wait_syscall = back == BPF_BACK_SYSCALL;
	bpf_map__set_autocreate(s->maps.waits, waits);
	bpf_map__set_autocreate(s->maps.waits_told, waits);
	bpf_map__set_autocreate(s->maps.switched, waits);
	s->rodata->cfg_state_arg = have->waits.state_arg;
	s->data->wait_ns = NS_PER_S / config->freq;
}

/*
 * What this process' time namespace adds to the clocks: time_namespaces(7).  The file is of the
 * namespace for children, which is another one until this process executes a program.
 */
static void programs__clocks(struct sampler *s)
{
	char line[128], of[64], children[64], name[16];
	uint64_t *to;
	long long seconds, ns;
	FILE *in;

	if (proc__link(getpid(), "ns/time", of, sizeof(of)) <= 0 ||
	    proc__link(getpid(), "ns/time_for_children", children, sizeof(children)) <= 0 ||
	    strcmp(of, children) != 0)
		return;
	in = proc__fopen(getpid(), "timens_offsets");
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%15s %lld %lld", name, &seconds, &ns) != 3)
			continue;
		to = NULL;
		if (!strcmp(name, "monotonic"))
			to = (uint64_t *)&s->rodata->cfg_monotonic;
		else if (!strcmp(name, "boottime"))
			to = (uint64_t *)&s->rodata->cfg_boottime;
		if (to)
			*to = (uint64_t)seconds * NS_PER_S + (uint64_t)ns;
	}
	if (in)
		fclose(in);
}

static void programs__configure(struct sampler *s, const struct engine_config *config,
				const struct bpf_features *have, bool loop)
{
	const struct bpf_sizes sizes = programs__sizes(config);

	programs__events(s, config, loop);
	programs__waits(s, config, have, loop);
	if (!can_nest(s->obj) && !events_nest(config)) {
		bpf_map__set_max_entries(s->maps.scratches, 1);
		bpf_map__set_max_entries(s->maps.texts, 1);
		bpf_map__set_max_entries(s->maps.native_memos, 1);
	}
	bpf_map__set_max_entries(s->maps.rows, sizes.rows);
	if (sizes.waits) {
		bpf_map__set_max_entries(s->maps.waits, sizes.waits);
		bpf_map__set_max_entries(s->maps.waits_told, sizes.waits);
	}
	bpf_map__set_max_entries(s->maps.sent, sizes.sent);
	bpf_map__set_max_entries(s->maps.ring, sizes.ring);
	s->rodata->cfg_wake_at = sizes.ring / 4;
	s->rodata->cfg_capture = config->capture;
#ifdef __aarch64__
	/* the others may be a signature (PAC): a process gets addresses beyond only if it asks for
	 * them (Documentation/arch/arm64/memory.rst) */
	s->rodata->cfg_pc_mask = (UINT64_C(1) << 48) - 1;
#endif
	bpf_map__set_autocreate(s->maps.slabs, config->capture & XR_ROW_NATIVE);
	bpf_map__set_autocreate(s->maps.native_memos, config->capture & XR_ROW_NATIVE);
	bpf_map__set_max_entries(s->maps.slabs, bpf_slabs__max());
	if (config->max_sample_us) {
		s->rodata->cfg_sample_ns = (uint64_t)config->max_sample_us * NS_PER_US;
		s->rodata->cfg_sample_work = config->max_sample_us * XR_SAMPLE_WORK_A_US;
	}
	s->rodata->cfg_cpu_bits = sizes.cpu_bits;
	s->rodata->cfg_tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	programs__clocks(s);
	s->rodata->cfg_have_task_regs = have->task_regs;
	s->rodata->cfg_have_task_btf = have->task_btf;
	s->rodata->cfg_pidns = have->pidns;
}

int bpf_programs__open(struct sampler **out, const struct engine_config *config,
		       const struct bpf_features *have, bool loop, struct errmsg *f)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = config->btf);

	*out = sampler__open_opts(&opts);
	if (!*out)
		return errmsg__set(f, -errno, "bpf: cannot open the programs: %s", strerror(errno));
	programs__configure(*out, config, have, loop);
	return 0;
}

int bpf_programs__open_event(struct sampler **out, const struct engine_config *config,
			     const struct bpf_features *have, const struct sampler *all,
			     const struct bpf_event_constants *constants, struct errmsg *f)
{
	struct bpf_program *prog;
	struct bpf_map *map, *shared;
	int err = bpf_programs__open(out, config, have, have->loop, f);

	if (err)
		return err;
	bpf_object__for_each_program(prog, (*out)->obj)
	{
		bpf_program__set_autoload(prog, false);
	}
	(*out)->rodata->cfg_event = XR_EVENT_OTHER + constants->number;
	(*out)->rodata->cfg_unit = constants->unit;
	(*out)->rodata->cfg_every = constants->every;
	(*out)->rodata->cfg_collections = constants->collections;
	if (constants->chance)
		(*out)->rodata->cfg_window_ns = WINDOW_SAMPLES * NS_PER_S / constants->chance;
	bpf_object__for_each_map(map, (*out)->obj)
	{
		if (bpf_map__is_internal(map) || !bpf_map__autocreate(map))
			continue;
		shared = bpf_object__find_map_by_name(all->obj, bpf_map__name(map));
		err = bpf_map__reuse_fd(map, bpf_map__fd(shared));
		if (err)
			break;
	}
	if (!err)
		return 0;
	sampler__destroy(*out);
	*out = NULL;
	return errmsg__set(f, err, "bpf: the maps cannot be shared: %s", strerror(-err));
}

/*
 * Loading ends a program whose cgroup has too little memory for it, without a word: the kernel's
 * types, the programs and small maps take START_BYTES on two CPUs, measured, those of each CPU
 * more, and those of sizes.h.
 */
#define START_BYTES   (12u << 20)
#define START_PER_CPU (256u << 10)

int bpf_programs__check_memory(const struct engine_config *config, uint64_t more, struct errmsg *f)
{
	uint64_t limit = cgroup_memory__limit(CGROUP_SELF, CGROUP_ROOT);
	uint64_t need = START_BYTES + (uint64_t)libbpf_num_possible_cpus() * START_PER_CPU +
			programs__sizes(config).all + more;

	if (limit >= need)
		return 0;
	return errmsg__set(
		f, -ENOMEM,
		"engine bpf needs %llu MiB of memory to start, and the cgroup allows %llu: "
		"raise its limit, or use --engine ptrace",
		(unsigned long long)((need + (1u << 20) - 1) >> 20),
		(unsigned long long)(limit >> 20));
}

/* The number that follows @key in a verifier's log. */
static uint64_t log__number(const char *log, const char *key)
{
	const char *at = strstr(log, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* @again: only the sampler, the other programs have been loaded before. */
static int programs__load(const struct engine_config *config, const struct bpf_features *have,
			  bool loop, bool again,
			  void (*each)(void *arg, const struct bpf_program_cost *cost), void *arg,
			  struct errmsg *f)
{
	struct sampler *skel = NULL;
	struct bpf_program *prog;
	char *logs, *log;
	int err, n = 0;

	logs = calloc(PROGRAMS_MAX, LOG_BYTES);
	if (!logs)
		return errmsg__set(f, -ENOMEM, "out of memory");
	err = bpf_programs__open(&skel, config, have, loop, f);
	if (err)
		goto cleanup;
	bpf_program__set_autoload(skel->progs.sample_point_loop, loop);
	bpf_program__set_autoload(skel->progs.sample_point_bounded, !loop);
	bpf_program__set_autoload(skel->progs.sample_probe_loop, loop);
	bpf_program__set_autoload(skel->progs.sample_probe_bounded, !loop);
	bpf_object__for_each_program(prog, skel->obj)
	{
		if (again && !strstr(bpf_program__name(prog), "_bounded"))
			bpf_program__set_autoload(prog, false);
		if (!bpf_program__autoload(prog) || n == PROGRAMS_MAX)
			continue;
		/* 4: only the figures at the end (BPF_LOG_STATS, kernel/bpf/verifier.c) */
		bpf_program__set_log_level(prog, 4);
		bpf_program__set_log_buf(prog, logs + (size_t)n++ * LOG_BYTES, LOG_BYTES);
	}
	err = sampler__load(skel);
	if (err) {
		kernel__fault(f, err, config);
		goto cleanup;
	}
	log = logs;
	bpf_object__for_each_program(prog, skel->obj)
	{
		struct bpf_program_cost cost = {.name = bpf_program__name(prog)};

		if (!bpf_program__autoload(prog) || !n--)
			continue;
		/* at the begin of a line: Linux 7 has "insns processed", too, by part */
		cost.insns = log__number(log, "\nprocessed ");
		cost.states = log__number(log, "total_states ");
		cost.usec = log__number(log, "verification time ");
		each(arg, &cost);
		log += LOG_BYTES;
	}
cleanup:
	sampler__destroy(skel);
	free(logs);
	return err;
}

int bpf_programs__costs(const struct engine_config *config, const struct bpf_features *have,
			void (*each)(void *arg, const struct bpf_program_cost *cost), void *arg,
			struct errmsg *f)
{
	uint64_t raised = rights__raise(RIGHTS_LOAD | RIGHTS_FILES);
	int err;

	err = bpf_programs__check_memory(config, TWICE_BYTES, f);
	if (!err && have->loop)
		err = programs__load(config, have, true, false, each, arg, f);
	if (!err)
		err = programs__load(config, have, false, have->loop, each, arg, f);
	rights__lower(raised);
	return err;
}
