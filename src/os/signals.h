/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The signals that end a session, as something to look at between polls.  One that is not looked at
 * for three seconds, because the program hangs writing to a pipe that nobody reads, ends it.
 */
#ifndef XR_OS_SIGNALS_H
#define XR_OS_SIGNALS_H

#include <stdbool.h>

#include "base/errmsg.h"

struct signals;

/*
 * signals__open - for SIGINT, SIGTERM, and SIGHUP unless nohup had it ignored.  Ignores SIGPIPE. On
 * Windows: Ctrl-C, Ctrl-Break, and the end of the console or the user's session.
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

/*
 * signals__let_second - the first signal was taken and the session is finishing.  One sent more
 * than 300 ms later ends the program at once; earlier ones are taken for the same, as programs such
 * as timeout(1) signal the process and then its group.
 */
void signals__let_second(struct signals *s);

/* signals__restore - in a forked child before exec: what this process was started with. */
void signals__restore(const struct signals *s);

void signals__close(struct signals *s); /* NULL is allowed */

#endif
