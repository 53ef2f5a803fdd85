/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that the user did not name: those that are there and those to come (--all), those that
 * descend from the ones profiled (--subprocesses), and those that a workload starts.  What is found
 * goes into a queue; whether it is known already, passes the filters and has R in it is for others
 * to find out.
 */
#ifndef XR_SESSION_DISCOVERY_H
#define XR_SESSION_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "session/config.h"
#include "session/waiting.h"
#include "target/ask.h"

struct discovery;

/*
 * discovery__open - begin, and queue what is there already.  Without --all and
 * --subprocesses nothing is done.  @config, @found and @asker are borrowed; answers to questions
 * that are ASK_SEEMS and ASK_PROGRAM are for discovery__answered.  All errors of this and the other
 * functions: @f says what failed.
 */
int discovery__open(struct discovery **out, const struct session_config *config, struct pids *found,
		    struct asker *asker, struct errmsg *f);

/* discovery__answered - act on the answer to a question of discovery. */
void discovery__answered(struct discovery *d, const struct ask *answer);

/* discovery__add_root - from now on what descends from @pid is found, too. */
int discovery__add_root(struct discovery *d, pid_t pid, struct errmsg *f);

/* discovery__tells - are new processes told of when R appears in them (rather than looked for)? */
bool discovery__tells(const struct discovery *d);

/* discovery__scan - look at all processes now. */
int discovery__scan(struct discovery *d, struct errmsg *f);

/*
 * discovery__wait - wait up to @timeout_ms until there is something to find, or the asker or
 * @engine_fd (-1: there is none) is readable, and queue what was found.  Returns how long the
 * engine's own poll may wait then, ms: where the waiting was done here, 0; or a negative errno.
 * @engine_waits: the engine can only be waited for by its own poll.
 */
int discovery__wait(struct discovery *d, int engine_fd, bool engine_waits, int timeout_ms,
		    struct errmsg *f);

/*
 * discovery__rest - what discovery__wait found was acted on.  Between the two this thread may run
 * at a raised priority: a program may live for less time than a busy machine lets its processes
 * wait for a CPU.
 */
void discovery__rest(struct discovery *d);

/* discovery__children - queue the children of @pid, which R forked before its row was there. */
int discovery__children(struct discovery *d, pid_t pid, struct errmsg *f);

/*
 * discovery__may_come - nothing is profiled at the moment: is there a process to come, for which to
 * wait?  @added_at: when one was last looked at; ns, CLOCK_MONOTONIC.
 */
bool discovery__may_come(struct discovery *d, uint64_t added_at);

/* discovery__profiled - one is profiled: others are looked for less often. */
void discovery__profiled(struct discovery *d);

void discovery__close(struct discovery *d); /* NULL is allowed */

#endif
