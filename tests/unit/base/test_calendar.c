/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dates of UTC, compared with the C library's. */
#include <time.h>

#include "base/calendar.h"
#include "tap.h"

/* Is @seconds the date that the C library makes of it? */
static bool same(uint64_t seconds)
{
	struct calendar c = calendar__of(seconds);
	time_t t = (time_t)seconds;
	uint64_t again;
	struct tm tm;

	gmtime_r(&t, &tm);
	return (int)c.year == tm.tm_year + 1900 && (int)c.month == tm.tm_mon + 1 &&
	       (int)c.day == tm.tm_mday && (int)c.hour == tm.tm_hour &&
	       (int)c.minute == tm.tm_min && (int)c.second == tm.tm_sec &&
	       calendar__seconds(&c, &again) && again == seconds;
}

TEST(calendar)
{
	static const struct calendar bad[] = {
		{1969, 12, 31, 23, 59, 59}, {10000, 1, 1, 0, 0, 0}, {2026, 0, 1, 0, 0, 0},
		{2026, 13, 1, 0, 0, 0},	    {2026, 1, 0, 0, 0, 0},  {2026, 4, 31, 0, 0, 0},
		{2026, 2, 29, 0, 0, 0},	    {2100, 2, 29, 0, 0, 0}, {2026, 1, 1, 24, 0, 0},
		{2026, 1, 1, 0, 60, 0},	    {2026, 1, 1, 0, 0, 60},
	};
	uint64_t seconds, wrong = 0, days = CALENDAR_MAX / CALENDAR_DAY;

	/* every day there is, each at another time */
	for (uint64_t day = 0; day <= days; day++)
		wrong += !same(day * CALENDAR_DAY + day * 7919 % CALENDAR_DAY);
	tap__ok(!wrong, "each of %llu days is as gmtime_r() has it, and back",
		(unsigned long long)days);
	tap__ok(same(0) && same(CALENDAR_MAX), "the first and the last second");
	tap__ok(calendar__of(UINT64_MAX).year == 9999, "what is beyond the end is the end");
	for (size_t i = 0; i < COUNT(bad); i++)
		tap__ok(!calendar__seconds(&bad[i], &seconds), "no date: %u-%u-%u %u:%u:%u",
			bad[i].year, bad[i].month, bad[i].day, bad[i].hour, bad[i].minute,
			bad[i].second);
}
