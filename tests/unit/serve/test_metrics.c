/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metrics: each has its HELP and TYPE once, before it; values arrive. */
#include "serve/metrics.h"
#include "base/clock.h"
#include "base/version.h"
#include "serve/call_counts.h"
#include "tap.h"

static char *metrics(const struct sampler_status *s, const struct front_status *front,
		     struct metrics_ways ways)
{
	struct buf out = {0};

	if (metrics__text(&out, s, front, ways) || buf__add(&out, "", 1))
		abort();
	return out.data;
}

static bool has(const char *text, const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	return strstr(text, whole);
}

TEST(values)
{
	static const char *const lines[] = {
		"xrprof_ticks_total{outcome=\"bad_head\"} 500",
		"xrprof_build_info{version=\"" XR_VERSION
		"\",engine=\"bpf\",event=\"cycles\",clock=\"cpu\"} 1",
		"xrprof_truncated_samples_total 3",
		"xrprof_stackless_samples_total 9",
		"xrprof_longest_sample_seconds 0.000062500",
		"xrprof_sampling_cpu_seconds_total 12.000000034",
		"xrprof_process_cpu_seconds_total{process=\"sampler\"} 18446744073.709551615",
		"xrprof_asked_rate_hertz 19",
		"xrprof_rate_hertz 10",
		"xrprof_sampling_cpu_limit_ratio 0.010000000",
		"xrprof_sampling_cpu_ratio 0.002500000",
		"xrprof_processes 5",
		"xrprof_processes_limit 1000",
		"xrprof_innermost_line_processes_total{known=\"unproven\"} 6",
		"xrprof_dropped_samples_total{destination=\"otlp\"} 42",
		"xrprof_dropped_samples_total{destination=\"directory\"} 0",
		"xrprof_last_sent_timestamp_seconds{destination=\"otlp\"} 1795313542.500000000",
		"xrprof_directory_files 9",
		"xrprof_dropped_interval_samples_total 11",
		"xrprof_unwritten_samples_total 11",
	};
	struct sampler_status s = {.engine = "bpf", .event = "cycles", .clock = "cpu"};
	struct front_status front = {0};
	unsigned int outcomes = 0;
	uint64_t sum = 0;
	char *text;

	for (unsigned int i = 0; i < XR_ERRORS; i++)
		sum += s.stats.rows[i] = (i + 1) * 100;
	s.stats.rows[XR_WRITTEN] += 7;
	s.stats.written = 100; /* as counted in the end, and so is what was lost on the way */
	s.stats.lost = s.stats.rows[XR_LOST] + 7;
	s.stats.ticks = sum + 7;
	s.stats.truncated = 3;
	s.stats.stacks_dropped = 4;
	s.stats.decoder.stacks_dropped = 5;
	s.stats.longest_us = 62.5;
	s.freq_asked = 19;
	s.freq_now = 10;
	s.max_cpu = 0.01;
	s.cpu_samples = 0.0025;
	s.kernel_ns = 12000000034;
	s.processes = 5;
	s.stats.hidden.lines_unproven = 8; /* of two that run it may still be proven */
	s.stats.settled.lines_unproven = 6;
	s.max_processes = 1000;
	s.uptime = 3600.25;
	s.samples_dropped = 11;
	s.cpu_ns = UINT64_C(18446744073709551615);
	front.ways[WAY_OTLP].dropped_samples = 42;
	front.ways[WAY_OTLP].last = UINT64_C(1795313542500000000);
	front.ways[WAY_STORE].kept = 9;
	text = metrics(&s, &front,
		       (struct metrics_ways){.has = {[WAY_STORE] = true, [WAY_OTLP] = true}});
	sum = 0;
	for (const char *at = text; (at = strstr(at, "\nxrprof_ticks_total{")); at++, outcomes++)
		sum += strtoull(strchr(at, '}') + 1, NULL, 10);
	tap__ok(outcomes == XR_ERRORS && sum == s.stats.ticks,
		"%u outcomes, whose sum is that of all ticks", outcomes);
	for (size_t i = 0; i < COUNT(lines); i++)
		tap__ok(has(text, lines[i]), "a line is: %s", lines[i]);
	tap__ok(!strstr(text, "pyroscope") && !strstr(text, "spool_bytes{destination=\"directory"),
		"nothing of what was not asked for");
	free(text);
	s.max_cpu = 0;
	text = metrics(&s, &front, (struct metrics_ways){0});
	tap__ok(!strstr(text, "limit_ratio") && !strstr(text, "destination"),
		"no limit, and no way out");
	free(text);
}

TEST(strange)
{
	struct sampler_status s = {.engine = "a\"b\\c\nd\377e"};
	struct front_status front = {0};
	char *text;

	s.uptime = -1;
	s.cpu_samples = 0.0 / 0.0;
	s.stats.longest_us = 1e300;
	memset(s.event, 'x', sizeof(s.event) - 1);
	text = metrics(&s, &front, (struct metrics_ways){0});
	tap__ok(strstr(text, "engine=\"a\\\"b\\\\c\\nd?e\""), "a label is escaped");
	tap__ok(strstr(text, "event=\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\""), "and whole");
	tap__ok(has(text, "xrprof_uptime_seconds 0.000000000") &&
			has(text, "xrprof_sampling_cpu_ratio 0.000000000"),
		"what cannot be is 0");
	tap__ok(has(text, "xrprof_longest_sample_seconds 1000000000.000000000"), "or a limit");
	free(text);
}

/* Each family is there once, with HELP and TYPE before its samples. */
TEST(form)
{
	struct sampler_status s = {.engine = "bpf"};
	struct front_status front = {0};
	char *text = metrics(&s, &front, (struct metrics_ways){.has = {true, true, true}}),
	     *rest = text;
	char family[128] = "", want[160];
	unsigned int families = 0, bad = 0;

	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		if (sscanf(line, "# HELP %127s", family) == 1) {
			families++;
			line = strsep(&rest, "\n");
			snprintf(want, sizeof(want), "# TYPE %s ", family);
			bad += strncmp(line, want, strlen(want)) != 0;
			snprintf(want, sizeof(want), "# HELP %s ", family);
			bad += rest && strstr(rest, want);
			continue;
		}
		bad += strncmp(line, family, strlen(family)) ||
		       !strchr(" {", line[strlen(family)]) || !strrchr(line, ' ');
	}
	tap__ok(families > 60 && !bad, "%u families, %u lines that are wrong", families, bad);
	free(text);
}

/* Calls of 3 to 20,000 ms of a function of the service, and one that is not counted. */
static void calls_of(struct call_counts *c, const char *function, const char *service)
{
	static const uint32_t ms[] = {3, 10, 11, 700, 20000};
	const struct profile_label label = {"service", service};
	const struct profile_process p = {.labels = &label, .nlabels = service ? 1 : 0};
	struct profile_call call = {.name = function, .began = NS_PER_S};

	for (size_t i = 0; i < COUNT(ms); i++) {
		call.ended = call.began + ms[i] * NS_PER_MS;
		call_counts__add(c, &p, &call);
	}
	call.cut = true;
	call_counts__add(c, &p, &call);
	call.cut = false;
	call.ended = 0;
	call_counts__add(c, &p, &call);
}

TEST(calls)
{
	static struct call_counts c;
	struct sampler_status s = {.engine = "bpf"};
	struct front_status front = {0};
	char *text, name[32];

	calls_of(&c, "f\"", "api");
	text = metrics(&s, &front, (struct metrics_ways){.calls = c.rows, .ncalls = c.n});
	tap__ok(has(text, "# TYPE xrprof_call_seconds histogram"), "a histogram of calls");
#define F "{function=\"f\\\"\",service=\"api\""
	tap__ok(has(text, "xrprof_call_seconds_bucket" F ",le=\"0.005\"} 1") &&
			has(text, "xrprof_call_seconds_bucket" F ",le=\"0.01\"} 2") &&
			has(text, "xrprof_call_seconds_bucket" F ",le=\"0.025\"} 3") &&
			has(text, "xrprof_call_seconds_bucket" F ",le=\"0.5\"} 3") &&
			has(text, "xrprof_call_seconds_bucket" F ",le=\"10\"} 4") &&
			has(text, "xrprof_call_seconds_bucket" F ",le=\"+Inf\"} 5"),
		"buckets add up; a bound is in its bucket");
	tap__ok(has(text, "xrprof_call_seconds_sum" F "} 20.724000000") &&
			has(text, "xrprof_call_seconds_count" F "} 5"),
		"the sum, and how many: of those that ended and were seen from their beginning");
#undef F
	free(text);
	for (uint32_t i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		calls_of(&c, name, NULL);
	}
	text = metrics(&s, &front, (struct metrics_ways){.calls = c.rows, .ncalls = c.n});
	tap__ok(c.n == CALL_COUNTS_MAX + 1 &&
			has(text, "xrprof_call_seconds_count{function=\"f98\",service=\"\"} 5") &&
			!strstr(text, "f99"),
		"of many functions the first 100 have their own");
	tap__ok(has(text, "xrprof_call_seconds_count{function=\"other\",service=\"\"} 255"),
		"and the others one together");
	free(text);
	c.n = 0;
#define CUT "12345678901234567890123456789012345678901234567890123456789012"
	calls_of(&c, "f\xe9", CUT "\u00e9");
	calls_of(&c, "f\xe8", CUT "\u20ac");
#undef CUT
	tap__ok(c.n == 1, "names that only bytes tell apart that cannot be shown are one series");
}
