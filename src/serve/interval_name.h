/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of files in a directory of profiles (linux/store.h): `serve` makes them, `report` looks
 * for them.  Nothing else in such a directory is looked at, counted or removed.
 *
 *	20261122T021000Z-60.pb.gz	a profile: when it begins, in UTC, and its length in seconds
 *	20261122T021000Z-60.1.pb.gz	another one of the same time
 *	index-20261122.jsonl.gz		the index of all that begin on that day, in UTC
 *	index-20261122.1.jsonl.gz	more of it
 *
 * A name has one spelling.  What is being written has a name of this kind between `.` and `.tmp`.
 */
#ifndef XR_SERVE_INTERVAL_NAME_H
#define XR_SERVE_INTERVAL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERVAL_NAME_MAX    64u      /* bytes, with the terminator */
#define INTERVAL_SECONDS_MAX 9999999u /* length of a profile: 115 days */
#define INTERVAL_NUMBER_MAX  999999u  /* of names that were taken */

enum interval_kind { INTERVAL_PROFILE, INTERVAL_INDEX };

struct interval_name {
	uint64_t began;	  /* seconds since 1970; of an index: of its day */
	uint32_t seconds; /* 1 to INTERVAL_SECONDS_MAX; of an index: 0 */
	uint32_t number;  /* 0: the first of that name */
	enum interval_kind kind;
};

/* interval_name__of - of a profile from @began to @ended, ns since 1970; one that is shorter than a
 * second, or ends before it begins since the clock was set, has a length of one. */
struct interval_name interval_name__of(uint64_t began, uint64_t ended);

/* interval_name__index - of the index that a profile belongs into. */
struct interval_name interval_name__index(const struct interval_name *profile);

/* interval_name__print - the name; interval_name__print_temporary - while it is being written. */
void interval_name__print(char to[INTERVAL_NAME_MAX], const struct interval_name *name);
void interval_name__print_temporary(char to[INTERVAL_NAME_MAX], const struct interval_name *name);

/* interval_name__parse - is @text such a name?  interval_name__is_temporary - of the other kind? */
bool interval_name__parse(const char *text, struct interval_name *name);
bool interval_name__is_temporary(const char *text);

/* interval_name__compare - as of strcmp(): by time, then length and number. */
int interval_name__compare(const struct interval_name *a, const struct interval_name *b);

/* interval_name__end - when it ends, by its name: seconds since 1970. */
static inline uint64_t interval_name__end(const struct interval_name *name)
{
	return name->began + name->seconds;
}

#endif
