/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --sample-type`: which of the sample types that there are is meant, and its numbers. */
#include <errno.h>
#include <string.h>

#include "cmd/report.h"

/* Is it meant by @name, NULL by any of which there is something? */
static bool type__is(const struct read_types *types, const uint64_t values[PROFILE_TYPES_MAX],
		     uint32_t type, const char *name)
{
	const struct profile_type of = about__type(&types->about, type);

	return of.name && (name ? !strcmp(of.name, name) : values[type] != 0);
}

/* The names of those that there are, except @type, in @text; "": none. */
static void types__list(const struct read_types *types, const uint64_t values[PROFILE_TYPES_MAX],
			uint32_t type, char text[REPORT_TYPES_LEN])
{
	size_t len = 0;

	*text = '\0';
	for (uint32_t i = 0; i < PROFILE_TYPES_MAX; i++) {
		const struct profile_type of = about__type(&types->about, i);

		if (i == type || !of.name || !values[i])
			continue;
		snprintf(text + len, REPORT_TYPES_LEN - len, "%s%s", len ? ", " : "", of.name);
		len = strlen(text);
	}
}

void report_types__others(const struct report_seen *seen, uint32_t type,
			  char text[REPORT_TYPES_LEN])
{
	types__list(seen->types, seen->values, type, text);
}

int report_types__choose(const struct report *r, const struct read_types *types,
			 const uint64_t values[PROFILE_TYPES_MAX], uint32_t *type, struct errmsg *f)
{
	char others[REPORT_TYPES_LEN];

	for (uint32_t i = 0; i < PROFILE_TYPES_MAX; i++) {
		if (type__is(types, values, i, r->sample_type)) {
			*type = i;
			return 0;
		}
	}
	*type = PROFILE_TYPE_TICKS;
	if (!r->sample_type)
		return 0;
	types__list(types, values, PROFILE_TYPES_MAX, others);
	return errmsg__set(f, -EDOM,
			   "--sample-type %s: the profile has no such samples; it has: %s",
			   r->sample_type, *others ? others : "none at all");
}

void report_types__only(struct profile_about *about, uint32_t type)
{
	for (uint32_t i = 1; i < PROFILE_TYPES_MAX; i++)
		if (i != type)
			about->types[i] = (struct profile_type){0};
	about->no_ticks = type != PROFILE_TYPE_TICKS;
}
