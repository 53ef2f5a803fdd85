/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a process to samples of it: what is asked about it, what is made of the answers, and when
 * the engine is given its row.  Part of a lifecycle, which decides when.
 */
#ifndef XR_SESSION_ADMISSION_H
#define XR_SESSION_ADMISSION_H

#include "session/lifecycle.h"

/* Times are ns, CLOCK_MONOTONIC.  Negative errno: `reason` of @l says why. */

/*
 * admission__ask - have R looked for in @p (ASK_FIND), or its layout checked (ASK_LAYOUT).  The
 * answer goes to admission__answered.  -ENOMEM.
 */
int admission__ask(struct lifecycle *l, struct process *p, enum ask_kind kind, uint64_t now);

/* admission__look - have the hidden variables of @p looked at, if it is time to.  -ENOMEM. */
int admission__look(struct lifecycle *l, struct process *p, uint64_t now);

/*
 * admission__undescribed - is it time to ask for the description of @p (ASK_DESCRIBE)?
 * admission__describe - do so, while nothing else of it is asked.  -ENOMEM.
 */
bool admission__undescribed(const struct lifecycle *l, const struct process *p);
int admission__describe(struct lifecycle *l, struct process *p, uint64_t now);

/* admission__presume - describe @p, which did not answer, without looking at it. */
void admission__presume(const struct lifecycle *l, struct process *p);

/*
 * admission__go_on - @p is PROCESS_FOUND: have it sampled, if it need not wait.  Does nothing while
 * the engine is not open.  When the engine will not have it, @p may be gone afterwards.
 */
void admission__go_on(struct lifecycle *l, struct process *p, uint64_t now);

/* admission__answered - act on the answer to a question of any kind that is asked here. */
void admission__answered(struct lifecycle *l, const struct ask *answer);

/*
 * admission__labels - have the option for labels of @p looked for, if that is wanted and due: about
 * once a second while it runs, less often if there are many processes, or if many looks did not
 * find it.
 */
int admission__labels(struct lifecycle *l, struct process *p, uint64_t now);

#endif
