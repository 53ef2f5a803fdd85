/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other side of ask.c: what a worker does. */
#ifndef XR_TARGET_LINUX_ANSWER_H
#define XR_TARGET_LINUX_ANSWER_H

#include "os/linux/helper.h"
#include "target/ask.h"

/*
 * Take struct asks from the socket and send them back answered, until it is closed: at a raised
 * priority if that is allowed, for some ms of CPU time each.  Its argument is the struct
 * label_rules, NULL: none.
 */
extern const struct helper_job answer__job;

/* asker__open_served - asker__open() with workers that do something else: for tests. */
int asker__open_served(struct asker **out, const struct helper_job *job, const void *arg,
		       struct errmsg *f);

#endif
