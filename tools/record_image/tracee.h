/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* R's thread, stopped by ptrace. */
#ifndef XR_RECORD_TRACEE_H
#define XR_RECORD_TRACEE_H

#include <stdbool.h>
#include <sys/types.h>

#define TRACEE_SIGNALS_MAX 32

struct tracee {
	pid_t pid;
	bool attached;
	int signals[TRACEE_SIGNALS_MAX], nsignals; /* that came for R meanwhile */
};

/* tracee__stop - stop it, until tracee__let_go().  0 or a negative errno; it may be attached even
 * then. */
int tracee__stop(struct tracee *t);

/* tracee__let_go - let it run, and give it the signals that came; nothing if it is not stopped. */
void tracee__let_go(struct tracee *t);

/*
 * tracee__check - is there a handler for SIGPROF, without which it would end the process, and would
 * it be run now?  0; -EAGAIN: not now; -ENODATA: there is none.
 */
int tracee__check(const struct tracee *t);

/*
 * tracee__handler - run the handler of SIGPROF once, from its first instruction to its return; the
 * thread is stopped before and after.  0 or a negative errno; -EPROTO: it did not go as it should.
 */
int tracee__handler(struct tracee *t);

#endif
