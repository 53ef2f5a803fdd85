/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The signals that end a session, as something to look at between polls.  One that comes 300 ms
 * after the first, or later, ends the program at once, whatever it is doing then; what comes
 * earlier is taken for the same, as programs such as timeout(1) signal the process and then its
 * group.
 */
#ifndef XR_OS_SIGNALS_H
#define XR_OS_SIGNALS_H

#include <stdbool.h>

#include "base/errmsg.h"

struct signals;

/*
 * signals__open - for SIGINT, SIGTERM, and SIGHUP unless nohup had it ignored.  Ignores SIGPIPE
 * and SIGXFSZ: who writes is told by the write.  On Windows: Ctrl-C, Ctrl-Break, and the end of the
 * console or the user's session.
 */
int signals__open(struct signals **out, struct errmsg *f);

/* What came: 0 nothing; else the signal, and whether a process sent it rather than the terminal. */
struct signals_event {
	int signal;
	bool sent;
};

struct signals_event signals__take(struct signals *s);

/* signals__name - what people call it. */
const char *signals__name(int signal);

/* signals__restore - in a forked child before exec: what this process was started with. */
void signals__restore(const struct signals *s);

void signals__close(struct signals *s); /* NULL is allowed */

#endif
