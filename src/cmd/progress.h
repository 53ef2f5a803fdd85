/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line that a recording shows while it runs, on a terminal: time, samples, their rate, losses,
 * and the function that most of them were in.  A sink before another one.
 */
#ifndef XR_CMD_PROGRESS_H
#define XR_CMD_PROGRESS_H

#include "profile/sink.h"

struct progress;

/* progress__new - in front of @to, which is borrowed.  -ENOMEM. */
int progress__new(struct progress **out, struct sink to);

/* progress__sink - give samples to it; they go on. */
struct sink progress__sink(struct progress *p);

/* progress__due - is it time for a new line?  @now: os__now(). */
bool progress__due(const struct progress *p, uint64_t now);

/*
 * progress__show - draw the line again, at @now.  @stats: what was counted so far.
 *
 * progress__clear - take it away, before another message is printed; it comes again with the next
 * progress__show.  Both do nothing with a NULL.
 */
void progress__show(struct progress *p, const struct stats *stats, uint64_t now);
void progress__clear(struct progress *p);

/*
 * progress__line - what is shown, in @size bytes and @columns columns.  For tests, too.
 */
void progress__line(const struct progress *p, const struct stats *stats, unsigned int columns,
		    char *line, size_t size);

void progress__free(struct progress *p); /* NULL is allowed */

#endif
