/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decimal numbers in text. */
#define _GNU_SOURCE
#include "base/parse.h"
#include "tap.h"

TEST(whole)
{
	static const struct {
		const char *text;
		uint64_t max, value;
		int err;
	} rows[] = {
		{"0", 0, 0, 0},
		{"7", 7, 7, 0},
		{"8", 7, 0, -ERANGE},
		{"10", 7, 0, -ERANGE},
		{"007", 7, 7, 0},
		{"65535", 65535, 65535, 0},
		{"65536", 65535, 0, -ERANGE},
		{"18446744073709551615", UINT64_MAX, UINT64_MAX, 0},
		{"18446744073709551616", UINT64_MAX, 0, -ERANGE},
		{"99999999999999999999999999", UINT64_MAX, 0, -ERANGE},
	};
	char bad[] = "|-1|+1| 1|1 |1x|0x1|1.0", *at = bad;
	uint64_t value;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int err = parse__u64(rows[i].text, rows[i].max, (value = 4711, &value));

		tap__ok(err == rows[i].err && value == (err ? 4711 : rows[i].value),
			"'%s' up to %llu: %d", rows[i].text, (unsigned long long)rows[i].max, err);
	}
	value = 4711;
	for (const char *one; (one = strsep(&at, "|"));)
		tap__ok(parse__u64(one, 99, &value) == -EINVAL && value == 4711,
			"'%s' is not a number", one);
}

TEST(parts)
{
	const char *text = "12,3x", *at = text;
	uint64_t value = 0;

	tap__ok(!parse__u64_to(&at, ',', 99, &value) && value == 12 && at == text + 2,
		"a list: the first");
	at++;
	tap__ok(parse__u64_to(&at, ',', 99, &value) == -EINVAL && value == 12 && at == text + 3,
		"what ends neither the list nor the text");
	tap__ok(!parse__digits(&at, 99, &value) && value == 3 && *at == 'x', "digits end anywhere");
	tap__ok(parse__digits(&at, 99, &value) == -EINVAL && value == 3 && *at == 'x', "no digit");
	at = text = " \t4 5\n";
	tap__ok(!parse__field(&at, 99, &value) && value == 4 && at == text + 3, "a field");
	tap__ok(!parse__field(&at, 99, &value) && value == 5 && *at == '\n', "the next");
	tap__ok(parse__field(&at, 99, &value) == -EINVAL && value == 5 && *at == '\n',
		"none on the next line");
}

TEST(seconds)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {{"30", 30},	    {"0.25", 0.25},
		    {".5", 0.5},    {"5.", 5},
		    {"30s", 30},    {"5m", 300},
		    {"1.5m", 90},   {"1h", 3600},
		    {"0", 0},	    {"0.5h", 1800},
		    {"007", 7},	    {"0.1", 0.1},
		    {"5ms", 0.005}, {"999999999999999", 999999999999999.0}};
	char bad[] = "|.|s|-1|+1|1e3|0x10|nan|inf|1 s|5msm|5 ms|1d|1.2.3| 1|1m30|1000000000000000";
	char *at = bad;
	double value;

	for (size_t i = 0; i < COUNT(good); i++)
		tap__ok(!parse__seconds(good[i].text, &value) && value == good[i].value,
			"%s is %g s", good[i].text, good[i].value);
	value = 4711;
	for (const char *one; (one = strsep(&at, "|"));)
		tap__ok(parse__seconds(one, &value) == -EINVAL && value == 4711,
			"'%s' is not a time", one);
}
