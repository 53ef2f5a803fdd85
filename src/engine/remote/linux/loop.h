/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the engines have in common that read a target's memory from outside on Linux: targets,
 * the timer, counts, forks, execs and exits.  They differ in how they take one sample of a thread
 * that runs: ptrace.c, vmread.c.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_LOOP_H
#define XR_ENGINE_REMOTE_LINUX_LOOP_H

#include "engine/engine.h"
#include "engine/remote/targets.h"
#include "engine/remote/linux/children.h"
#include "engine/remote/linux/thread.h"
#include "engine/remote/linux/ticks.h"

struct watchdog;

struct loop_target {
	struct remote_target base; /* first */
	pid_t pid;
	int pidfd; /* -1: none */
	struct remote_thread thread;
	struct ticks ticks;
	uint32_t watch_in; /* ticks until it is asked again whether its CPU time is of R's thread */
	uint64_t stack_top; /* of its first thread; 0: hidden */
	uint64_t random_at; /* 16 bytes that a new program never has the same, 0: not known */
	uint8_t random[16];
	bool stop_waiting; /* the next look stops the thread even if it waits */
	bool said_stopped, said_traced, said_clock, said_alarm;
};

#define LOOP_LATER (-1000) /* no -enum xr_error */

struct engine {
	struct remote_targets targets; /* first */
	struct engine_config config;
	const struct remote_kind *kind;
	const char *name;
	struct remote_children children;
	void *data;		   /* the kind's own */
	struct watchdog *watchdog; /* looks whether reads end */
	int timer;
	uint64_t ticked; /* when the last tick was taken, ns */
	long waits;	 /* so far, of this thread, */
	uint64_t waited; /* and since when it does not, ns */
	bool armed;
	bool priority_raised;
};

struct remote_kind {
	/* May it be used at all here?  Sets @e's watchdog, and may set its data. */
	int (*begin)(struct engine *e, struct errmsg *f);
	void (*end)(struct engine *e); /* both may be NULL */
	/* May @t be sampled?  0, or a negative errno with @f filled. */
	int (*check)(struct engine *e, struct loop_target *t, struct errmsg *f);
	/*
	 * The second look (remote_walk.h) at @t, whose R thread is running; if it is found asleep,
	 * *@state is set to that.  0 or more, or -enum xr_error; LOOP_LATER: the sample stays due.
	 */
	int (*look)(struct engine *e, struct loop_target *t, struct remote_state *state);
	bool native; /* it has native frames, and then: */
	/* Stop thread @tid of @t, which may wait, and tell its registers.  A negative errno: it
	 * does not stop, and may not have ended.  `go` lets it go. */
	int (*stop)(struct engine *e, const struct loop_target *t, pid_t tid,
		    struct remote_regs *regs);
	void (*go)(struct engine *e);
	/* Does a stop of @t come from a look that is over?  NULL: never. */
	bool (*late)(struct engine *e, const struct loop_target *t);
};

/*
 * remote_loop__open - for the engine of @kind, which is called @name.  It is used by the thread
 * that opened it.
 */
int remote_loop__open(struct engine **out, const struct engine_config *config,
		      const struct remote_kind *kind, const char *name, struct errmsg *f);

/* The rest of struct engine_ops, and its initializers. */
int remote_loop__add(struct engine *e, const struct xr_row *row, struct errmsg *f);
int remote_loop__fd(struct engine *e);
int remote_loop__set_freq(struct engine *e, uint32_t freq, struct errmsg *f);
void remote_loop__stop(struct engine *e);
void remote_loop__close(struct engine *e);

#define ENGINE_LOOP_OPS                                                                            \
	ENGINE_REMOTE_OPS, .add = remote_loop__add, .fd = remote_loop__fd,                         \
			   .set_freq = remote_loop__set_freq, .stop = remote_loop__stop,           \
			   .close = remote_loop__close

/*
 * remote_loop__target - a target of @row, not in the list yet.  A negative errno: @f says why, if
 * it is not NULL.
 */
int remote_loop__target(struct engine *e, const struct xr_row *row, struct loop_target **out,
			struct errmsg *f);

/*
 * remote_loop__native - where @e has its tables, if samples of @t are to have native frames and
 * what @t has mapped is known; else NULL.
 */
struct remote_native *remote_loop__native(struct engine *e, const struct loop_target *t);

/* From here to the other one memory of process @pid is read. */
void remote_loop__reads(const struct engine *e, pid_t pid);
void remote_loop__has_read(const struct engine *e);

/*
 * remote_loop__off_cpu - are samples of CPU time, and has @t had no CPU since its sample was due?
 * Then it stands where the scheduler left it, which is most often the end of a system call.
 */
bool remote_loop__off_cpu(const struct engine *e, struct loop_target *t);

/* remote_loop__share - ns of a period that there are for each target. */
uint64_t remote_loop__share(const struct engine *e);

/*
 * remote_loop__has_time - can a sample of this tick wait for @ns, so that a quarter of the period
 * is left for other things?
 */
bool remote_loop__has_time(const struct engine *e, uint64_t ns);

/* --- others.c: threads that are not R's, samples of their native frames alone --- */

/* remote_others__sample - thread @tid of @t, whose native code is known. */
void remote_others__sample(struct engine *e, struct loop_target *t, pid_t tid);

/* remote_others__each - each thread but that of R, as far as there is time. */
void remote_others__each(struct engine *e, struct loop_target *t);

/* --- vmread.c: what both kinds need --- */

/*
 * remote_vm__probe - may process_vm_readv(2) be called at all, and for whom?  For engine_ops.probe:
 * the answers go to @found, which may be NULL.  0, or a negative errno with @f filled.
 */
int remote_vm__probe(engine_found found, void *arg, struct errmsg *f);

/* remote_vm__readable - 0, or why the word at @at of process @pid cannot be read: negative. */
int remote_vm__readable(pid_t pid, uint64_t at);

#endif
