/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times as people write them, in zones with and without summer time, and where clocks are set. */
#define _GNU_SOURCE
#include "cmd/when.h"

#include <time.h>

#include "tap.h"

#define NOW UINT64_C(1795314600) /* 2026-11-22 02:30:00 UTC, a Sunday */

static void zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

/* @text is, at @now, the moment that date(1) would print as @want. */
static void is_at(uint64_t now, enum when_edge edge, uint64_t after, const char *text,
		  const char *want)
{
	const struct when_context c = {.now = now, .edge = edge, .after = after};
	struct errmsg f = {""};
	char got[WHEN_MAX] = "";
	uint64_t out;
	int err = when__parse(text, "--since", &c, &out, &f);

	if (!err)
		when__print(got, out);
	tap__is(err ? f.text : got, want, "%s, %s %s", getenv("TZ"),
		edge == WHEN_SINCE ? "since" : "until", text);
}

static void is(const char *text, const char *want)
{
	is_at(NOW, WHEN_SINCE, 0, text, want);
}

TEST(utc)
{
	zone("UTC0");
	is("02:10", "2026-11-22 02:10:00 +0000");
	is("2:10", "2026-11-22 02:10:00 +0000");
	is("02:10:30", "2026-11-22 02:10:30 +0000");
	is("02:30", "2026-11-22 02:30:00 +0000");
	is("02:31", "2026-11-21 02:31:00 +0000");
	is("23:59:59", "2026-11-21 23:59:59 +0000");
	is("today 02:40", "2026-11-22 02:40:00 +0000");
	is("today", "2026-11-22 00:00:00 +0000");
	is("yesterday", "2026-11-21 00:00:00 +0000");
	is("yesterday 02:10", "2026-11-21 02:10:00 +0000");
	is("2026-11-17", "2026-11-17 00:00:00 +0000");
	is("2026-11-17 02:10", "2026-11-17 02:10:00 +0000");
	is("2026-11-17 02:10:07", "2026-11-17 02:10:07 +0000");
	is("2026-11-17T02:10:07Z", "2026-11-17 02:10:07 +0000");
	is("2026-11-17T02:10+01:00", "2026-11-17 01:10:00 +0000");
	is("2026-11-17T02:10-0330", "2026-11-17 05:40:00 +0000");
	is("2026-11-17 02:10 +02", "2026-11-17 00:10:00 +0000");
	is("now", "2026-11-22 02:30:00 +0000");
	is("-10m", "2026-11-22 02:20:00 +0000");
	is("10m ago", "2026-11-22 02:20:00 +0000");
	is("10m", "2026-11-22 02:20:00 +0000");
	is("90s ago", "2026-11-22 02:28:30 +0000");
	is("-1h30m", "2026-11-22 01:00:00 +0000");
	is("-10min", "2026-11-22 02:20:00 +0000");
	is("-7d", "2026-11-15 02:30:00 +0000");
	is("2w ago", "2026-11-08 02:30:00 +0000");
	is("2024-02-29 00:00", "2024-02-29 00:00:00 +0000");
	is_at(NOW, WHEN_UNTIL, NOW - 8 * 86400, "02:10", "2026-11-15 02:10:00 +0000");
	is_at(NOW, WHEN_UNTIL, NOW - 8 * 86400 - 86399, "02:30", "2026-11-14 02:30:00 +0000");
	is_at(NOW, WHEN_UNTIL, NOW - 3 * 3600, "00:10", "2026-11-22 00:10:00 +0000");
	is_at(NOW, WHEN_UNTIL, NOW - 600, "02:40", "2026-11-22 02:40:00 +0000");
}

TEST(zones)
{
	zone("Europe/Berlin");
	is("02:10", "2026-11-22 02:10:00 +0100");
	is("03:31", "2026-11-21 03:31:00 +0100");
	is("2026-07-01 12:00", "2026-07-01 12:00:00 +0200");
	is("2026-07-01T12:00Z", "2026-07-01 14:00:00 +0200");
	/* 25 October 2026: three o'clock is two o'clock again */
	is_at(NOW, WHEN_SINCE, 0, "2026-10-25 02:30", "2026-10-25 02:30:00 +0200");
	is_at(NOW, WHEN_UNTIL, 0, "2026-10-25 02:30", "2026-10-25 02:30:00 +0100");
	is("2026-10-25 03:00", "2026-10-25 03:00:00 +0100");
	/* 29 March 2026: two o'clock is three o'clock */
	is_at(NOW, WHEN_SINCE, 0, "2026-03-29 02:30", "2026-03-29 01:30:00 +0100");
	is_at(NOW, WHEN_UNTIL, 0, "2026-03-29 02:30", "2026-03-29 03:30:00 +0200");
	/* a day before 25 October 12:00 it is 12:00, 25 hours earlier */
	is_at(UINT64_C(1792926000), WHEN_SINCE, 0, "-1d", "2026-10-24 12:00:00 +0200");
	is_at(UINT64_C(1792926000), WHEN_SINCE, 0, "-24h", "2026-10-24 13:00:00 +0200");
	zone("America/New_York");
	is("21:10", "2026-11-21 21:10:00 -0500");
	is("yesterday 21:40", "2026-11-20 21:40:00 -0500");
	is_at(NOW, WHEN_SINCE, 0, "2026-11-01 01:30", "2026-11-01 01:30:00 -0400");
	is_at(NOW, WHEN_UNTIL, 0, "2026-11-01 01:30", "2026-11-01 01:30:00 -0500");
	zone("Asia/Kolkata");
	is("08:00", "2026-11-22 08:00:00 +0530");
	is("08:01", "2026-11-21 08:01:00 +0530");
	zone("Australia/Lord_Howe"); /* half an hour */
	is_at(NOW, WHEN_SINCE, 0, "2026-04-05 01:45", "2026-04-05 01:45:00 +1100");
	is_at(NOW, WHEN_UNTIL, 0, "2026-04-05 01:45", "2026-04-05 01:45:00 +1030");
	zone("America/St_Johns");
	is("2026-11-22T00:00Z", "2026-11-21 20:30:00 -0330");
}

TEST(none)
{
	char none[] = "| |x|24:00|02:60|02:1|002:10|02:10:60|02:10 |02:10Z|-|- 10m|-10|-10x|"
		      "-99999999999999999999s|-10000000w|10m  ago|10m "
		      "agox|2026-02-29|2026-13-01|2026-1-1|"
		      "2026-11-22 |2026-11-22T|2026-11-22X02:10|2026-11-22 02:10 "
		      "x|2026-11-22T02:10+25:00|"
		      "2026-11-22T02:10+1|1969-12-31 "
		      "00:00Z|1970-01-01T00:00+01:00|10000-01-01|yesterdayx|"
		      "yesterday 25:00|tomorrow|nowish";
	char *at = none;
	const struct when_context c = {.now = NOW};
	struct errmsg f;
	uint64_t out;

	zone("UTC0");
	for (const char *text; (text = strsep(&at, "|"));) {
		f.text[0] = '\0';
		tap__ok(when__parse(text, "--since", &c, &out, &f) == -EINVAL && f.text[0],
			"no time: \"%s\"", text);
	}
}

static void before(const char *text, uint64_t since, uint64_t until, uint64_t wanted,
		   uint64_t wanted_until)
{
	uint64_t from = since, to = until;
	struct errmsg f = {""};
	int err = when__before(text, "--diff", NOW, &from, &to, &f);

	tap__ok(!err && from == wanted && to == wanted_until, "%s: %s before: %lld to %lld",
		getenv("TZ"), text, (long long)(from - since), (long long)(to - until));
}

TEST(before)
{
	const uint64_t since = NOW - 1200, until = NOW - 600, noon = UINT64_C(1792926000);
	struct errmsg f = {""};
	uint64_t from = since, to = until;

	zone("UTC0");
	before("yesterday", since, until, since - 86400, until - 86400);
	before("1d", since, until, since - 86400, until - 86400);
	before("7d", since, until, since - 7 * 86400, until - 7 * 86400);
	before("1h", since, until, since - 3600, until - 3600);
	before("1h30m", since, until, since - 5400, until - 5400);
	before("2026-11-15 02:10", since, until, since - 7 * 86400, until - 7 * 86400);
	before("01:10", since, until, since - 3600, until - 3600);
	zone("Europe/Berlin");
	before("yesterday", noon, noon + 600, noon - 90000, noon + 600 - 90000);
	before("24h", noon, noon + 600, noon - 86400, noon + 600 - 86400);
	tap__ok(when__before("", "--diff", NOW, &from, &to, &f) == -EINVAL && f.text[0],
		"nothing: %s", f.text);
	tap__ok(when__before("0h", "--diff", NOW, &from, &to, &f) == -EINVAL, "none: %s", f.text);
	tap__ok(when__before("x", "--diff", NOW, &from, &to, &f) == -EINVAL, "no time: %s", f.text);
}
