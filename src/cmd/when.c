/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/when.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/calendar.h"
#include "base/parse.h"

#define AMOUNT_MAX 10000000u /* of a unit of time */

/* --- local time --- */

static struct calendar tm__calendar(const struct tm *tm)
{
	return (struct calendar){
		.year = (unsigned int)(tm->tm_year + 1900),
		.month = (unsigned int)(tm->tm_mon + 1),
		.day = (unsigned int)tm->tm_mday,
		.hour = (unsigned int)tm->tm_hour,
		.minute = (unsigned int)tm->tm_min,
		.second = (unsigned int)(tm->tm_sec < 60 ? tm->tm_sec : 59),
	};
}

/* The local calendar, as seconds of a day of UTC, with which one can reckon. */
static uint64_t local__clock(uint64_t seconds)
{
	time_t t = (time_t)seconds;
	const struct tm *tm = localtime(&t);
	struct calendar c;
	uint64_t clock;

	if (!tm)
		return seconds;
	c = tm__calendar(tm);
	return calendar__seconds(&c, &clock) ? clock : seconds;
}

/* When the local clock shows @clock.  False: never, or before 1970. */
static bool local__seconds(uint64_t clock, enum when_edge edge, uint64_t *out)
{
	struct calendar c = calendar__of(clock);
	uint64_t found[2], shown[2] = {0};
	bool exact;

	/* in summer and in winter: one of them, both, or none is what the clock shows then */
	for (int dst = 0; dst < 2; dst++) {
		struct tm tm = {
			.tm_year = (int)c.year - 1900,
			.tm_mon = (int)c.month - 1,
			.tm_mday = (int)c.day,
			.tm_hour = (int)c.hour,
			.tm_min = (int)c.minute,
			.tm_sec = (int)c.second,
			.tm_isdst = dst,
		};
		time_t t = mktime(&tm);

		if (t < 0)
			return false;
		found[dst] = (uint64_t)t;
		shown[dst] = local__clock(found[dst]);
	}
	exact = shown[0] == clock || shown[1] == clock;
	for (int dst = 0; dst < 2 && exact; dst++)
		if (shown[dst] != clock)
			found[dst] = found[!dst];
	if (edge == WHEN_SINCE)
		*out = found[0] < found[1] ? found[0] : found[1];
	else
		*out = found[0] > found[1] ? found[0] : found[1];
	return true;
}

void when__print(char to[WHEN_MAX], uint64_t seconds)
{
	uint64_t clock = local__clock(seconds);
	uint64_t offset = (clock > seconds ? clock - seconds : seconds - clock) / 60;
	struct calendar c = calendar__of(clock);

	snprintf(to, WHEN_MAX, "%04u-%02u-%02u %02u:%02u:%02u %c%02u%02u", c.year, c.month, c.day,
		 c.hour, c.minute, c.second, clock < seconds ? '-' : '+',
		 (unsigned int)(offset / 60 % 100), (unsigned int)(offset % 60));
}

void when__rfc3339(char to[WHEN_MAX], uint64_t ms)
{
	struct calendar c = calendar__of(ms / 1000);

	snprintf(to, WHEN_MAX, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", c.year, c.month, c.day,
		 c.hour, c.minute, c.second, (unsigned int)(ms % 1000));
}

/* --- text --- */

static bool text__is(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* @least to @most digits. */
static bool text__digits(const char **at, size_t least, size_t most, unsigned int *out)
{
	size_t n = strspn(*at, "0123456789");
	uint64_t value;

	if (n < least || n > most || parse__digits(at, UINT32_MAX, &value))
		return false;
	*out = (unsigned int)value;
	return true;
}

/* HH:MM, or HH:MM:SS. */
static bool text__time(const char **at, struct calendar *c)
{
	if (!text__digits(at, 1, 2, &c->hour) || !text__is(at, ":") ||
	    !text__digits(at, 2, 2, &c->minute))
		return false;
	c->second = 0;
	return !text__is(at, ":") || text__digits(at, 2, 2, &c->second);
}

static bool text__date(const char **at, struct calendar *c)
{
	return text__digits(at, 4, 4, &c->year) && text__is(at, "-") &&
	       text__digits(at, 2, 2, &c->month) && text__is(at, "-") &&
	       text__digits(at, 2, 2, &c->day);
}

/* Z, +01:00, +0100 or +01: seconds east of UTC.  False: there is none. */
static bool text__zone(const char **at, int64_t *east)
{
	unsigned int hours, minutes = 0;
	bool west = **at == '-';

	*east = 0;
	if (text__is(at, "Z"))
		return true;
	if (!text__is(at, "+") && !text__is(at, "-"))
		return false;
	if (!text__digits(at, 2, 2, &hours)) {
		if (!text__digits(at, 4, 4, &hours))
			return false;
		minutes = hours % 100;
		hours /= 100;
	} else if (text__is(at, ":") && !text__digits(at, 2, 2, &minutes)) {
		return false;
	}
	if (hours > 14 || minutes > 59)
		return false;
	*east = (int64_t)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return true;
}

/* Lengths of time, one behind the other: 1h30m.  Days are counted apart. */
static bool text__length(const char **at, uint64_t *days, uint64_t *seconds)
{
	static const struct {
		const char *name;
		unsigned int days, seconds;
	} units[] = {
		{"min", 0, 60}, {"s", 0, 1}, {"m", 0, 60}, {"h", 0, 3600}, {"d", 1, 0}, {"w", 7, 0},
	};
	uint64_t amount;
	size_t i;

	*days = *seconds = 0;
	do {
		if (parse__digits(at, AMOUNT_MAX, &amount))
			return false;
		for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (text__is(at, units[i].name))
				break;
		if (i == sizeof(units) / sizeof(units[0]))
			return false;
		*days += amount * units[i].days;
		*seconds += amount * units[i].seconds;
	} while (**at >= '0' && **at <= '9');
	return true;
}

bool when__is_length(const char *text)
{
	uint64_t days, seconds;

	return text__length(&text, &days, &seconds) && !*text;
}

/* So long before @from.  False: before 1970. */
static bool when__back(uint64_t from, uint64_t days, uint64_t seconds, enum when_edge edge,
		       uint64_t *out)
{
	uint64_t clock = local__clock(from);

	if (days && (days * CALENDAR_DAY > clock ||
		     !local__seconds(clock - days * CALENDAR_DAY, edge, &from)))
		return false;
	if (seconds > from)
		return false;
	*out = from - seconds;
	return true;
}

/* --- times --- */

static uint64_t clock__midnight(uint64_t clock)
{
	return clock - clock % CALENDAR_DAY;
}

/* A time of the day alone: the first one after `after`, or the last one that there was. */
static bool when__of_day(const struct calendar *of, const struct when_context *c, uint64_t *out)
{
	uint64_t time = of->hour * 3600u + of->minute * 60u + of->second, clock;

	if (of->hour > 23 || of->minute > 59 || of->second > 59)
		return false;
	clock = clock__midnight(local__clock(c->after ? c->after : c->now)) + time;
	if (!local__seconds(clock, c->edge, out))
		return false;
	if (c->after)
		return *out > c->after || local__seconds(clock + CALENDAR_DAY, c->edge, out);
	return *out <= c->now || local__seconds(clock - CALENDAR_DAY, c->edge, out);
}

/* today, yesterday: with or without a time. */
static bool when__day(const char *at, uint64_t days, const struct when_context *c, uint64_t *out)
{
	uint64_t clock = clock__midnight(local__clock(c->now));
	struct calendar of = {0};

	if (days * CALENDAR_DAY > clock)
		return false;
	if (*at && (!text__is(&at, " ") || !text__time(&at, &of) || *at || of.hour > 23 ||
		    of.minute > 59 || of.second > 59))
		return false;
	return local__seconds(clock - days * CALENDAR_DAY + of.hour * 3600u + of.minute * 60u +
				      of.second,
			      c->edge, out);
}

static bool when__date(const char *at, const struct when_context *c, uint64_t *out)
{
	struct calendar of = {0};
	uint64_t clock;
	int64_t east;

	if (!text__date(&at, &of))
		return false;
	if (*at && ((!text__is(&at, "T") && !text__is(&at, " ")) || !text__time(&at, &of)))
		return false;
	if (!calendar__seconds(&of, &clock))
		return false;
	if (!*at)
		return local__seconds(clock, c->edge, out);
	text__is(&at, " ");
	if (!text__zone(&at, &east) || *at || (int64_t)clock < east)
		return false;
	*out = (uint64_t)((int64_t)clock - east);
	return true;
}

static bool when__ago(const char *at, const struct when_context *c, uint64_t *out)
{
	bool minus = text__is(&at, "-");
	uint64_t days, seconds;

	if (!text__length(&at, &days, &seconds))
		return false;
	if (!minus)
		text__is(&at, " ago");
	return !*at && when__back(c->now, days, seconds, c->edge, out);
}

static bool when__any(const char *text, const struct when_context *c, uint64_t *out)
{
	struct calendar of = {0};
	const char *at = text;

	if (!strcmp(text, "now")) {
		*out = c->now;
		return true;
	}
	if (text__is(&at, "yesterday"))
		return when__day(at, 1, c, out);
	if (text__is(&at, "today"))
		return when__day(at, 0, c, out);
	if (text__time(&at, &of) && !*at)
		return when__of_day(&of, c, out);
	return when__date(text, c, out) || when__ago(text, c, out);
}

int when__parse(const char *text, const char *what, const struct when_context *c, uint64_t *out,
		struct errmsg *f)
{
	if (when__any(text, c, out))
		return 0;
	return errmsg__set(f, -EINVAL,
			   "%s %.100s: not a time: give 02:10, \"yesterday 02:10\", \"2026-11-22 "
			   "02:10\", 2026-11-22T02:10:00Z, -10m or now",
			   what, text);
}

int when__before(const char *text, const char *what, uint64_t now, uint64_t *since, uint64_t *until,
		 struct errmsg *f)
{
	struct when_context c = {.now = now, .edge = WHEN_SINCE};
	uint64_t days = 0, seconds = 0, from;
	const char *at = text;

	if (!strcmp(text, "yesterday") || (text__length(&at, &days, &seconds) && !*at)) {
		days = strcmp(text, "yesterday") ? days : 1;
		if ((days || seconds) && when__back(*since, days, seconds, WHEN_SINCE, since) &&
		    when__back(*until, days, seconds, WHEN_UNTIL, until))
			return 0;
	} else if (when__any(text, &c, &from)) {
		*until = from + (*until - *since);
		*since = from;
		return 0;
	}
	return errmsg__set(
		f, -EINVAL,
		"%s %.100s: not a time: give yesterday, 1h, 7d, or when the other span begins",
		what, text);
}
