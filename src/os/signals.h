/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The signals that end a session, as something to check between polls.  A signal that comes 300 ms
 * after the first, or later, ends the program at once.  An earlier one is taken for the same, as
 * programs such as timeout(1) signal the process and then its group.  SIGHUP and SIGUSR1 are
 * requests, for callers that ask for them, and end nothing.
 */
#ifndef XR_OS_SIGNALS_H
#define XR_OS_SIGNALS_H

#include <stdbool.h>

#include "base/errmsg.h"

struct signals;

/*
 * signals__open - for SIGINT, SIGTERM, and SIGHUP unless nohup had it ignored.  Ignores SIGPIPE
 * and SIGXFSZ: the write fails instead.  On Windows: Ctrl-C, Ctrl-Break, and the end of the
 * console or the user's session.
 */
int signals__open(struct signals **out, struct errmsg *f);

/* What a signal asks for that does not end anything. */
enum signals_request {
	SIGNALS_END,	 /* none: it ends the session */
	SIGNALS_RELOAD,	 /* SIGHUP: open files and read the configuration again */
	SIGNALS_REPORT,	 /* SIGUSR1: report what there is so far */
	SIGNALS_COMMAND, /* an interrupt from the keyboard: a command in the foreground has it, too
			  */
};

/*
 * signals__reload - from now on SIGHUP asks for SIGNALS_RELOAD where it does not tell that the
 * terminal is gone: a process sent it, and if this one was started at a terminal, that is still
 * there and the sender is not the shell that leads its session.  Otherwise it ends the session as
 * before.  What nohup had ignored stays ignored.  0 or a negative errno.
 */
int signals__reload(struct signals *s);

/* signals__report - from now on SIGUSR1 asks for SIGNALS_REPORT.  0 or a negative errno. */
int signals__report(struct signals *s);

/*
 * signals__command - from now on SIGINT is a SIGNALS_COMMAND if the terminal sent it, and SIGQUIT
 * of the terminal is ignored.  0 or a negative errno.  On Windows both end the session as before.
 */
int signals__command(struct signals *s);

/* What came: 0 nothing; else the signal, and whether a process sent it rather than the terminal. */
struct signals_event {
	int signal;
	bool sent;
	enum signals_request request;
};

struct signals_event signals__take(struct signals *s);

/* signals__name - what people call it. */
const char *signals__name(int signal);

/* signals__restore - in a forked child before exec: what this process was started with. */
void signals__restore(const struct signals *s);

void signals__close(struct signals *s); /* NULL is allowed */

#endif
