/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/serve_status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "os/os.h"
#include "os/proc.h"
#include "serve/linux/usage.h"

struct governor_use serve_status__use(const struct session *s, pid_t front, uint64_t now)
{
	struct session_gauges gauges;
	uint64_t its = 0, own, sampled;

	session__gauges(s, &gauges);
	if (front && proc__use(front, &its, NULL))
		its = 0;
	own = usage__cpu() + gauges.workers_ns + its;
	sampled = gauges.sampled_ns < own ? gauges.sampled_ns : own;
	return (struct governor_use){
		.now_ns = now,
		.samples_ns = gauges.kernel_ns + sampled,
		.own_ns = own - sampled,
	};
}

static void word__copy(char *to, const char *from)
{
	snprintf(to, STATUS_WORD, "%s", from ? from : "");
}

void serve_status__fill(struct sampler_status *s, const struct serve_parts *parts)
{
	const struct profile_about *about = intervals__about(parts->intervals);
	const struct intervals_counts intervals = intervals__counts(parts->intervals);
	struct session_gauges gauges;

	*s = (struct sampler_status){0};
	session__stats(parts->session, &s->stats);
	session__gauges(parts->session, &gauges);
	word__copy(s->engine, about->engine);
	word__copy(s->event, about->event);
	word__copy(s->clock, about->clock);
	s->stats.engine = s->stats.event = NULL;
	s->stats.stacks_dropped = intervals.stackless;
	s->freq_asked = parts->options->o.config.freq;
	s->freq_now = gauges.freq;
	s->uptime = (double)(os__now() - parts->counts->began) / (double)NS_PER_S;
	s->max_cpu = parts->options->max_cpu;
	s->cpu_samples = parts->governor->samples;
	s->kernel_ns = gauges.kernel_ns;
	s->lowered = parts->governor->lowered;
	s->processes = gauges.processes;
	s->max_processes = gauges.max_processes;
	s->stacks = intervals.stacks;
	s->max_stacks = parts->options->max_stacks;
	s->names = gauges.names;
	s->max_memory = gauges.max_names;
	s->intervals = intervals.ended;
	s->intervals_dropped = intervals.dropped;
	s->samples_dropped = intervals.dropped_samples;
	s->reloads = parts->counts->reloads;
	s->reload_failures = parts->counts->reload_failures;
	s->front_restarts = parts->counts->front_restarts;
	s->cpu_ns = usage__cpu();
	s->workers_ns = gauges.workers_ns;
	s->resident = usage__resident();
	snprintf(s->starved, sizeof(s->starved), "%s", gauges.starved ? gauges.starved : "");
}

_Static_assert(sizeof(struct front_status) <= CHANNEL_BACK_MAX, "it has to fit into a message");

int serve_status__came(struct front_status *front, const void *data, uint64_t size)
{
	if (size != sizeof(*front))
		return -EBADMSG;
	memcpy(front, data, sizeof(*front));
	for (size_t i = 0; i < WAYS; i++)
		front->ways[i].error[sizeof(front->ways[i].error) - 1] = '\0';
	return 0;
}

static void way__say(const char *name, const struct way_status *way, char *line, size_t size)
{
	size_t len = strlen(line);

	snprintf(line + len, size - len,
		 "%s%s: %llu %s, %llu bytes; %llu %s failed, %llu %s with %llu %s dropped, "
		 "%llu waiting%s%s",
		 len ? "; " : "", name, (unsigned long long)way->sent,
		 count__word(way->sent, "profile", "profiles"), (unsigned long long)way->size,
		 (unsigned long long)way->failed, count__word(way->failed, "attempt", "attempts"),
		 (unsigned long long)way->dropped, count__word(way->dropped, "profile", "profiles"),
		 (unsigned long long)way->dropped_samples,
		 count__word(way->dropped_samples, "sample", "samples"),
		 (unsigned long long)way->waiting, *way->error ? ": " : "", way->error);
}

void serve_status__front(const struct serve_options *options, const struct front_status *front,
			 char *line, size_t size)
{
	*line = '\0';
	for (size_t i = 0; i < WAYS; i++)
		if (options->front.to[i])
			way__say(way__name(i), &front->ways[i], line, size);
	if (options->front.listen) {
		size_t len = strlen(line);

		snprintf(line + len, size - len, "%s%llu %s answered, %llu of them refused",
			 len ? "; " : "", (unsigned long long)front->requests,
			 count__word(front->requests, "request", "requests"),
			 (unsigned long long)front->refused);
	}
}
