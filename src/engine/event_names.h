/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of --event: what they ask for, as far as the name alone shows it.  Each kind is a row
 * of a table in event_names.c.
 */
#ifndef XR_ENGINE_EVENT_NAMES_H
#define XR_ENGINE_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "base/errmsg.h"

enum event_kind {
	EVENT_PERF,	  /* one of perf's events: counted by the CPU, or by the kernel */
	EVENT_TRACEPOINT, /* a place that the kernel names */
	EVENT_UPROBE,	  /* an instruction of a file */
	EVENT_USDT,	  /* a place, or several, that a file names */
	EVENT_GC,	  /* a collection of R's garbage */
	EVENT_KINDS
};

#define EVENT_TEXT_MAX 256u /* bytes of what the user writes: it stands in lines of errors */

/* A part of what the user wrote: borrowed, not terminated. */
struct event_part {
	const char *at;
	uint32_t len;
};

/* One event.  What a kind does not have is 0. */
struct event_name {
	const char *text; /* as the user wrote it; borrowed */
	enum event_kind kind;
	enum xr_unit unit; /* of the weight of its samples: COUNT, NS or BYTES */
	/* EVENT_PERF: of struct perf_event_attr */
	uint32_t type;
	uint64_t config;
	struct event_part path;	 /* of UPROBE, USDT */
	struct event_part group; /* the category of TRACEPOINT, the provider of USDT */
	struct event_part name;	 /* of TRACEPOINT, USDT; the symbol of UPROBE */
	uint64_t offset;	 /* bytes behind the symbol */
};

/* Those that were asked for, in that order. */
struct event_list {
	struct event_name all[XR_OTHERS_MAX];
	uint32_t n;
};

/*
 * event_name__parse - @text is borrowed by @e.  0, or -EINVAL with @f filled: it names no event of
 * any machine, and these are like it.
 */
int event_name__parse(struct event_name *e, const char *text, struct errmsg *f);

/* event_list__add - the same, and it is one more.  -EINVAL also: it is there, or there are too
 * many. */
int event_list__add(struct event_list *list, const char *text, struct errmsg *f);

/* event_list__capture - XR_ROW_* that rows need for these. */
uint32_t event_list__capture(const struct event_list *list);

/*
 * event_names__each - name number @i of perf's, false when there are no more: what perf calls
 * hardware and software events, and then those of caches.  @e is filled, its text static.
 */
bool event_names__each(size_t i, struct event_name *e);

/* event_part__copy - to @to as a string; false: it has no room. */
bool event_part__copy(const struct event_part *part, char *to, size_t size);

#endif
