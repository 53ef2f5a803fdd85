/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other side of ask.c: what a worker does. */
#ifndef XR_TARGET_LINUX_ANSWER_H
#define XR_TARGET_LINUX_ANSWER_H

#include "os/linux/worker.h"
#include "target/ask.h"

/*
 * answer__serve - a worker_serve (os/linux/worker.h): take struct asks from the socket @fd and send
 * them back answered, until it is closed.  At a raised priority where that is allowed, but for no
 * longer than some ms of CPU time for each.  @rules: struct label_rules, NULL: none.
 */
void answer__serve(int fd, const void *rules);

/* asker__open_served - asker__open() with workers that do something else: for tests. */
int asker__open_served(struct asker **out, worker_serve serve, const void *arg, struct errmsg *f);

#endif
