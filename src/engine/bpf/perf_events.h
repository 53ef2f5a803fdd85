/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf events that make the sampler tick: CPU cycles where the machine can count them, the
 * CPU clock elsewhere.  Either on all threads of a process, inherited by threads and children that
 * start later, so that no CPU is interrupted that does not run a target; or on all CPUs.
 */
#ifndef XR_ENGINE_BPF_PERF_EVENTS_H
#define XR_ENGINE_BPF_PERF_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

struct perf_events;

/*
 * perf_events__new - choose the event and try it on the caller itself.
 * @freq: samples per second, fewer if the kernel allows no more.  @prog_fd: the BPF program to run
 * at each, borrowed.
 * @why: set to a static text when cycles are not to be had, else to NULL.
 */
int perf_events__new(struct perf_events **out, uint32_t freq, int prog_fd, const char **why,
		     struct errmsg *f);

/* perf_events__limit - the most samples a second that the kernel allows now; 0: not known */
uint32_t perf_events__limit(void);

/* perf_events__freq - samples a second of the events: what was asked for, or the limit */
uint32_t perf_events__freq(const struct perf_events *p);

/*
 * perf_events__set_freq - from now on @freq samples a second, at least 1, fewer if the kernel
 * allows no more; also of events that are added later.  Of events on CPUs: what was inherited from
 * one on a thread cannot be reached, and ends with it.  On failure, -EOPNOTSUPP of threads, some
 * events keep the rate they had.
 */
int perf_events__set_freq(struct perf_events *p, uint32_t freq, struct errmsg *f);

/* perf_events__name - "cycles" or "cpu-clock" */
const char *perf_events__name(const struct perf_events *p);

/*
 * perf_events__add_process - an event on each thread of @pid, with what it starts later.
 * -ESRCH: the process is gone.
 */
int perf_events__add_process(struct perf_events *p, pid_t pid, struct errmsg *f);

/*
 * perf_events__renew_cpus - an event on each CPU that is online and has none; those of CPUs that
 * went offline are closed.  Call again when CPUs may have come back.
 */
int perf_events__renew_cpus(struct perf_events *p, struct errmsg *f);

void perf_events__stop(struct perf_events *p); /* no more ticks */
void perf_events__free(struct perf_events *p); /* NULL is allowed */

#endif
