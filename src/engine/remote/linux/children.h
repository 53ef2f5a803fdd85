/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forks, execs and exits of the remote engines' targets, found by looking at /proc now and then.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_CHILDREN_H
#define XR_ENGINE_REMOTE_LINUX_CHILDREN_H

#include "engine/remote/linux/loop.h"
#include "base/map.h"

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
 * remote_children__inherit - @child was forked by @parent: what tells its program is that of its
 * parent.  Its own may be that of another program by now.
 */
void remote_children__inherit(struct loop_target *child, const struct loop_target *parent);

/* remote_children__check - what became of @t: XR_PROCESS_EXEC, XR_PROCESS_EXIT, or 0. */
enum xr_process_event remote_children__check(const struct loop_target *t);

/*
 * remote_children__stays - is @t known to run the program that it was found running?  Not while it
 * ends or execs: then this is unknown for a moment, and __check waits for the outcome.
 */
bool remote_children__stays(const struct loop_target *t);

/*
 * remote_children__child - a child of @t not seen before that runs the same program, if children
 * are to be followed: *@row gets its row.  To be called until it returns false.
 */
bool remote_children__child(struct remote_children *f, const struct loop_target *t,
			    struct xr_row *row);

/* remote_children__comm - the name of process @pid, "" if it is gone. */
void remote_children__comm(pid_t pid, char comm[16]);

#endif
