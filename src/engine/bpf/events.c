/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/collections.h"
#include "engine/bpf/perf_events.h"
#include "engine/bpf/places.h"
#include "engine/bpf/programs.h"
#include "os/linux/refusal.h"
#include "sampler.skel.h"

/* What event_names.c knows by number. */
_Static_assert(PERF_TYPE_HARDWARE == 0 && PERF_TYPE_SOFTWARE == 1 && PERF_TYPE_HW_CACHE == 3 &&
		       PERF_TYPE_RAW == 4,
	       "enum perf_type_id");
_Static_assert(PERF_COUNT_HW_REF_CPU_CYCLES == 9 && PERF_COUNT_HW_BUS_CYCLES == 6 &&
		       PERF_COUNT_SW_EMULATION_FAULTS == 8 && PERF_COUNT_SW_PAGE_FAULTS == 2,
	       "enum perf_hw_id, enum perf_sw_ids");
_Static_assert(PERF_COUNT_HW_CACHE_NODE == 6 && PERF_COUNT_HW_CACHE_OP_PREFETCH == 2 &&
		       PERF_COUNT_HW_CACHE_RESULT_MISS == 1,
	       "enum perf_hw_cache_id");

struct bpf_event {
	const struct event_name *name;
	struct sampler *skel;
	struct perf_events *perf;	 /* of EVENT_PERF, */
	struct places places;		 /* of places in code, */
	struct collections *collections; /* of EVENT_GC */
};

struct bpf_events {
	struct bpf_event all[XR_OTHERS_MAX];
	uint32_t n;
	char *names;
};

/* What opens an event whose program is loaded. */
struct opening {
	const struct engine_config *config;
	int prog_fd, also_fd; /* of struct kind; -1: there is none */
	int rows_fd;
};

static int open_perf(struct bpf_event *e, const struct opening *o, struct errmsg *f)
{
	return perf_events__of(&e->perf, e->name, o->config->freq, o->config->period, o->prog_fd,
			       f);
}

static int open_places(struct bpf_event *e, const struct opening *o, struct errmsg *f)
{
	return places__open(&e->places, e->name, o->config, o->prog_fd, f);
}

static int open_collections(struct bpf_event *e, const struct opening *o, struct errmsg *f)
{
	return collections__new(&e->collections, e->name, o->prog_fd, o->also_fd, o->rows_fd, f);
}

static struct bpf_program *program_tick(const struct sampler *s, bool loop)
{
	return loop ? s->progs.sample_loop : s->progs.sample_bounded;
}

static struct bpf_program *program_point(const struct sampler *s, bool loop)
{
	return loop ? s->progs.sample_point_loop : s->progs.sample_point_bounded;
}

static struct bpf_program *program_probe(const struct sampler *s, bool loop)
{
	return loop ? s->progs.sample_probe_loop : s->progs.sample_probe_bounded;
}

/*
 * By kind.  `every`: the program counts, for the kernel has no period for it.  `also`: a program
 * that is loaded as well where there may be probes in files.
 */
static const struct kind {
	struct bpf_program *(*program)(const struct sampler *s, bool loop);
	int (*open)(struct bpf_event *e, const struct opening *o, struct errmsg *f);
	bool every;
	struct bpf_program *(*also)(const struct sampler *s, bool loop);
} kinds[EVENT_KINDS] = {
	[EVENT_PERF] = {program_tick, open_perf, false, NULL},
	[EVENT_TRACEPOINT] = {program_point, open_places, true, NULL},
	[EVENT_UPROBE] = {program_probe, open_places, true, NULL},
	[EVENT_USDT] = {program_probe, open_places, true, NULL},
	[EVENT_GC] = {program_tick, open_collections, false, program_probe},
};

static int event__open(struct bpf_event *e, uint32_t number, const struct engine_config *config,
		       const struct bpf_features *have, const struct sampler *all, struct errmsg *f)
{
	const struct kind *k = &kinds[e->name->kind];
	const struct bpf_event_constants constants = {
		.number = number,
		.unit = e->name->unit,
		.every = k->every ? config->period : 0,
		.chance = e->name->kind == EVENT_PERF && !config->period &&
					  perf_events__bursts(e->name)
				  ? config->freq
				  : 0,
		.collections = e->name->kind == EVENT_GC,
	};
	struct opening o = {
		.config = config, .also_fd = -1, .rows_fd = bpf_map__fd(all->maps.rows)};
	struct bpf_program *prog, *also = NULL;
	int err;

	err = bpf_programs__open_event(&e->skel, config, have, all, &constants, f);
	if (err)
		return err;
	prog = k->program(e->skel, have->loop);
	bpf_program__set_autoload(prog, true);
	if (k->also && places__can_probe()) {
		also = k->also(e->skel, have->loop);
		bpf_program__set_autoload(also, true);
	}
	err = sampler__load(e->skel);
	if (err)
		return kernel__fault(f, err, config);
	o.prog_fd = bpf_program__fd(prog);
	if (also)
		o.also_fd = bpf_program__fd(also);
	return k->open(e, &o, f);
}

static char *events__names(const struct event_list *list)
{
	size_t size = 1;
	char *names;

	for (uint32_t i = 0; i < list->n; i++)
		size += strlen(list->all[i].text) + 1;
	names = calloc(1, size);
	for (uint32_t i = 0; names && i < list->n; i++)
		snprintf(names + strlen(names), size - strlen(names), "%s%s", i ? "," : "",
			 list->all[i].text);
	return names;
}

int bpf_events__new(struct bpf_events **out, const struct engine_config *config,
		    const struct bpf_features *have, const struct sampler *all, struct errmsg *f)
{
	struct bpf_events *events = calloc(1, sizeof(*events));
	int err = 0;

	if (events)
		events->names = events__names(config->events);
	if (!events || !events->names) {
		bpf_events__free(events);
		return errmsg__set(f, -ENOMEM, "out of memory");
	}
	while (!err && events->n < config->events->n) {
		struct bpf_event *e = &events->all[events->n];

		e->name = &config->events->all[events->n];
		err = event__open(e, events->n++, config, have, all, f);
	}
	if (err)
		bpf_events__free(events);
	else
		*out = events;
	return err;
}

const char *bpf_events__names(const struct bpf_events *events)
{
	return events->names;
}

int bpf_events__row(struct bpf_events *events, const struct xr_row *old, const struct xr_row *row,
		    struct errmsg *f)
{
	int err = 0;

	for (uint32_t i = 0; i < events->n && !err; i++)
		if (events->all[i].collections)
			err = collections__row(events->all[i].collections, old, row, f);
	return err;
}

int bpf_events__add_process(struct bpf_events *events, pid_t pid, struct errmsg *f)
{
	int err = 0;

	for (uint32_t i = 0; i < events->n && !err; i++)
		if (events->all[i].perf)
			err = perf_events__add_process(events->all[i].perf, pid, f);
	return err;
}

int bpf_events__widen(struct bpf_events *events, struct errmsg *f)
{
	int err = 0;

	for (uint32_t i = 0; i < events->n && !err; i++)
		if (events->all[i].perf)
			err = perf_events__widen(events->all[i].perf, f);
	return err;
}

int bpf_events__renew_cpus(struct bpf_events *events, struct errmsg *f)
{
	int err = 0;

	for (uint32_t i = 0; i < events->n && !err; i++)
		if (events->all[i].perf)
			err = perf_events__renew_cpus(events->all[i].perf, f);
	return err;
}

void bpf_events__stop(struct bpf_events *events)
{
	for (uint32_t i = 0; i < events->n; i++) {
		if (events->all[i].perf)
			perf_events__stop(events->all[i].perf);
		if (events->all[i].collections)
			collections__stop(events->all[i].collections);
		places__close(&events->all[i].places);
	}
}

void bpf_events__free(struct bpf_events *events)
{
	if (!events)
		return;
	for (uint32_t i = 0; i < events->n; i++) {
		perf_events__free(events->all[i].perf);
		places__close(&events->all[i].places);
		collections__free(events->all[i].collections);
		sampler__destroy(events->all[i].skel);
	}
	free(events->names);
	free(events);
}

/* The names of perf's events of @type that can be opened, each event by its first name. */
static int ask__perf(uint32_t type, struct errmsg *value)
{
	struct perf_events *perf;
	char names[sizeof(value->text)] = "";
	uint64_t last = UINT64_MAX;
	struct event_name e;
	struct errmsg why;
	int err = -ENOENT;
	size_t len = 0;

	for (size_t i = 0; event_names__each(i, &e); i++) {
		if (e.type != type || e.config == last)
			continue;
		last = e.config;
		if (perf_events__of(&perf, &e, 1, 0, -1, &why))
			continue;
		perf_events__free(perf);
		err = 0;
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "", e.text);
	}
	return errmsg__set(value, err, "%s", err ? "not on this machine" : names);
}

static int ask__tracepoints(struct errmsg *value)
{
	const char *path = places__tracefs();

	if (!path)
		return errmsg__set(value, -ENOENT,
				   "tracefs is not mounted: mount -t tracefs tracefs "
				   "/sys/kernel/tracing");
	if (access(path, R_OK | X_OK))
		return errmsg__set(value, -errno, "%s: %s", path, strerror(errno));
	return errmsg__set(value, 0, "%s", path);
}

static int ask__probes(struct errmsg *value)
{
	uint32_t type;
	int err = places__uprobe_type(&type);
	struct errmsg why;

	if (err)
		return errmsg__set(value, err, "this kernel has no uprobes for perf");
	if (!places__may_probe())
		return errmsg__set(value, -EPERM, "%s", refusal__call(REFUSAL_PROBE, &why));
	return errmsg__set(value, 0, "yes");
}

int bpf_events__ask(enum bpf_events_kind kind, struct errmsg *value)
{
	switch (kind) {
	case BPF_EVENTS_HARDWARE:
		return ask__perf(PERF_TYPE_HARDWARE, value);
	case BPF_EVENTS_SOFTWARE:
		return ask__perf(PERF_TYPE_SOFTWARE, value);
	case BPF_EVENTS_CACHES:
		return ask__perf(PERF_TYPE_HW_CACHE, value);
	case BPF_EVENTS_TRACEPOINTS:
		return ask__tracepoints(value);
	case BPF_EVENTS_PROBES:
		return ask__probes(value);
	case BPF_EVENTS_COLLECTIONS:
		break;
	}
	return collections__ask(value);
}
