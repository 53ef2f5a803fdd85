/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes apart for work that may never end or may end its process: what waits for a file system
 * that does not respond, or parses what a stranger wrote.  A worker is forked by a process that was
 * itself forked early and does nothing else, so that workers are small whatever the program has
 * become, and nothing of the program's is in them.
 *
 * Workers and the one that forks them have no descriptor but their socket (0 to 2 are /dev/null),
 * belong to no terminal, ignore what ends a session, and end with the program however it ends.
 */
#ifndef XR_OS_LINUX_WORKER_H
#define XR_OS_LINUX_WORKER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

/*
 * What a worker does: take what comes on the socket @fd until nothing comes any more.  @arg is as
 * it was when the nursery was opened.
 */
typedef void (*worker_serve)(int fd, const void *arg);

/* The process that forks workers, as the program sees it.  Starts as NURSERY_NONE. */
struct nursery {
	int fd;
	int pid;
};

#define NURSERY_NONE ((struct nursery){.fd = -1})

/* nursery__open - fork it.  To be called early, and before there are threads. */
int nursery__open(struct nursery *n, worker_serve serve, const void *arg, struct errmsg *f);

/* The first thing a worker says: who it is. */
struct worker_hello {
	int32_t pid;
};

/*
 * nursery__worker - have a worker forked, to be known as @id: a number that is not used again.
 * Returns the caller's end of a SOCK_SEQPACKET pair at once, before the worker is there; when it
 * ends, or could not be forked, that end is hung up.  A struct worker_hello comes first.  A
 * negative errno.
 */
int nursery__worker(struct nursery *n, uint32_t id);

/*
 * nursery__kill - end worker @id.  It may wait in the kernel for what never comes, and then ends
 * only after that; its socket tells.
 */
void nursery__kill(struct nursery *n, uint32_t id);

/* nursery__close - all workers are killed, but not waited for. */
void nursery__close(struct nursery *n);

/*
 * worker__become - in a child that was forked by @parent and has one thing to do: it ends with
 * @parent, signals that are for all of a terminal or service do not end it, and nothing but @fd
 * stays open.  Returns the descriptor that this is now.
 */
int worker__become(int fd, pid_t parent);

/*
 * worker__outlive - the same for a child that ends by what comes on @fd: it has something to finish
 * when its parent ends.
 */
int worker__outlive(int fd);

#endif
