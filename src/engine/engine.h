/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An engine takes samples: the session adds processes, and the engine delivers records (abi.h).
 * One file per engine, one row in engines.c.
 */
#ifndef XR_ENGINE_ENGINE_H
#define XR_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "engine/event_names.h"
#include "layout.h"

struct helper_pool;

enum engine_clock { ENGINE_CLOCK_DEFAULT, ENGINE_CLOCK_CPU, ENGINE_CLOCK_WALL };

/* What an engine is opened with.  Strings are borrowed for the life of the engine. */
struct engine_config {
	uint32_t freq; /* samples per second and CPU (bpf), or and process */
	bool all;      /* whole machine: processes are added while it runs */
	bool follow;   /* processes started by those added are added, too (--subprocesses) */
	bool stopped;  /* those stopped by a signal or a debugger are sampled as they stand */
	/*
	 * Of native frames all that there is (ptrace): no sample comes before the code of the
	 * process is known, a thread that waits is stopped if its frames need its registers, and
	 * R's thread has a sample where R executes no call, as another thread would
	 * (XR_F_OTHER_THREAD).  `threads`: so have the other threads, in the same tick.
	 */
	bool whole, threads;
	uint32_t capture;	/* XR_CAPTURE: any row will ask for these */
	uint32_t max_sample_us; /* what reading one stack may take; 0: XR_SAMPLE_US */
	bool rate_changes;	/* set_freq may be called */
	uint32_t max_processes; /* sampled at a time; 0: LIMIT_SAMPLED (base/limits.h) */
	size_t memory; /* bytes, of which names take a share (base/limits.h); 0: LIMIT_MEMORY */
	enum engine_clock clock;
	const struct event_list *events; /* sampled in place of ticks; NULL or none: ticks are */
	uint32_t period;		 /* sample each Nth of them; 0: by `freq` */
	const pid_t *pids; /* the processes that were named, whose files events name */
	size_t npids;
	const char *btf;	     /* --btf FILE: the kernel's types, NULL: the kernel's own */
	struct helper_pool *helpers; /* forks helpers (os/linux/helper.h); NULL: none */
	bool verbose;
	/* Called with one line, no newline, for the user's stderr (notes such as "no cycles
	 * event"). */
	void (*note)(void *arg, const char *line);
	void *note_arg;
};

struct engine;

/*
 * Called for each record, in order.  @record is valid during the call only, aligned to 8; its size
 * is not checked yet.
 */
typedef void (*engine_sink)(void *arg, const void *record, size_t size);

/* The answer to one question that an engine asks of the machine. */
struct engine_finding {
	const char *name; /* of what was asked for; static */
	bool ok;
	const char *meaning; /* what that means for the user; static */
	struct errmsg value; /* what was found, or why nothing was */
};

/* Called with each answer; @finding is valid during the call only. */
typedef void (*engine_found)(void *arg, const struct engine_finding *finding);

struct engine_ops {
	const char *name;
	const char *help;  /* one line for --help */
	const char *clock; /* "cpu" or "wall": what it samples unless asked otherwise */
	bool own_time;	   /* XR_SPENT_NS is CPU time, or waiting, of the profiler's own process */
	bool kernel;	   /* it has frames of the kernel */
	bool events;	   /* and samples at events (engine_config.events) */
	bool off_cpu; /* and time that threads are not on a CPU, apart from time that they are */
	bool by_code; /* it knows which instruction a sample's thread executes (row.gc_begin) */

	/*
	 * Ask the machine for what the engine needs and what it makes use of.  Each answer goes to
	 * @found; NULL: stop at the first thing that is needed and not there.  0: `open` will find
	 * what it needs; else a negative errno with @f filled: what `open` would say.
	 */
	int (*probe)(const struct engine_config *config, engine_found found, void *arg,
		     struct errmsg *f);
	/* Open: no process is sampled yet.  On failure nothing is left open and @f says why. */
	int (*open)(struct engine **out, const struct engine_config *config, struct errmsg *f);
	/*
	 * Sample the process of @row from now on.  The row is copied.  -ESRCH: it is gone; -EEXIST:
	 * it is sampled already, with another row (the kernel's copy of its parent's); -E2BIG: too
	 * many.
	 */
	int (*add)(struct engine *e, const struct xr_row *row, struct errmsg *f);
	/*
	 * Change the row of a process already added, or that of its forked child (say: more became
	 * known of it).  -ESRCH: it is not there any more.
	 */
	int (*update)(struct engine *e, const struct xr_row *row);
	/* Stop sampling @pid, whose row is @serial; records already taken are still delivered. */
	void (*remove)(struct engine *e, uint32_t pid, uint32_t serial);
	/*
	 * Wait up to @timeout_ms and deliver what has come.  0: deliver and return at once.
	 * Where more comes than can be delivered in some ten milliseconds, the rest is left for
	 * the next call.
	 * Returns the number of records or a negative errno; -EINTR is not an error to report.
	 */
	int (*poll)(struct engine *e, int timeout_ms, engine_sink sink, void *arg);
	/* Did the last poll leave records for the next one?  NULL: none does. */
	bool (*behind)(struct engine *e);
	/*
	 * Deliver, within @limit_ms, what is known only later: waits that are not over.  As poll.
	 * NULL: there is no such thing.
	 */
	int (*flush)(struct engine *e, int limit_ms, engine_sink sink, void *arg);
	/*
	 * Does it still have row @serial of @pid?  NULL: rows go only by remove.
	 */
	bool (*holds)(struct engine *e, uint32_t pid, uint32_t serial);
	/*
	 * Slab @slab of what the sampler knows of native code (space.h), made if need be: *words
	 * are XR_SLAB_WORDS words, at first 0, which the engine frees when it is closed.  -E2BIG:
	 * there are no more; -ENOMEM, -EPERM, ...: it could not be made.  NULL: no native frames.
	 */
	int (*slab)(struct engine *e, uint32_t slab, uint64_t **words);
	/* A descriptor that is readable when poll has something to do; NULL: there is none. */
	int (*fd)(struct engine *e);
	/* Take no more samples; what was taken is still delivered by poll. */
	void (*stop)(struct engine *e);
	/* The sampler's own counts, enum xr_counter; monotonic. */
	int (*counters)(struct engine *e, uint64_t counts[XR_COUNTERS]);
	/*
	 * Samples a second that it takes: fewer than it was opened with where the system allows no
	 * more.  NULL: as many as it was opened with, or told by set_freq.
	 */
	uint32_t (*freq)(struct engine *e);
	/*
	 * From now on @freq samples a second, 1 or more; as `freq` says, the system may allow no
	 * more than fewer.  What was taken before is delivered as before.
	 */
	int (*set_freq)(struct engine *e, uint32_t freq, struct errmsg *f);
	/* What makes it tick: "cycles", "cpu-clock", "timer"; or the names of the events. */
	const char *(*event)(struct engine *e);
	void (*close)(struct engine *e); /* NULL is allowed */
};

/*
 * engines__all - the engines of this platform, ended by NULL, in the order in which `--engine auto`
 * tries them.  engines__find - the one of that name, or NULL.
 */
const struct engine_ops *const *engines__all(void);
const struct engine_ops *engines__find(const char *name);

/* engine__note - for engines: a line for the user, by the `note` of @config. */
void engine__note(const struct engine_config *config, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The rows of engines.c; each is defined in the file of its name (engine_win32: suspend.c). */
extern const struct engine_ops engine_bpf, engine_ptrace, engine_vmread, engine_win32;

#endif
