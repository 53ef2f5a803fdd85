/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session whose samples go to files, until it is over or a signal ends it. */
#ifndef XR_CMD_RECORD_RUN_H
#define XR_CMD_RECORD_RUN_H

#include "cmd/config.h"
#include "os/signals.h"

/*
 * record__run - profile as @c says until that is over, or @signals tell to end; both are borrowed.
 * Failures are printed on stderr.  Return the exit status, CMD_* or that of the command of @c.
 */
int record__run(const struct config *c, struct signals *signals);

#endif
