/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/top_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Where the call of that id is among those that run, or would be. */
static size_t calls__find(const struct top_calls *c, uint64_t id)
{
	size_t from = 0, to = c->nrunning;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->running[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct top_call call__of(const struct profile_call *call, uint32_t pid)
{
	struct top_call ours = {
		.id = call->id,
		.began = call->began,
		.ended = call->ended,
		.error = call->error,
		.pid = pid,
		.cut = call->cut,
	};

	snprintf(ours.name, sizeof(ours.name), "%s", call->name);
	snprintf(ours.request, sizeof(ours.request), "%s", call->request ? call->request : "");
	return ours;
}

int top_calls__sample(struct top_calls *c, const struct profile_call *call, uint32_t pid)
{
	for (; call; call = call->outer) {
		size_t at = calls__find(c, call->id);

		if (at < c->nrunning && c->running[at].id == call->id) {
			c->running[at] = call__of(call, pid);
			continue;
		}
		if (c->nrunning == TOP_CALLS_RUNNING)
			continue;
		if (array__room(&c->running, c->nrunning, &c->cap, sizeof(*c->running)))
			return -ENOMEM;
		memmove(&c->running[at + 1], &c->running[at],
			(c->nrunning++ - at) * sizeof(*c->running));
		c->running[at] = call__of(call, pid);
	}
	return 0;
}

static void calls__slow(struct top_calls *c, const struct top_call *call)
{
	size_t at = c->nslow;

	while (at && top_call__ns(c, &c->slow[at - 1]) < top_call__ns(c, call))
		at--;
	if (at == TOP_CALLS_SHOWN)
		return;
	if (c->nslow < TOP_CALLS_SHOWN)
		c->nslow++;
	memmove(&c->slow[at + 1], &c->slow[at], (c->nslow - 1 - at) * sizeof(*c->slow));
	c->slow[at] = *call;
}

void top_calls__call(struct top_calls *c, const struct profile_call *call, uint32_t pid)
{
	size_t at = calls__find(c, call->id);
	struct top_call ours;

	if (!call->ended)
		return;
	if (at < c->nrunning && c->running[at].id == call->id)
		memmove(&c->running[at], &c->running[at + 1],
			(--c->nrunning - at) * sizeof(*c->running));
	ours = call__of(call, pid);
	c->ended++;
	calls__slow(c, &ours);
}

void top_calls__second(struct top_calls *c, uint64_t now)
{
	size_t kept = 0;

	c->now = now;
	for (size_t i = 0; i < c->nslow; i++)
		if (c->slow[i].ended + TOP_CALLS_NS > now)
			c->slow[kept++] = c->slow[i];
	c->nslow = kept;
}

size_t top_calls__shown(const struct top_calls *c, bool ended,
			const struct top_call *to[TOP_CALLS_SHOWN])
{
	size_t n = 0;

	for (; ended && n < c->nslow; n++)
		to[n] = &c->slow[n];
	for (size_t i = 0; !ended && i < c->nrunning; i++) {
		const struct top_call *call = &c->running[i];
		size_t at = n;

		while (at && to[at - 1]->began > call->began)
			at--;
		if (at == TOP_CALLS_SHOWN)
			continue;
		if (n < TOP_CALLS_SHOWN)
			n++;
		memmove(&to[at + 1], &to[at], (n - 1 - at) * sizeof(*to));
		to[at] = call;
	}
	return n;
}

uint64_t top_call__ns(const struct top_calls *c, const struct top_call *call)
{
	const uint64_t end = call->ended ? call->ended : c->now;

	return end > call->began ? end - call->began : 0;
}

void top_calls__free(struct top_calls *c)
{
	free(c->running);
	*c = (struct top_calls){0};
}
