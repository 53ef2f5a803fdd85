/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of attributes: keys that name one row each, and values that a row keeps. */
#include "profile/attributes.h"
#include "tap.h"

/* Is @key, in one format, that of @a alone? */
static bool only(const struct attribute *a, const char *key, const struct attribute *found)
{
	return !key || found == a;
}

TEST(keys)
{
	static const char *const free_keys[] = {"service", "host", "state", "syscall", "pids", ""};

	for (const struct attribute *a = attributes; a->kind; a++) {
		const char *key = a->pprof;

		tap__ok(only(a, key, attribute__by_pprof(key, key ? strlen(key) : 0)) &&
				only(a, a->index, attribute__by_index(a->index ? a->index : "")),
			"row %d: no other has its keys", (int)(a - attributes));
		if (key && a->of <= ATTRIBUTE_THREAD)
			tap__ok(!attribute__is_label(key), "%s is not for a user's label", key);
	}
	for (size_t i = 0; i < sizeof(free_keys) / sizeof(free_keys[0]); i++)
		tap__ok(attribute__is_label(free_keys[i]), "\"%s\" is", free_keys[i]);
	tap__is(label__otlp("service"), "service.name", "a label with a name in OpenTelemetry");
	tap__is(label__otlp("team"), "team", "another label");
}

TEST(values)
{
	struct profile_process p = {.comm = ""}, other = {.pid = 1};

	for (const struct attribute *a = attributes; a->kind; a++) {
		if (a->of != ATTRIBUTE_PROCESS || a->kind == ATTRIBUTE_FIXED)
			continue;
		tap__ok(!attribute__text(a, &p) && !attribute__number(a, &p), "it begins unknown");
		if (a->kind == ATTRIBUTE_TEXT) {
			*attribute__place(a, &p) = "x";
			tap__is(attribute__text(a, &p), "x", "a text is kept");
			continue;
		}
		tap__ok(attribute__set_number(a, &p, 12) && attribute__number(a, &p) == 12 &&
				!attribute__set_number(a, &p, -1) &&
				!attribute__set_number(a, &p, a->max * 2) &&
				attribute__number(a, &p) == 12,
			"it takes a number of its range, up to %.0f", a->max);
		attribute__learn_number(a, &other, &p);
		tap__ok(attribute__number(a, &other) == 12, "and copied to another process");
		attribute__learn_number(a, &p, &(struct profile_process){0});
		tap__ok(attribute__number(a, &p) == 12, "but not if it is not known");
	}
}
