/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of files in a directory of profiles. */
#include "serve/interval_name.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "tap.h"

#define BEGAN (UINT64_C(1795313400) * NS_PER_S) /* 2026-11-22 02:10:00 UTC */

TEST(print)
{
	struct interval_name name = interval_name__of(BEGAN + 999999999, BEGAN + 60 * NS_PER_S);
	struct interval_name index = interval_name__index(&name), again;
	char text[INTERVAL_NAME_MAX];

	interval_name__print(text, &name);
	tap__is(text, "20261122T021000Z-59.pb.gz", "a profile");
	name.number = 12;
	interval_name__print(text, &name);
	tap__is(text, "20261122T021000Z-59.12.pb.gz", "the name was taken");
	tap__ok(interval_name__parse(text, &again) && !interval_name__compare(&name, &again) &&
			again.kind == INTERVAL_PROFILE && interval_name__end(&again) == 1795313459,
		"it is read as it was");
	interval_name__print_temporary(text, &name);
	tap__ok(!strcmp(text, ".20261122T021000Z-59.12.pb.gz.tmp"), "while it is written: %s",
		text);
	tap__ok(interval_name__is_temporary(text) && !interval_name__parse(text, &again),
		"a temporary name is not a profile");
	interval_name__print(text, &index);
	tap__is(text, "index-20261122.jsonl.gz", "its index");
	tap__ok(interval_name__parse(text, &again) && again.kind == INTERVAL_INDEX &&
			again.began == index.began && !again.seconds,
		"it is read as it was");
	index.number = INTERVAL_NUMBER_MAX;
	interval_name__print(text, &index);
	tap__ok(interval_name__parse(text, &again) && again.number == INTERVAL_NUMBER_MAX,
		"more of it: %s", text);
}

TEST(lengths)
{
	static const struct {
		uint64_t ns;
		uint32_t seconds;
	} of[] = {
		{0, 1},
		{300 * NS_PER_MS, 1},
		{1499 * NS_PER_MS, 1},
		{1500 * NS_PER_MS, 2},
		{59950 * NS_PER_MS, 60},
		{(uint64_t)1 << 63, INTERVAL_SECONDS_MAX},
	};
	struct interval_name name;
	char text[INTERVAL_NAME_MAX];

	for (size_t i = 0; i < COUNT(of); i++) {
		name = interval_name__of(BEGAN, BEGAN + of[i].ns);
		tap__ok(name.seconds == of[i].seconds, "%llu ns are %u s",
			(unsigned long long)of[i].ns, name.seconds);
	}
	name = interval_name__of(BEGAN, BEGAN - NS_PER_S);
	tap__ok(name.seconds == 1, "the clock was set back meanwhile: one second");
	name = interval_name__of(UINT64_MAX, UINT64_MAX);
	interval_name__print(text, &name);
	tap__ok(interval_name__parse(text, &name), "the last one that a clock can say: %s", text);
	name.began = UINT64_MAX;
	name.seconds = INTERVAL_SECONDS_MAX;
	name.number = INTERVAL_NUMBER_MAX;
	interval_name__print_temporary(text, &name);
	tap__ok(interval_name__is_temporary(text), "the longest name: %s", text);
}

TEST(others)
{
	char others[] =
		"|.|..|.tmp|..tmp|x|20261122T021000Z-60.pb|20261122T021000Z-60.pb.gz~|"
		"20261122T021000Z-60.pb.gz.tmp|.20261122T021000Z-60.pb.gz|20261122T021000Z-060.pb."
		"gz|"
		"20261122T021000Z-0.pb.gz|20261122T021000Z-.pb.gz|20261122T021000Z--1.pb.gz|"
		"20261122T021000Z-60.0.pb.gz|20261122T021000Z-60.01.pb.gz|"
		"20261122T021000Z-60.1000000.pb.gz|20261122T021000Z-60..pb.gz|"
		"20261122T021000Z-60.1.1.pb.gz|20261122T021000Z-10000000.pb.gz|"
		"20261122T021000Z-99999999999999999999.pb.gz|20261322T021000Z-60.pb.gz|"
		"20260230T021000Z-60.pb.gz|20261122T241000Z-60.pb.gz|20261122T021060Z-60.pb.gz|"
		"19691231T235959Z-60.pb.gz|20261122t021000Z-60.pb.gz|20261122T021000-60.pb.gz|"
		"2026112T021000Z-60.pb.gz| 20261122T021000Z-60.pb.gz|20261122T021000Z-60.pb.gz/|"
		"index-20261122.jsonl|index-20261122.0.jsonl.gz|index-20261132.jsonl.gz|"
		"index-20261122T.jsonl.gz|index-.jsonl.gz|index-20261122.jsonl.gz.tmp|Rprof.17.out";
	char *at = others;
	struct interval_name name;

	for (const char *text; (text = strsep(&at, "|"));)
		tap__ok(!interval_name__parse(text, &name) && !interval_name__is_temporary(text),
			"not ours: \"%s\"", text);
	tap__ok(interval_name__is_temporary(".index-20261122.jsonl.gz.tmp"),
		"an index would be one while it is written");
}
