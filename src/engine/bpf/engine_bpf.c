/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF engine: loads the sampler (bpf/sampler.bpf.c), gives it its rows and events, and hands
 * on the records it sends.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/linux/cpus.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "engine/engine.h"
#include "engine/bpf/events.h"
#include "engine/bpf/mapping_events.h"
#include "engine/bpf/open_waits.h"
#include "engine/bpf/perf_events.h"
#include "engine/bpf/probe.h"
#include "engine/bpf/programs.h"
#include "engine/bpf/rows.h"
#include "engine/bpf/slabs.h"
#include "engine/bpf/switching.h"
#include "engine/bpf/waits.h"
#include "sampler.skel.h"

/*
 * Records are delivered for so long at most, then poll returns: a ring that fills as fast as it is
 * read must not keep the session from its deadlines and signals.
 */
#define SLICE_NS (20 * NS_PER_MS)

struct engine {
	struct engine_config config;
	struct sampler *skel;
	struct ring_buffer *ring;
	struct perf_events *events; /* ticks; NULL: there are none, but */
	struct bpf_events *others;  /* these; NULL: none */
	engine_sink sink;	    /* during poll */
	void *sink_arg;
	int delivered;	    /* records, in this poll */
	uint64_t slice_end; /* ns, of this poll */
	bool behind;	    /* it was over before the ring was empty */
	int ncpus;
	bool on_cpus; /* events are on CPUs, and not on threads */
	struct switching switching;
	uint64_t looked_ms; /* when it was last looked which CPUs are online, and at the limit */
	bool cpus_fault;    /* an event on one that came back failed, which was reported */
	bool limited;	    /* it was reported that the kernel lowered the limit */
	struct bpf_slabs slabs;
	struct mapping_events *mappings; /* NULL: not reported */
	bool mappings_lost;
	struct bpf_link *back; /* NULL: time not on a CPU is not wanted */
	struct bpf_waits_begun begun;
	struct open_waits open_waits;
};

static int on_record(void *arg, void *record, size_t size)
{
	struct engine *e = arg;

	e->sink(e->sink_arg, record, size);
	e->delivered++;
	/* a record for which this fails is taken all the same (ringbuf_process_ring() of libbpf) */
	return os__now() < e->slice_end ? 0 : -ECANCELED;
}

static void bpf__close(struct engine *e)
{
	if (!e)
		return;
	bpf_events__free(e->others);
	perf_events__free(e->events);
	mapping_events__free(e->mappings);
	ring_buffer__free(e->ring);
	bpf_slabs__free(&e->slabs);
	bpf_link__destroy(e->back);
	bpf_waits__free(&e->begun);
	open_waits__free(&e->open_waits);
	sampler__destroy(e->skel);
	free(e);
}

/*
 * Events on CPUs from the start, or on the threads of each process?  Those on threads are inherited
 * by what they start: a process that was started by one and is added later would tick twice, and
 * the rate of what was inherited cannot be changed.
 */
static bool bpf__whole_machine(const struct engine_config *config)
{
	return config->all || config->follow || config->rate_changes;
}

/*
 * Do the threads of the processes that were named fit?  A workload has one when it is added.  Those
 * that start later inherit theirs, which takes no descriptor.
 */
static bool bpf__threads_fit(const struct engine_config *config)
{
	const size_t events = config->events && config->events->n ? config->events->n : 1;
	size_t threads = config->npids ? 0 : 1;
	struct proc p;

	for (size_t i = 0; i < config->npids; i++)
		threads += proc__read(config->pids[i], &p) ? 0 : p.threads;
	return perf_events__threads_fit(threads, events);
}

/* Does the user name the events? */
static bool bpf__events(const struct engine_config *config)
{
	return config->events && config->events->n;
}

static int bpf__renew_cpus(struct engine *e, struct errmsg *f)
{
	return e->others ? bpf_events__renew_cpus(e->others, f)
			 : perf_events__renew_cpus(e->events, f);
}

static int bpf__ticks(struct engine *e, const struct bpf_features *have, struct errmsg *f)
{
	const struct engine_config *config = &e->config;
	const struct bpf_program *prog =
		have->loop ? e->skel->progs.sample_loop : e->skel->progs.sample_bounded;
	const char *why = NULL;
	int err;

	err = perf_events__new(&e->events, config->freq, bpf_program__fd(prog), &why, f);
	if (err)
		return err;
	if (why && config->verbose)
		engine__note(config, "%s: sampling the CPU clock", why);
	if (perf_events__freq(e->events) < config->freq)
		engine__note(
			config,
			"the kernel allows %u samples a second, not %u: sampling at %u Hz (the "
			"limit is in /proc/sys/kernel/perf_event_max_sample_rate)",
			perf_events__freq(e->events), config->freq, perf_events__freq(e->events));
	return 0;
}

static int bpf__open_raised(struct engine **out, const struct engine_config *config,
			    struct errmsg *f)
{
	struct bpf_features have;
	struct engine *e;
	int err;

	bpf_programs__quiet(config);
	err = bpf_programs__check_memory(config, 0, f);
	if (!err)
		err = bpf_probe__ask(config, NULL, NULL, &have, f);
	if (err)
		return err;
	e = calloc(1, sizeof(*e));
	if (!e)
		return errmsg__set(f, -ENOMEM, "out of memory");
	e->config = *config;
	e->slabs.shared = config->capture & XR_ROW_OFF_CPU;
	open_waits__init(&e->open_waits, config->helpers);
	err = bpf_programs__open(&e->skel, config, &have, have.loop, f);
	if (err)
		goto cleanup;
	err = sampler__load(e->skel);
	if (err) {
		kernel__fault(f, err, config);
		goto cleanup;
	}
	err = sampler__attach(e->skel); /* the raw tracepoints; perf events follow */
	if (err) {
		errmsg__set(f, err, "bpf: cannot attach to fork, exec and exit: %s",
			    strerror(-err));
		goto cleanup;
	}
	if (config->capture & XR_ROW_OFF_CPU) {
		err = bpf_waits__attach(&e->back, e->skel, &have.waits, have.loop, f);
		if (err)
			goto cleanup;
		if (have.waits.back == BPF_BACK_SYSCALL)
			engine__note(config, "this kernel only shows waits in system calls: it has "
					     "neither sched_exit_tp (6.15) nor kprobes");
	}
	e->ring = ring_buffer__new(bpf_map__fd(e->skel->maps.ring), on_record, e, NULL);
	if (!e->ring) {
		err = errmsg__set(f, -errno, "bpf: cannot map the ring buffer: %s",
				  strerror(errno));
		goto cleanup;
	}
	err = bpf__events(config) ? bpf_events__new(&e->others, config, &have, e->skel, f)
				  : bpf__ticks(e, &have, f);
	e->on_cpus = bpf__whole_machine(config) || !bpf__threads_fit(config);
	if (!err && e->on_cpus)
		err = bpf__renew_cpus(e, f);
	if (err)
		goto cleanup;
	if (config->capture & XR_ROW_NATIVE) {
		err = mapping_events__new(&e->mappings);
		if (err && config->verbose)
			engine__note(config, "new mappings of processes are not reported: %s",
				     strerror(-err));
	}
	e->ncpus = libbpf_num_possible_cpus();
	os__trim(); /* the kernel's types, some 10 MB, were needed for loading only */
	*out = e;
	return 0;

cleanup:
	bpf__close(e);
	return err;
}

static int bpf__open(struct engine **out, const struct engine_config *config, struct errmsg *f)
{
	uint64_t raised = rights__raise(RIGHTS_LOAD | RIGHTS_FILES);
	int err = bpf__open_raised(out, config, f);

	rights__lower(raised);
	return err;
}

static int bpf__rows(const struct engine *e)
{
	return bpf_map__fd(e->skel->maps.rows);
}

static int bpf__update(struct engine *e, const struct xr_row *row)
{
	struct errmsg f = {""};
	struct xr_row old;

	/* first: a child that has such a row has what the parent had (collections.h) */
	if (e->others && !bpf_rows__lookup(bpf__rows(e), row->pid, &old) &&
	    old.serial == row->serial && bpf_events__row(e->others, &old, row, &f))
		engine__note(&e->config, "%s", f.text);
	return bpf_rows__replace(bpf__rows(e), row);
}

static void bpf__remove(struct engine *e, uint32_t pid, uint32_t serial)
{
	bpf_rows__remove(bpf__rows(e), pid, serial);
}

static bool bpf__holds(struct engine *e, uint32_t pid, uint32_t serial)
{
	return bpf_rows__holds(bpf__rows(e), pid, serial);
}

static int bpf__fd(struct engine *e)
{
	return ring_buffer__epoll_fd(e->ring);
}

/* The threads of @pid tick from now on; if they do not fit, all CPUs do. */
static int bpf__tick(struct engine *e, pid_t pid, struct errmsg *f)
{
	int err = e->others ? bpf_events__add_process(e->others, pid, f)
			    : perf_events__add_process(e->events, pid, f);

	if (err != -EMFILE && err != -ENFILE)
		return err;
	err = e->others ? bpf_events__widen(e->others, f) : perf_events__widen(e->events, f);
	e->on_cpus = !err;
	return err;
}

static int bpf__add(struct engine *e, const struct xr_row *row, struct errmsg *f)
{
	int err = bpf_rows__insert(bpf__rows(e), row);

	if (err == -EEXIST)
		return errmsg__set(f, err, "process %u is already being profiled", row->pid);
	if (err == -E2BIG)
		return errmsg__set(f, err,
				   "process %u is not profiled: the limit of %u %s is reached",
				   row->pid, bpf_map__max_entries(e->skel->maps.rows),
				   count__word(bpf_map__max_entries(e->skel->maps.rows), "process",
					       "processes"));
	if (err)
		return errmsg__set(
			f, err,
			"process %u is not profiled: cannot add it to the map of processes: %s",
			row->pid, strerror(-err));
	if (row->flags & XR_ROW_OFF_CPU)
		err = bpf_waits__begin(&e->begun, bpf_map__fd(e->skel->maps.waits),
				       (pid_t)row->pid);
	if (err)
		errmsg__set(f, err, "out of memory");
	else if (e->others)
		err = bpf_events__row(e->others, NULL, row, f);
	if (!err && !e->on_cpus)
		err = bpf__tick(e, (pid_t)row->pid, f);
	if (err)
		bpf__remove(e, row->pid, row->serial);
	return err;
}

/* The kernel lowers its limit while it runs if samples take long, and then leaves samples out. */
static void bpf__look_at_limit(struct engine *e)
{
	const uint32_t limit = e->events && !e->limited ? perf_events__limit() : 0;

	if (!limit || limit >= perf_events__freq(e->events))
		return;
	e->limited = true;
	engine__note(&e->config,
		     "the kernel now allows %u samples a second, not %u: it may leave out the rest "
		     "(the limit is in /proc/sys/kernel/perf_event_max_sample_rate)",
		     limit, perf_events__freq(e->events));
}

/* For the whole machine: CPUs may have gone offline, or come back, since the last look. */
static void bpf__look(struct engine *e)
{
	uint64_t ms = os__now() / NS_PER_MS;
	struct errmsg f = {0};

	if (ms - e->looked_ms < CPUS_CHECK_MS)
		return;
	e->looked_ms = ms;
	bpf__look_at_limit(e);
	if (e->on_cpus && bpf__renew_cpus(e, &f) && !e->cpus_fault) {
		e->cpus_fault = true; /* reported once; it is tried again each time */
		engine__note(&e->config, "%s", f.text);
	}
}

/* Events of threads become those of CPUs where that is the cheaper of the two. */
static void bpf__look_at_switches(struct engine *e)
{
	struct errmsg f = {""};
	uint64_t rate;

	if (!switching__much(&e->switching, e->events, os__now(), &rate))
		return;
	e->on_cpus = !perf_events__widen(e->events, &f);
	if (!e->config.verbose)
		return;
	engine__note(&e->config, "%" PRIu64 " switches a second: %s%s", rate,
		     e->on_cpus ? "the events are now on all CPUs, which costs the program less"
				: "the events would cost the program less on all CPUs, but: ",
		     f.text);
}

/* Process @pid mapped a file as code: what is known of it may be another's now. */
static void on_mapping(void *arg, uint32_t pid)
{
	struct engine *e = arg;
	struct xr_process p = {
		.head = {.type = XR_REC_PROCESS, .size = sizeof(p)},
		.event = XR_PROCESS_UNMAPPED,
		.pid = pid,
	};
	struct xr_row row;

	if (!pid) {
		e->mappings_lost = true;
		return;
	}
	if (bpf_rows__lookup(bpf__rows(e), pid, &row))
		return;
	p.time = os__now();
	p.serial = row.serial;
	on_record(e, &p, sizeof(p));
}

/* Some were lost: it may have been any process. */
static void bpf__remap_all(struct engine *e)
{
	int fd = bpf__rows(e);
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	uint32_t pid, *last = NULL;

	e->mappings_lost = false;
	for (uint32_t i = 0; i < bpf_map__max_entries(e->skel->maps.rows); i++) {
		if (bpf_map_get_next_key(fd, last, &pid))
			break;
		on_mapping(e, pid);
		last = &pid;
	}
	rights__lower(raised);
}

/*
 * The sampler wakes us only when much is waiting; so whatever there is at the end of the wait is
 * taken as well.
 */
static int bpf__poll(struct engine *e, int timeout_ms, engine_sink sink, void *arg)
{
	struct pollfd ring = {.fd = bpf__fd(e), .events = POLLIN};
	int waited = 0, err;

	bpf__look(e);
	if (!e->on_cpus && e->events)
		bpf__look_at_switches(e);
	if (bpf_waits__pending(&e->begun)) {
		bpf_waits__go_on(&e->begun, bpf_map__fd(e->skel->maps.waits));
		timeout_ms = 0;
	}
	if (timeout_ms && poll(&ring, 1, timeout_ms) < 0)
		waited = -errno;
	if (waited && waited != -EINTR)
		return waited;
	e->sink = sink;
	e->sink_arg = arg;
	e->delivered = 0;
	e->slice_end = os__now() + SLICE_NS;
	err = ring_buffer__consume(e->ring);
	e->behind = err == -ECANCELED;
	if (err < 0 && !e->behind)
		return err;
	if (e->mappings)
		mapping_events__drain(e->mappings, on_mapping, e);
	if (e->mappings_lost)
		bpf__remap_all(e);
	return e->delivered ? e->delivered : waited;
}

static bool bpf__behind(struct engine *e)
{
	return e->behind;
}

static uint32_t bpf__freq(struct engine *e)
{
	return e->events ? perf_events__freq(e->events) : e->config.freq;
}

static int bpf__flush(struct engine *e, int limit_ms, engine_sink sink, void *arg)
{
	const uint32_t us = e->config.max_sample_us;

	if (!e->back || !e->config.helpers)
		return 0;
	return open_waits__read(&e->open_waits, e->skel, &e->slabs, NS_PER_S / bpf__freq(e),
				(us ? us : XR_SAMPLE_US) * NS_PER_US,
				(uint64_t)limit_ms * NS_PER_MS, sink, arg);
}

static void bpf__stop(struct engine *e)
{
	const struct bpf_object_skeleton *s = e->skel->skeleton;

	if (e->others)
		bpf_events__stop(e->others);
	else
		perf_events__stop(e->events);
	bpf_link__destroy(e->back);
	e->back = NULL;
	for (int i = 0; i < s->prog_cnt; i++) {
		if (!bpf_programs__sample(s->progs[i].name) || !*s->progs[i].link)
			continue;
		bpf_link__destroy(*s->progs[i].link); /* of a tracepoint */
		*s->progs[i].link = NULL;
	}
}

static int bpf__counters(struct engine *e, uint64_t counts[XR_COUNTERS])
{
	int fd = bpf_map__fd(e->skel->maps.tallies), err = 0;
	uint64_t(*tallies)[XR_COUNTERS] = calloc((size_t)e->ncpus, sizeof(*tallies));
	uint64_t raised;

	if (!tallies)
		return -ENOMEM;
	memset(counts, 0, XR_COUNTERS * sizeof(*counts));
	raised = rights__raise(RIGHTS_EVENTS);
	for (uint32_t entry = 0; entry <= XR_LEVELS; entry++) {
		err = bpf_map_lookup_elem(fd, &entry, tallies);
		if (err)
			break;
		for (int cpu = 0; cpu < e->ncpus; cpu++) {
			for (uint32_t i = 0; i < XR_SUMS; i++)
				counts[i] += tallies[cpu][i];
			for (uint32_t i = XR_SUMS; i < XR_COUNTERS; i++)
				if (tallies[cpu][i] > counts[i])
					counts[i] = tallies[cpu][i];
			if (entry > 1) /* 0: of no sample, 1: those that interrupt none */
				counts[XR_NESTED] += tallies[cpu][XR_TICKS];
		}
	}
	rights__lower(raised);
	free(tallies);
	for (uint32_t i = 0; i < XR_SUMS; i++)
		counts[i] += e->open_waits.counts[i];
	return err;
}

static int bpf__slab(struct engine *e, uint32_t slab, uint64_t **words)
{
	uint64_t raised = rights__raise(RIGHTS_LOAD);
	int err = bpf_slabs__get(&e->slabs, bpf_map__fd(e->skel->maps.slabs), slab, words);

	rights__lower(raised);
	return err;
}

static int bpf__set_freq(struct engine *e, uint32_t freq, struct errmsg *f)
{
	int err;

	if (!e->events)
		return errmsg__set(f, -ENOTSUP, "the rate of events cannot be changed");
	err = perf_events__set_freq(e->events, freq, f);
	e->skel->data->wait_ns = NS_PER_S / perf_events__freq(e->events);
	return err;
}

static const char *bpf__event(struct engine *e)
{
	return e->others ? bpf_events__names(e->others) : perf_events__name(e->events);
}

static int bpf__probe(const struct engine_config *config, engine_found found, void *arg,
		      struct errmsg *f)
{
	struct bpf_features have;

	return bpf_probe__ask(config, found, arg, &have, f);
}

const struct engine_ops engine_bpf = {
	.name = "bpf",
	.help = "from inside the kernel: the target is never stopped (needs Linux 5.8)",
	.clock = "cpu",
	.by_code = true,
	.probe = bpf__probe,
	.open = bpf__open,
	.add = bpf__add,
	.update = bpf__update,
	.remove = bpf__remove,
	.holds = bpf__holds,
	.slab = bpf__slab,
	.kernel = true,
	.events = true,
	.off_cpu = true,
	.fd = bpf__fd,
	.poll = bpf__poll,
	.behind = bpf__behind,
	.flush = bpf__flush,
	.stop = bpf__stop,
	.counters = bpf__counters,
	.freq = bpf__freq,
	.set_freq = bpf__set_freq,
	.event = bpf__event,
	.close = bpf__close,
};
