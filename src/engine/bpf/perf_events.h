/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf events that make the sampler tick: CPU cycles where the machine can count them, the
 * CPU clock elsewhere.  Either on all threads of a process, inherited by threads and children that
 * start later, so that no CPU is interrupted that does not run a target; or on all CPUs, which
 * costs nothing when a thread is switched.
 */
#ifndef XR_ENGINE_BPF_PERF_EVENTS_H
#define XR_ENGINE_BPF_PERF_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "engine/event_names.h"

struct perf_events;

/*
 * perf_events__new - choose the event and try it on the caller itself.
 * @freq: samples per second, fewer if the kernel allows no more.  @prog_fd: the BPF program to run
 * at each, borrowed.
 * @why: set to a static text if cycles are not available, else to NULL.
 */
int perf_events__new(struct perf_events **out, uint32_t freq, int prog_fd, const char **why,
		     struct errmsg *f);

/*
 * perf_events__bursts - does the kernel count @event itself, and not by a clock?  Its own rate of
 * such is of no use (bpf/event.h): the program is run at each, and chooses.
 */
bool perf_events__bursts(const struct event_name *event);

/*
 * perf_events__of - the same, for @event, of kind EVENT_PERF: one sample of @period of them, or, if
 * that is 0, @freq samples a second, or each, if it comes in bursts.  -ENOENT: this machine has no
 * such event.
 */
int perf_events__of(struct perf_events **out, const struct event_name *event, uint32_t freq,
		    uint32_t period, int prog_fd, struct errmsg *f);

/*
 * perf_events__watch - the program runs when a thread has written to the @len bytes at @at, 1, 2, 4
 * or 8 and aligned, of its memory: for perf_events__add_process() of one process.  Nothing is tried
 * yet.  -ENOMEM.
 */
int perf_events__watch(struct perf_events **out, uint64_t at, uint32_t len, int prog_fd,
		       struct errmsg *f);

/*
 * perf_events__try_watch - would the thread @tid (0: the caller) get such a watchpoint?  0, or a
 * negative errno: -ENOSPC: those that the CPU has are in use.
 */
int perf_events__try_watch(pid_t tid, uint64_t at, uint32_t len);

/*
 * perf_events__prove_watch - does a watchpoint of the caller see a write?  0, or a negative errno:
 * -ENODEV: there is one, and it does not (virtual machines that do not pass debug exceptions on).
 */
int perf_events__prove_watch(void);

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

/* perf_events__name - "cycles" or "cpu-clock"; not of perf_events__of() */
const char *perf_events__name(const struct perf_events *p);

/*
 * perf_events__threads_fit - are there enough descriptors for @events events on each of @threads
 * threads, and not too many threads to open them at once?
 */
bool perf_events__threads_fit(size_t threads, size_t events);

/*
 * perf_events__add_process - open an event on each thread of @pid, with what it starts later.
 * -ESRCH: the process is gone; -EMFILE: its threads do not fit.  On failure none of them has one.
 */
int perf_events__add_process(struct perf_events *p, pid_t pid, struct errmsg *f);

/*
 * perf_events__renew_cpus - an event on each CPU that is online and has none; those of CPUs that
 * went offline are closed.  Call again when CPUs may have come back.
 */
int perf_events__renew_cpus(struct perf_events *p, struct errmsg *f);

/*
 * perf_events__switches - how often the threads with an event were put on a CPU since the last
 * call, in all (/proc/TID/schedstat; kernel/sched/stats.h).  Those that such threads started are
 * not looked at.
 */
uint64_t perf_events__switches(struct perf_events *p);

/* perf_events__count - how many events are open */
size_t perf_events__count(const struct perf_events *p);

/*
 * perf_events__widen - from now on an event on each CPU, and none on threads.  Ticks are as many
 * for the time that a thread is on a CPU, but by chance: of a thread's own event they come after
 * each period of it.  On failure, with @f filled, all is as it was.
 */
int perf_events__widen(struct perf_events *p, struct errmsg *f);

void perf_events__stop(struct perf_events *p); /* no more ticks */
void perf_events__free(struct perf_events *p); /* NULL is allowed */

#endif
