/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dates of UTC, without the C library, whose functions differ between systems.
 */
#ifndef XR_BASE_CALENDAR_H
#define XR_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_MAX UINT64_C(253402300799) /* 9999-12-31T23:59:59Z in seconds since 1970 */
#define CALENDAR_DAY 86400u		    /* seconds */

/* A moment in the Gregorian calendar. */
struct calendar {
	unsigned int year;	 /* 1970 to 9999 */
	unsigned int month, day; /* from 1 */
	unsigned int hour, minute, second;
};

/* calendar__of - of @seconds since 1970; what is beyond CALENDAR_MAX is that. */
struct calendar calendar__of(uint64_t seconds);

/* calendar__seconds - since 1970, into @out; false: there is no such date or time. */
bool calendar__seconds(const struct calendar *c, uint64_t *out);

#endif
