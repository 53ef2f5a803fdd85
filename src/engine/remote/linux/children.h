/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forks, execs and exits of the remote engines' targets, found by looking at /proc now and then.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_CHILDREN_H
#define XR_ENGINE_REMOTE_LINUX_CHILDREN_H

#include "engine/engine.h"
#include "base/map.h"

struct loop_target;
struct remote_target;

/* Starts as { 0 }, freed by remote_children__free. */
struct remote_children {
	struct map seen; /* (pid, start time): children looked at, whatever they were */
	uint32_t serial; /* of the last row given to a child, without bit 31 */
	/* the children of one target that are still to be looked at */
	char *text, *at;
	size_t room;
	pid_t of;
};

void remote_children__free(struct remote_children *f);

/* remote_children__mark - remember what tells @t's program from one that it may exec later. */
void remote_children__mark(struct loop_target *t);

/*
 * remote_children__stays - is @t known to run the program that it was found running?  Not while it
 * ends or execs: then this is unknown for a moment, and __check waits for the outcome.
 */
bool remote_children__stays(const struct loop_target *t);

/* remote_children__check, remote_children__follow - of struct remote_targets_ops. */
enum xr_process_event remote_children__check(struct engine *e, struct remote_target *base,
					     char comm[16]);
void remote_children__follow(struct engine *e, struct remote_target *base);

#endif
