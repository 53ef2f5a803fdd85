/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds single calls of functions in the samples of a process, which come in order.
 *
 * Two samples see the same call if its environment, its context and all calls outside of it are the
 * same (abi.h, XR_CALL_OLD), unless R collected garbage in between and its environment is younger
 * than that.  A call began between the last sample without it and the first with it.  It ended
 * between the last with it and the next of R's thread.  In the middle of these it is taken to have
 * begun and ended.  A sample whose stack was cut and does not show it is neither with nor without.
 *
 * What remains: after more than one collection another call may have the same environment, if it
 * was called from the same place, no sample came in between, and R collected in it again.
 */
#ifndef XR_PROFILE_CALLS_H
#define XR_PROFILE_CALLS_H

#include "profile/sink.h"

#define CALLS_HTTP	"httpuv::rookCall" /* serves one HTTP request: httpuv 1.0 to 1.6 */
#define CALLS_OUTERMOST "^*"		   /* the name for every outermost call */
#define CALLS_TASK	"^task"		   /* and for what a worker of parallel runs: a do.call() */
#define CALLS_NAMES_MAX 16u		   /* names that are asked for */
#define CALLS_DEPTH_MAX 64u		   /* calls of one process that are followed at a time */

/*
 * call_name__ok - can functions be called so: `f`, `pkg::f`, `pkg:::f`, with `*` and `?` in either
 * part?
 */
bool call_name__ok(const char *name);

/* The functions whose calls are looked for; texts are borrowed. */
struct calls_wanted {
	const char *names[CALLS_NAMES_MAX];
	size_t n;
};

/* The calls of a run.  `wanted` and `period` are set by the caller, and the rest starts as 0. */
struct call_finder {
	const struct calls_wanted *wanted;
	uint64_t period; /* ns: a shorter wait is sampled by chance, and stands for so much */
	uint64_t last_id;
	uint64_t uncounted; /* decided without knowing how often R collected */
	uint64_t too_deep;  /* calls inside of CALLS_DEPTH_MAX others, which are left out */
};

/* What is known of one process.  Starts as NULL; freed by call_track__free. */
struct call_track;

/*
 * call_finder__sample - the next sample of R's thread, before its weight is changed: the innermost
 * call that it is in (its `outer` are the others), borrowed until the next sample; NULL: none.
 * Those that ended before it are given to @sink (sink__call).  *@err: -ENOMEM, or what the sink
 * returned.
 */
const struct profile_call *call_finder__sample(struct call_finder *calls, struct call_track **track,
					       const struct profile_process *p,
					       const struct sample *s, const struct sink *sink,
					       int *err);

/*
 * call_track__stop - no sample of the process follows: give its calls to @sink.  @ended: when it
 * ended, ns, CLOCK_MONOTONIC; 0: that is not known, and they are as they were met last.
 */
int call_track__stop(struct call_track *track, const struct profile_process *p, uint64_t ended,
		     const struct sink *sink);

/*
 * call_track__unread - a call that serves an HTTP request, was met twice, and was not returned
 * before: its number, and *@env, its environment.  0: there is none.
 */
uint64_t call_track__unread(struct call_track *track, uint64_t *env);

/*
 * call_track__unanswered - the request of call @id could not be read: call_track__unread returns it
 * again once the call was met in twice as many samples.
 */
void call_track__unanswered(struct call_track *track, uint64_t id);

/*
 * call_track__read - @request was read of call @id of the process by @now (os__now()).  It is
 * copied, and is the call's once a stack of later shows the call: then it ran while it was read.
 * -ENOMEM.
 */
int call_track__read(struct call_track *track, uint64_t id, const char *request, uint64_t now);

void call_track__free(struct call_track *track); /* NULL is allowed */

#endif
