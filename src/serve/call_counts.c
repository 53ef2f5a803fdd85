/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/call_counts.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"

const char *const call_buckets[CALL_BUCKETS] = {"0.005", "0.01", "0.025", "0.05", "0.1", "0.25",
						"0.5",	 "1",	 "2.5",	  "5",	  "10"};

static const uint32_t bucket_ms[CALL_BUCKETS] = {5,   10,   25,	  50,	100,  250,
						 500, 1000, 2500, 5000, 10000};

static struct call_count *counts__row(struct call_counts *c, const char *function,
				      const char *service)
{
	struct call_count *row = c->rows;

	for (; row < c->rows + c->n; row++)
		if (!strcmp(row->function, function) && !strcmp(row->service, service))
			return row;
	if (c->n == CALL_COUNTS_MAX + 1)
		return &c->rows[CALL_COUNTS_MAX];
	if (c->n++ < CALL_COUNTS_MAX) {
		snprintf(row->function, sizeof(row->function), "%s", function);
		snprintf(row->service, sizeof(row->service), "%s", service);
	} else {
		strcpy(row->function, CALL_COUNTS_OTHER);
	}
	return row;
}

void call_counts__add(struct call_counts *c, const struct profile_process *p,
		      const struct profile_call *call)
{
	const char *service = process__label(p, "service");
	char function[PROFILE_CALL_NAME], of[CALL_COUNTS_SERVICE];
	struct call_count *row;
	uint32_t bucket = 0;

	if (!call->ended || call->cut)
		return;
	snprintf(function, sizeof(function), "%s", call->name);
	snprintf(of, sizeof(of), "%s", service ? service : "");
	/* rows must differ as metrics show them; these may have been cut in a character, too */
	utf8__tame(function);
	utf8__tame(of);
	row = counts__row(c, function, of);
	while (bucket < CALL_BUCKETS && call__ns(call) > bucket_ms[bucket] * NS_PER_MS)
		bucket++;
	row->calls[bucket]++;
	row->sum += call__ns(call);
}
