/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The service from a start, or a SIGHUP, to the next: a session whose profile is cut into intervals
 * (serve/linux/intervals.h) that another process writes and sends (serve/linux/front.h).
 */
#ifndef XR_CMD_LINUX_SERVE_RUN_H
#define XR_CMD_LINUX_SERVE_RUN_H

#include <stdbool.h>

#include "cmd/linux/serve_options.h"
#include "cmd/linux/serve_status.h"
#include "os/signals.h"

/* What stays when the configuration is read again. */
struct service {
	int argc;
	char **argv;
	struct signals *signals;
	struct serve_options *options; /* owned */
	struct serve_options *before;  /* than the last SIGHUP; NULL: there was none; owned */
	struct serve_counts counts;
	/* that these did not fit */
	bool said_stackless, said_uncalled, said_unlabelled;
};

/*
 * How it came that nothing is sampled any more: it could not begin to; it is to end, or has failed;
 * it is to go on with another configuration.
 */
enum served { SERVED_NOTHING, SERVED_ALL, SERVED_RELOAD };

/*
 * serve__once - from one configuration to the next, or to the end.  @how: why it ended.  Failures
 * are logged.  The exit status, if that is the end of the service.
 */
int serve__once(struct service *service, enum served *how);

#endif
