/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `record`: finds the targets, has the engine sample them, and writes what comes, until it is over.
 */
#ifndef XR_SESSION_SESSION_H
#define XR_SESSION_SESSION_H

#include "os/workload.h"
#include "profile/decode.h"
#include "engine/engine.h"
#include "target/descendants.h"
#include "profile/sink.h"
#include "session/config.h"
#include "session/processes.h"
#include "os/signals.h"
#include "session/stats.h"

struct proc_events;

/* A file with R in it whose hidden variables were proven; verify_hidden.c. */
struct proof;

struct session {
	const struct config *config;
	struct signals *signals;
	const struct engine_ops *ops;
	struct engine *engine;
	struct decoder *decoder;
	struct sink sink;
	bool sinking; /* it was begun */
	struct processes processes;
	struct workload command;
	struct stats stats;
	struct errmsg fault; /* why it failed */
	uint64_t started;    /* ns, CLOCK_MONOTONIC: the session was begun */
	uint64_t began;	     /* ns, CLOCK_MONOTONIC: the first process was added; 0: none yet */
	uint32_t live;	     /* processes waiting or sampled */
	struct proc_events *watch; /* --all, --subprocesses; NULL: none */
	struct descendants family; /* --subprocesses: the named ones and their descendants */
	uint64_t watched;	   /* when the watch was last read */
	bool rescan;		   /* there is no watch: go through /proc instead */
	uint64_t rescanned;	   /* when that was done last */
	uint64_t seen_at;	   /* when a process was last come upon */
	uint64_t lonely; /* since when only others than R are left of the family; 0: not so */
	uint64_t swept;	 /* when the sampler was last asked whether it lost events */
	uint64_t events_lost, rows_full; /* its counts then */
	uint32_t crowd;		  /* `live` when there was no room for a process; 0: there was */
	uint64_t unprofiled;	  /* processes found that there was no room for */
	struct proof *proofs;	  /* a list */
	uint64_t checking_ns;	  /* spent waiting for proofs */
	bool lines_said, gc_said; /* that something of them cannot be had */
	bool command_ends;	  /* it was told to, or seen to */
	int err;		  /* of memory or of the output: the session is over */
};

/*
 * session__run - all of it: samples go to @sink, whose finish is called in any case once its begin
 * was.  Returns the exit status of the program.
 */
int session__run(const struct config *config, struct sink sink, struct signals *signals);

/* session__now - ns, CLOCK_MONOTONIC. */
uint64_t session__now(void);

/* session__note - a line on stderr, but not with --quiet; session__debug - only with --verbose. */
void session__note(const struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session__debug(const struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- lifecycle.c: what becomes of processes --- */

/*
 * session__add_target - look for R in @pid and sample it (once the engine is open, by
 * session__attach).  When R is not there yet (or not
 * initialised) and @wait_ms is not 0, it is looked for again by session__settle: for @wait_ms, or
 * without end (UINT32_MAX).  @asked: the user named it.  Errors are those of target__find and of
 * the engine's add; s->fault says why.
 */
int session__add_target(struct session *s, pid_t pid, bool asked, uint32_t wait_ms);

/* session__attach - the engine is open now: give it what was found. */
int session__attach(struct session *s);

/* session__settle - act on what happened since the last poll; look again for what is waited for. */
void session__settle(struct session *s);

/* session__retry_in - ms until R must be looked for again in some process, at most @max. */
int session__retry_in(const struct session *s, int max);

/* What the decoder calls; @arg is the session. */
void session__on_sample(void *arg, const struct sample *sample);
void session__on_process(void *arg, const struct xr_process *record);

/* --- verify_hidden.c: are R's hidden variables where they were taken to be? --- */

/*
 * session__lines - @p's R was found: find out, for a short while, whether its innermost location
 * and its GC flag can be told, and take what cannot be trusted yet from its row.
 */
void session__lines(struct session *s, struct process *p);

/* session__lines_again - look again, if something is open, and tell the engine what was found. */
void session__lines_again(struct session *s, struct process *p, uint64_t now);

void session__lines_free(struct session *s);

/* --- linux/discovery.c, win32/discovery.c: processes that nobody named --- */

/* session__watch - from now on they are found, those that are there and those to come. */
int session__watch(struct session *s);

/* session__children - R forked children of @pid before its row was there: sample them, too. */
void session__children(struct session *s, pid_t pid);

/*
 * session__wait - wait for the engine or for new processes, and take the latter in.  Returns how
 * long the engine's poll is to wait: not at all, when that was done here.
 */
int session__wait(struct session *s, int timeout_ms);

/* session__may_come - nothing is sampled now: is there a process to come, for which to wait? */
bool session__may_come(struct session *s);

void session__unwatch(struct session *s);

#endif
