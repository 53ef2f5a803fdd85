/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What R itself says of its stack: a file that its profiler writes, or that an R function wrote. */
#ifndef XR_RECORD_ORACLE_H
#define XR_RECORD_ORACLE_H

#include <stdbool.h>

#include "replay/recorded.h"
#include "tracee.h"

struct oracle {
	const char *path;		       /* R's file */
	bool profiler;			       /* it is of Rprof(); else of sys.calls() */
	const char *files[RECORDED_FILES_MAX]; /* source files by R's number; NULL: none */
	char *paths[RECORDED_FILES_MAX];       /* the same, to be freed */
	char *text;			       /* what was read last, */
	const char *stack;		       /* the stack in it, */
	char *header;			       /* and the first line of the file */
	long seen;			       /* bytes of it that were read */
};

/*
 * oracle__ask - R's stack of this moment, in o->stack until the next time.  @t is stopped. -EAGAIN:
 * R does not take the signal now; -ENODATA: R wrote no stack; other errors are of the thread.
 */
int oracle__ask(struct oracle *o, struct tracee *t);

/* oracle__free - what it holds, not @o itself. */
void oracle__free(struct oracle *o);

#endif
