/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples at events: what goes with --event and --period, and what does not. */
#include <errno.h>

#include "cmd/options.h"

int options__event(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	(void)row;
	return event_list__add(place, arg, f);
}

/* A format with one number for a stack takes one sample type; what has no format takes all. */
static int options__one_type(const struct config *c, struct errmsg *f)
{
	const uint32_t types = c->events.n + !!(c->capture & XR_ROW_OFF_CPU);

	if (types <= 1 || !c->format || c->format->types)
		return 0;
	return errmsg__set(f, -EINVAL,
			   "format %s has one number for a stack, and this needs several: give -f "
			   "pprof, speedscope or flamegraph",
			   c->format->name);
}

int options__events(const struct config *c, struct errmsg *f)
{
	if (c->period && !c->events.n)
		return errmsg__set(f, -EINVAL, "--period needs --event");
	if (!c->events.n)
		return 0;
	if (c->engine && !c->engine->events)
		return errmsg__set(f, -EINVAL,
				   "engine %s does not sample at events: --event needs engine bpf",
				   c->engine->name);
	if (c->clock == ENGINE_CLOCK_WALL)
		return errmsg__set(f, -EINVAL,
				   "--clock wall and --event exclude each other: use --off-cpu, "
				   "which adds waiting as a sample type");
	if (c->calls.n)
		return errmsg__set(f, -EINVAL,
				   "--calls times calls by samples of time, and --event takes "
				   "others: leave one out");
	if (options__one_type(c, f))
		return -EINVAL;
	for (uint32_t i = 0; i < c->events.n && c->period; i++)
		if (c->events.all[i].kind != EVENT_GC)
			return 0;
	if (c->period)
		return errmsg__set(
			f, -EINVAL,
			"--period does not apply to --event gc: each collection is a sample");
	return 0;
}
