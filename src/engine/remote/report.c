/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/report.h"

#include <stdio.h>

#include "os/os.h"

void remote_report__open(struct remote_report *r, const struct engine_config *config)
{
	*r = (struct remote_report){.config = *config};
}

void remote_report__begin(struct remote_report *r, engine_sink sink, void *arg)
{
	r->sink = sink;
	r->sink_arg = arg;
	r->delivered = 0;
}

void remote_report__record(void *arg, const void *record, size_t size)
{
	struct remote_report *r = arg;

	r->sink(r->sink_arg, record, size);
	r->delivered++;
}

static void report__tick(struct remote_report *r, struct remote_walk *rw,
			 const struct xr_sample *like, int result)
{
	r->counts[XR_TICKS]++;
	if (result < 0) {
		r->counts[-result]++;
		if (result == -XR_NO_R_FRAMES)
			remote_walk__send_none(rw, like);
		return;
	}
	remote_walk__send(rw, like);
	r->counts[XR_WRITTEN]++;
	r->counts[XR_TRUNCATED] += result > 0;
	r->counts[XR_OVER_BUDGET] += result > 0 && remote_walk__over(rw);
	if (remote_walk__native(rw))
		remote_native__count(remote_walk__native(rw), r->counts);
	r->counts[XR_UNWIND_MOVED] += remote_walk__lacks_native(rw);
}

void remote_report__sample(struct remote_report *r, struct remote_walk *rw, uint32_t pid,
			   uint32_t tid, int result, uint32_t ticks)
{
	const struct xr_sample like = {
		.time = os__now(),
		.weight = 1,
		.unit = XR_UNIT_TICKS,
		.pid = pid,
		.tid = tid,
		.flags = result > 0 ? XR_F_TRUNCATED : 0,
	};

	while (ticks--)
		report__tick(r, rw, &like, result);
}

void remote_report__other(struct remote_report *r, struct remote_walk *rw, uint32_t pid,
			  uint32_t tid, uint32_t flags)
{
	const struct xr_sample like = {
		.time = os__now(),
		.weight = 1,
		.unit = XR_UNIT_TICKS,
		.pid = pid,
		.tid = tid,
		.flags = XR_F_OTHER_THREAD | flags,
	};

	r->counts[XR_TICKS]++;
	remote_walk__send(rw, &like);
	r->counts[XR_WRITTEN]++;
	r->counts[XR_OTHER_THREAD]++;
	if (remote_walk__native(rw))
		remote_native__count(remote_walk__native(rw), r->counts);
}

void remote_report__process(struct remote_report *r, const struct xr_row *row,
			    enum xr_process_event event, const struct xr_row *parent,
			    const char comm[16])
{
	struct xr_process p = {
		.head = {.type = XR_REC_PROCESS, .size = sizeof(p)},
		.time = os__now(),
		.event = event,
		.serial = row->serial,
		.pid = row->pid,
		.parent_serial = parent ? parent->serial : 0,
		.parent_pid = parent ? parent->pid : 0,
	};

	snprintf(p.comm, sizeof(p.comm), "%.15s", comm);
	remote_report__record(r, &p, sizeof(p));
}

void remote_report__free_walk(struct remote_report *r, struct remote_walk *rw)
{
	if (rw)
		r->texts += remote_walk__texts(rw);
	remote_walk__free(rw);
}
