/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --lines of code without source references: there are none, and that is said, with the cure.
 */
#ifndef XR_SESSION_LINELESS_H
#define XR_SESSION_LINELESS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "session/notes.h"

#define LINELESS_SAMPLES                                                                           \
	100u		 /* without any line, before it is said: a second of CPU time at 99 Hz */
#define LINELESS_SAID 3u /* processes that have a line each */

/* Of one process.  Starts as { 0 }. */
struct lineless {
	uint32_t samples; /* that had R functions and no line, before the first that had one */
	bool over;	  /* a line was seen, or it was said */
};

/* lineless__sample - of a process for which lines are wanted.  @said: of all processes. */
void lineless__sample(struct lineless *l, const struct notes *notes, uint32_t *said, uint32_t pid,
		      const char *comm, const struct stack *stack);

/* lineless__end - its profile is complete. */
void lineless__end(struct lineless *l, const struct notes *notes, uint32_t *said, uint32_t pid,
		   const char *comm);

#endif
