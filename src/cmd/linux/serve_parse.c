/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/serve_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "serve/linux/store.h"

#define INTERVAL_MAX 86400.0

int serve_parse__interval(const struct option_row *row, void *place, const char *arg,
			  struct errmsg *f)
{
	double seconds;

	if (parse__seconds(arg, &seconds) || seconds < 1 || seconds > INTERVAL_MAX)
		return errmsg__set(f, -EINVAL,
				   "--%s %s: not a time from 1 second to 24 hours: give seconds, "
				   "or a number with s, m or h",
				   row->name, arg);
	*(double *)place = seconds;
	return 0;
}

/* An age has the letter of a time behind it, and anything else is a size. */
static int keep__parse(struct store_keep *keep, const char *text)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
	const char *at = text;
	uint64_t n;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++, at = text) {
		if (!parse__digits(&at, UINT32_MAX, &n) && at[0] == units[i].unit && !at[1]) {
			keep->age = n * units[i].seconds;
			return n ? 0 : -EINVAL;
		}
	}
	return parse__size(text, &keep->size) || !keep->size ? -EINVAL : 0;
}

int serve_parse__keep(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	char text[64], *at = text, *end;
	int len = snprintf(text, sizeof(text), "%s", arg);
	int err = len < 0 || (size_t)len >= sizeof(text) ? -EINVAL : 0;

	for (; !err && at; at = end) {
		end = strchr(at, ',');
		if (end)
			*end++ = '\0';
		err = keep__parse(place, at);
	}
	return err ? errmsg__set(f, err,
				 "--%s %s: not a size such as 500M or 10G, an age such as 36h, 7d "
				 "or 4w, or both separated by a comma",
				 row->name, arg)
		   : 0;
}

int serve_parse__percent(const struct option_row *row, void *place, const char *arg,
			 struct errmsg *f)
{
	char *end;
	double share = strtod(arg, &end);

	if (*end == '%')
		end++;
	if (end == arg || *end || !(share >= 0) || share > 100)
		return errmsg__set(f, -EINVAL,
				   "--%s %s: not a share of a CPU, such as 1%% or 0.5%%", row->name,
				   arg);
	*(double *)place = share / 100;
	return 0;
}
