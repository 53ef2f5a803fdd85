/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/interval_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/calendar.h"
#include "base/clock.h"
#include "base/parse.h"

struct interval_name interval_name__of(uint64_t began, uint64_t ended)
{
	struct interval_name name = {.kind = INTERVAL_PROFILE, .began = began / NS_PER_S};
	uint64_t seconds = ended > began ? (ended - began + NS_PER_S / 2) / NS_PER_S : 0;

	if (name.began > CALENDAR_MAX)
		name.began = CALENDAR_MAX;
	name.seconds = seconds < 1			? 1
		       : seconds > INTERVAL_SECONDS_MAX ? INTERVAL_SECONDS_MAX
							: (uint32_t)seconds;
	return name;
}

struct interval_name interval_name__index(const struct interval_name *profile)
{
	return (struct interval_name){
		.kind = INTERVAL_INDEX,
		.began = profile->began - profile->began % CALENDAR_DAY,
	};
}

static void name__print(char to[INTERVAL_NAME_MAX], const char *before,
			const struct interval_name *n, const char *after)
{
	struct calendar c = calendar__of(n->began);
	char number[16] = "", day[16];

	/* of what calendar__of() gives none is longer: the compiler does not know */
	snprintf(day, sizeof(day), "%04u%02u%02u", c.year % 10000, c.month % 100, c.day % 100);
	if (n->number)
		snprintf(number, sizeof(number), ".%" PRIu32, n->number);
	if (n->kind == INTERVAL_INDEX)
		snprintf(to, INTERVAL_NAME_MAX, "%sindex-%s%s.jsonl.gz%s", before, day, number,
			 after);
	else
		snprintf(to, INTERVAL_NAME_MAX, "%s%sT%02u%02u%02uZ-%" PRIu32 "%s.pb.gz%s", before,
			 day, c.hour % 100, c.minute % 100, c.second % 100, n->seconds, number,
			 after);
}

void interval_name__print(char to[INTERVAL_NAME_MAX], const struct interval_name *name)
{
	name__print(to, "", name, "");
}

void interval_name__print_temporary(char to[INTERVAL_NAME_MAX], const struct interval_name *name)
{
	name__print(to, ".", name, ".tmp");
}

/* Exactly @n digits. */
static bool text__digits(const char **at, unsigned int n, unsigned int *out)
{
	*out = 0;
	for (; n; n--, ++*at) {
		if (**at < '0' || **at > '9')
			return false;
		*out = *out * 10 + (unsigned int)(**at - '0');
	}
	return true;
}

static bool text__is(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

static bool text__date(const char **at, struct calendar *c)
{
	return text__digits(at, 4, &c->year) && text__digits(at, 2, &c->month) &&
	       text__digits(at, 2, &c->day);
}

static bool text__profile(const char **at, struct calendar *c, struct interval_name *name)
{
	uint64_t seconds;

	if (!text__date(at, c) || !text__is(at, "T") || !text__digits(at, 2, &c->hour) ||
	    !text__digits(at, 2, &c->minute) || !text__digits(at, 2, &c->second) ||
	    !text__is(at, "Z-") || parse__digits(at, INTERVAL_SECONDS_MAX, &seconds))
		return false;
	name->seconds = (uint32_t)seconds;
	return true;
}

bool interval_name__parse(const char *text, struct interval_name *name)
{
	char again[INTERVAL_NAME_MAX];
	struct calendar c = {0};
	const char *at = text;
	uint64_t number;

	*name = (struct interval_name){.kind = INTERVAL_PROFILE};
	if (text__is(&at, "index-")) {
		name->kind = INTERVAL_INDEX;
		if (!text__date(&at, &c))
			return false;
	} else if (!text__profile(&at, &c, name)) {
		return false;
	}
	if (*at == '.' && !parse__digits(&(const char *){at + 1}, INTERVAL_NUMBER_MAX, &number)) {
		at++;
		parse__digits(&at, INTERVAL_NUMBER_MAX, &number);
		name->number = (uint32_t)number;
	}
	if (!calendar__seconds(&c, &name->began))
		return false;
	if (name->kind == INTERVAL_PROFILE && !name->seconds)
		return false;
	/* what follows, and numbers with zeros in front of them */
	interval_name__print(again, name);
	return !strcmp(again, text);
}

bool interval_name__is_temporary(const char *text)
{
	size_t len = strlen(text);
	char name[INTERVAL_NAME_MAX];
	struct interval_name n;

	if (len < 5 || len >= sizeof(name) || *text != '.' || strcmp(text + len - 4, ".tmp") != 0)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(len - 5), text + 1);
	return interval_name__parse(name, &n);
}

int interval_name__compare(const struct interval_name *a, const struct interval_name *b)
{
	if (a->began != b->began)
		return a->began < b->began ? -1 : 1;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}
