/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `-- COMMAND`: a program that the session itself starts.
 */
#ifndef XR_OS_WORKLOAD_H
#define XR_OS_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "os/signals.h"

/* As whom a command is run that is not run as this process. */
struct workload_user {
	uint32_t uid, gid;
	char name[64], home[256];
};

struct workload {
	pid_t pid;			  /* 0: not started */
	const char *name;		  /* borrowed from argv */
	int gate;			  /* closed or written to when it may go */
	int report;			  /* its end of exec's error */
	const struct workload_user *user; /* NULL: as this process */
	char **argv;			  /* Windows: what is to be started, */
	bool own_stdout;
	void *process; /* and a handle of it */
	bool ended;
	int status; /* as waitpid() gives it (on Windows, its exit code), when ended */
};

/*
 * workload__caller - root by sudo: who called it, by SUDO_UID and SUDO_GID.  Returns whether that
 * is so; never on Windows.
 */
bool workload__caller(struct workload_user *user);

/*
 * workload__start - fork; the child waits at the gate, still this program (on Windows there is no
 * child yet).  With @own_stdout false its standard output will be our
 * stderr, so that it does not mix with a profile on stdout.  @user: as whom the command runs, with
 * the groups, HOME, USER and LOGNAME of that user; NULL: as this process.  Borrowed.  Fails also if
 * there is no such command, so that nothing is overwritten for it; not on Windows.
 */
int workload__start(struct workload *c, char **argv, bool own_stdout,
		    const struct workload_user *user, const struct signals *signals,
		    struct errmsg *f);

/* workload__go - open the gate: the child becomes the command.  Fails when exec does. */
int workload__go(struct workload *c, struct errmsg *f);

/* workload__ended - has it?  Does not wait.  @status is then set. */
bool workload__ended(struct workload *c);

/* workload__wait - the same, but waits up to @ms for it. */
bool workload__wait(struct workload *c, int ms);

/* workload__signal - tell it that the session was ended by @signal, sent to us alone. */
void workload__signal(const struct workload *c, int signal);

/*
 * workload__result - how it ended, when that was not with success: "exited with status 3".  Returns
 * whether it has and did.
 */
bool workload__result(const struct workload *c, char *text, size_t size);

/*
 * workload__status - of one that has ended, as a shell has it: what it exited with, or 128 and the
 * number of the signal that ended it.
 */
int workload__status(const struct workload *c);

/* workload__close - a child still at the gate ends; a command that runs is left alone. */
void workload__close(struct workload *c);

#endif
