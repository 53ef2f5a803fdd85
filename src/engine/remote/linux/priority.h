/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_ENGINE_REMOTE_LINUX_PRIORITY_H
#define XR_ENGINE_REMOTE_LINUX_PRIORITY_H

#include <stdbool.h>

/*
 * remote_priority__raise - be on time: a tick that comes late is a sample less, and who holds up a
 * thread should not be held up itself.  The lowest real-time priority, else the highest of the
 * others.  What this process starts does not inherit it (SCHED_RESET_ON_FORK), and who asked for
 * another priority keeps it.  Returns whether it was raised; where it is not allowed, so be it.
 */
bool remote_priority__raise(void);

/* remote_priority__lower - back to what it was. */
void remote_priority__lower(void);

#endif
