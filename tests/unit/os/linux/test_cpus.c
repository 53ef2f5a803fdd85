/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's lists of CPUs. */

#include "os/linux/cpus.h"
#include "tap.h"

#define N 8

/* The list as a row of digits, or "-" when it is refused. */
static const char *parsed(const char *list)
{
	static char text[N + 1];
	bool online[N];

	if (cpus__parse(list, online, N))
		return "-";
	for (int i = 0; i < N; i++)
		text[i] = online[i] ? '1' : '0';
	return text;
}

static const struct {
	const char *list, *want;
} cases[] = {{"0\n", "10000000"},
	     {"0-1\n", "11000000"},
	     {"0-3,5", "11110100"},
	     {"7,1-2,4-4\n", "01101001"},
	     {"6-900\n", "00000011"},
	     {"0-18446744073709551615\n", "11111111"},
	     {"99999999999999999999999\n", "00000000"},
	     {"12\n", "00000000"}};
static const char *const wrong[] = {"",	    "\n",    "0-\n",   "-1\n", "3-1\n",
				    "0,\n", "0 1\n", "0-1\n2", "zero"};

TEST(cpus)
{
	bool online[4096];
	long here = sysconf(_SC_NPROCESSORS_ONLN), n = 0;

	for (size_t i = 0; i < COUNT(cases); i++)
		tap__ok(!strcmp(parsed(cases[i].list), cases[i].want), "list %zu is %s", i,
			cases[i].want);
	for (size_t i = 0; i < COUNT(wrong); i++)
		tap__ok(!strcmp(parsed(wrong[i]), "-"), "malformed list %zu is refused", i);
	tap__ok(!cpus__online(online, 4096), "this machine's list is read");
	for (int i = 0; i < 4096; i++)
		n += online[i];
	tap__ok(n == here, "it has as many CPUs as the C library counts: %ld", here);
}

TEST(slept)
{
	int64_t clocks = 0;

	tap__ok(!cpus__slept(&clocks) && !cpus__slept(&clocks),
		"no sleep is reported while the machine is awake");
	clocks -= 1000000000;
	tap__ok(cpus__slept(&clocks) && !cpus__slept(&clocks), "a sleep is reported once");
}
