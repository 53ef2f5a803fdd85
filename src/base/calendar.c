/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/calendar.h"

#define YEAR_FIRST 1970u
#define YEAR_LAST  9999u

/* Days from 1970 to the first day of @year. */
static uint64_t year__days(unsigned int year)
{
	uint64_t before = year - 1;
	uint64_t first = YEAR_FIRST - 1;

	return 365 * (before - first) + (before / 4 - first / 4) - (before / 100 - first / 100) +
	       (before / 400 - first / 400);
}

static bool year__is_leap(unsigned int year)
{
	return !(year % 4) && (year % 100 || !(year % 400));
}

static unsigned int month__days(unsigned int year, unsigned int month)
{
	static const unsigned int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return month == 2 && year__is_leap(year) ? 29 : days[month - 1];
}

struct calendar calendar__of(uint64_t seconds)
{
	struct calendar c = {.month = 1};
	uint64_t days;

	if (seconds > CALENDAR_MAX)
		seconds = CALENDAR_MAX;
	days = seconds / CALENDAR_DAY;
	c.second = (unsigned int)(seconds % 60);
	c.minute = (unsigned int)(seconds / 60 % 60);
	c.hour = (unsigned int)(seconds / 3600 % 24);
	/* a year has at most 366 days: this one or the next few */
	c.year = YEAR_FIRST + (unsigned int)(days / 366);
	while (year__days(c.year + 1) <= days)
		c.year++;
	days -= year__days(c.year);
	for (; days >= month__days(c.year, c.month); c.month++)
		days -= month__days(c.year, c.month);
	c.day = (unsigned int)days + 1;
	return c;
}

bool calendar__seconds(const struct calendar *c, uint64_t *out)
{
	uint64_t days;

	if (c->year < YEAR_FIRST || c->year > YEAR_LAST || c->month < 1 || c->month > 12 ||
	    c->day < 1 || c->day > month__days(c->year, c->month) || c->hour > 23 ||
	    c->minute > 59 || c->second > 59)
		return false;
	days = year__days(c->year) + c->day - 1;
	for (unsigned int month = 1; month < c->month; month++)
		days += month__days(c->year, month);
	*out = days * CALENDAR_DAY + c->hour * 3600u + c->minute * 60u + c->second;
	return true;
}
