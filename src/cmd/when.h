/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Times as people write them.  Where they name no zone they are of the local one (TZ).  All are in
 * whole seconds since 1970.
 *
 *	02:10  02:10:30			today, or yesterday where that is still to come
 *	yesterday 02:10  today 02:10	yesterday: its first second
 *	2026-11-22  2026-11-22 02:10[:30]
 *	2026-11-22T02:10[:30][Z|+01:00]
 *	10m  -10m  10m ago  1h30m ago	s, m (min), h, d, w; days are those of the calendar
 *	now
 */
#ifndef XR_CMD_WHEN_H
#define XR_CMD_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errmsg.h"

#define WHEN_MAX 48u /* bytes of a time as text, with the terminator */

/*
 * What a time is of.  Where the clocks are set back an hour is there twice, where they are set
 * forward one is missing: the beginning of a span is the earlier of both then, and its end the
 * later.
 */
enum when_edge { WHEN_SINCE, WHEN_UNTIL };

struct when_context {
	uint64_t now;
	enum when_edge edge;
	uint64_t after; /* a time without a day is the first one after this; 0: none */
};

/* when__is_length - is it a length of time, as 1h30m? */
bool when__is_length(const char *text);

/* when__parse - @what (--since) is for the message.  -EINVAL, @f filled. */
int when__parse(const char *text, const char *what, const struct when_context *c, uint64_t *out,
		struct errmsg *f);

/*
 * when__before - the span from *@since to *@until, moved to where it is to be compared with:
 * "yesterday", "1h", "7d" before, or when it begins.  -EINVAL, @f filled.
 */
int when__before(const char *text, const char *what, uint64_t now, uint64_t *since, uint64_t *until,
		 struct errmsg *f);

/* when__print - "2026-11-22 02:10:00 +0100", in local time. */
void when__print(char to[WHEN_MAX], uint64_t seconds);

/* when__rfc3339 - "2026-11-22T01:10:00.123Z", of ms since 1970. */
void when__rfc3339(char to[WHEN_MAX], uint64_t ms);

#endif
