/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that the user names (engine/event_names.h), each with separate programs that share
 * the sampler's maps (bpf/event.h).
 *
 * Those of perf are opened on the threads of each process, or on CPUs, as ticks are: perf_events.h.
 * A tracepoint or an instruction of a file is opened once for the whole machine, and the program
 * asks whether the process is one that is sampled: the programs of a tracepoint hang on it, not on
 * the perf event that they were given by, and run once for each hit of any process
 * (perf_trace_run_bpf_submit(), kernel/events/core.c); a second perf event with the same
 * program would have it run twice.  On an instruction each perf event has a separate place and
 * separate programs; but what a child inherits has none (perf_uprobe_event_init(), the same file).
 */
#ifndef XR_ENGINE_BPF_EVENTS_H
#define XR_ENGINE_BPF_EVENTS_H

#include <sys/types.h>

#include "base/errmsg.h"
#include "engine/engine.h"
#include "engine/bpf/kernel.h"

/* What a machine may have or not, for `info`. */
enum bpf_events_kind {
	BPF_EVENTS_HARDWARE,
	BPF_EVENTS_SOFTWARE,
	BPF_EVENTS_CACHES,
	BPF_EVENTS_TRACEPOINTS,
	BPF_EVENTS_PROBES,
	BPF_EVENTS_COLLECTIONS,
};

/*
 * bpf_events__ask - which events of @kind can be opened here: their names to @value, and 0; or a
 * negative errno, and why not.
 */
int bpf_events__ask(enum bpf_events_kind kind, struct errmsg *value);

struct bpf_events;
struct sampler; /* sampler.skel.h */

/*
 * bpf_events__new - load and open the events of @config, which is borrowed; @all is loaded. -ENOENT
 * and others: one of them is not available, and @f says which, and why.  To be called with
 * RIGHTS_LOAD and RIGHTS_FILES raised.
 */
int bpf_events__new(struct bpf_events **out, const struct engine_config *config,
		    const struct bpf_features *have, const struct sampler *all, struct errmsg *f);

/* bpf_events__names - of all of them, with commas between. */
const char *bpf_events__names(const struct bpf_events *events);

/*
 * bpf_events__row - the row of a process that is added has become @row, or is about to: what can be
 * opened only now, whichever processes have events otherwise, is.  @old: what it was; NULL: it has
 * none yet.  On failure @f says what there are no samples of.
 */
int bpf_events__row(struct bpf_events *events, const struct xr_row *old, const struct xr_row *row,
		    struct errmsg *f);

/* bpf_events__add_process, _widen, _renew_cpus - as of perf_events.h. */
int bpf_events__add_process(struct bpf_events *events, pid_t pid, struct errmsg *f);
int bpf_events__widen(struct bpf_events *events, struct errmsg *f);
int bpf_events__renew_cpus(struct bpf_events *events, struct errmsg *f);

void bpf_events__stop(struct bpf_events *events); /* no more samples */
void bpf_events__free(struct bpf_events *events); /* NULL is allowed */

#endif
