/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `-- COMMAND`: a program that the session itself starts.
 */
#ifndef XR_COMMAND_H
#define XR_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "fault.h"
#include "signals.h"

struct command {
	pid_t pid;	  /* 0: not started */
	const char *name; /* borrowed from argv */
	int gate;	  /* closed or written to when it may go */
	int report;	  /* its end of exec's error */
	char **argv;	  /* Windows: what is to be started, */
	bool own_stdout;
	void *process; /* and a handle of it */
	bool ended;
	int status; /* as waitpid() gives it (on Windows, its exit code), when ended */
};

/*
 * command__start - fork; the child waits at the gate, still this program (on Windows there is no
 * child yet).  With @own_stdout false its standard output will be our
 * stderr, so that it does not mix with a profile on stdout.
 */
int command__start(struct command *c, char **argv, bool own_stdout, const struct signals *signals,
		   struct fault *f);

/* command__go - open the gate: the child becomes the command.  Fails when exec does. */
int command__go(struct command *c, struct fault *f);

/* command__ended - has it?  Does not wait.  @status is then set. */
bool command__ended(struct command *c);

/* command__wait - the same, but waits up to @ms for it. */
bool command__wait(struct command *c, int ms);

/* command__signal - tell it that the session was ended by @signal, sent to us alone. */
void command__signal(const struct command *c, int signal);

/*
 * command__result - how it ended, when that was not with success: "exited with status 3".  Returns
 * whether it has and did.
 */
bool command__result(const struct command *c, char *text, size_t size);

/* command__close - a child still at the gate ends; a command that runs is left alone. */
void command__close(struct command *c);

#endif
