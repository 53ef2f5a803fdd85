/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the engines have in common that read a target's memory from outside on Linux: targets,
 * the timer, counts, forks, execs and exits.  They differ in how they take one sample of a thread
 * that runs: engine_ptrace.c, engine_vmread.c.
 */
#ifndef XR_ENGINE_REMOTE_H
#define XR_ENGINE_REMOTE_H

#include "engine.h"
#include "remote_report.h"
#include "remote_thread.h"
#include "remote_walk.h"

struct remote_target {
	struct remote_target *next;
	struct xr_row row;
	pid_t pid;
	int pidfd; /* -1: none */
	struct remote_thread thread;
	struct remote_walk *walk;
	uint64_t cpu_time;  /* ns, at the last tick; --clock cpu */
	int64_t cpu_owed;   /* ns of CPU time that no sample stands for yet */
	uint32_t prove_in;  /* samples until R's thread is looked for again */
	uint64_t random_at; /* 16 bytes that a new program never has the same, 0: not known */
	uint8_t random[16];
	bool pending; /* ptrace: was told to stop, and has not yet */
	bool dropped; /* no target any more, kept until it is not pending */
	bool said_stopped, said_traced;
};

struct remote_kind {
	/* May it be used at all here? */
	int (*usable)(struct fault *f);
	/* May @t be sampled?  0, or a negative errno with @f filled. */
	int (*check)(struct remote_target *t, struct fault *f);
	/*
	 * The second look (remote_walk.h) at @t, whose R thread is running.  0 or more, or -enum
	 * xr_error.
	 */
	int (*look)(struct engine *e, struct remote_target *t);
	/* @t->pending is set: see to it that it is not held up.  NULL: it never is. */
	void (*settle)(struct remote_target *t);
};

/* engine_remote__open - for the engine of @kind, which is called @name. */
int engine_remote__open(struct engine **out, const struct engine_config *config,
			const struct remote_kind *kind, const char *name, struct fault *f);

/* The rest of struct engine_ops, and its initializers. */
int engine_remote__add(struct engine *e, const struct xr_row *row, struct fault *f);
int engine_remote__update(struct engine *e, const struct xr_row *row);
void engine_remote__remove(struct engine *e, uint32_t pid, uint32_t serial);
bool engine_remote__holds(struct engine *e, uint32_t pid, uint32_t serial);
int engine_remote__poll(struct engine *e, int timeout_ms, engine_sink sink, void *arg);
int engine_remote__fd(struct engine *e);
void engine_remote__stop(struct engine *e);
int engine_remote__counters(struct engine *e, uint64_t counts[XR_COUNTERS]);
const char *engine_remote__event(struct engine *e);
void engine_remote__close(struct engine *e);

#define ENGINE_REMOTE_OPS                                                                          \
	.clock = "wall", .add = engine_remote__add, .update = engine_remote__update,               \
	.remove = engine_remote__remove, .poll = engine_remote__poll,                              \
	.holds = engine_remote__holds, .fd = engine_remote__fd, .stop = engine_remote__stop,       \
	.counters = engine_remote__counters, .event = engine_remote__event,                        \
	.close = engine_remote__close

/* engine_remote__report - where @e reports to; for a kind's own notes. */
struct remote_report *engine_remote__report(struct engine *e);

#endif
