/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/value_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static void value__unit(char text[VALUE_TEXT], double value, const char *unit)
{
	snprintf(text, VALUE_TEXT, value < 99.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

static void duration__text(char text[VALUE_TEXT], uint64_t ns)
{
	if (ns >= 1000 * NS_PER_S)
		snprintf(text, VALUE_TEXT, "%.0f s", (double)ns / NS_PER_S);
	else if (ns >= NS_PER_S)
		snprintf(text, VALUE_TEXT, "%.2f s", (double)ns / NS_PER_S);
	else if (ns >= NS_PER_MS)
		value__unit(text, (double)ns / NS_PER_MS, "ms");
	else
		value__unit(text, (double)ns / NS_PER_US, "us");
}

static void bytes__text(char text[VALUE_TEXT], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double value = (double)bytes;
	size_t i = 0;

	for (; value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1024;
	if (i)
		value__unit(text, value, units[i]);
	else
		snprintf(text, VALUE_TEXT, "%" PRIu64 " B", bytes);
}

void value__text(char text[VALUE_TEXT], enum profile_unit unit, uint64_t value)
{
	if (value && unit == PROFILE_NANOSECONDS)
		duration__text(text, value);
	else if (value && unit == PROFILE_BYTES)
		bytes__text(text, value);
	else
		snprintf(text, VALUE_TEXT, "%" PRIu64, value);
}

const char *value__called(struct profile_type type)
{
	static const char *const called[][2] = {
		{"cpu", "CPU time"},
		{"wall", "wall time"},
		{"off_cpu", "waiting"},
		{"alloc_space", "memory"},
	};

	for (size_t i = 0; type.name && i < sizeof(called) / sizeof(called[0]); i++)
		if (!strcmp(type.name, called[i][0]))
			return called[i][1];
	return type.name ? type.name : "samples";
}
