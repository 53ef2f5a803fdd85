/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --calls`, `--slower`, `--by` and `--json`: single calls and labels in files. */
#include "base/buf.h"
#include "base/clock.h"
#include "command.h"
#include "report_file.h"

#define BEGAN UINT64_C(5000000000) /* CLOCK_MONOTONIC */

static const struct profile_process process = {.serial = 1, .pid = 10, .comm = "R"};

static void sample(const struct profile_call *call, uint32_t type, uint64_t weight,
		   const char *function)
{
	const struct profile_label route = {"route", function};
	const struct sample s = {.time = BEGAN,
				 .weight = weight,
				 .type = type,
				 .serial = 1,
				 .pid = 10,
				 .tid = 10,
				 .call = call,
				 .labels = &route,
				 .nlabels = call && call->id <= 10,
				 .stack = stack__one(function)};

	tap__bail_if(sink__sample(&sink, &process, &s), "%s", sink__why(&sink)->text);
}

static struct profile_call call(uint64_t id, const char *name, uint64_t at_ms, uint64_t ms)
{
	return (struct profile_call){
		.id = id,
		.name = name,
		.began = BEGAN + at_ms * NS_PER_MS,
		.ended = BEGAN + (at_ms + ms) * NS_PER_MS,
		.seen = BEGAN + (at_ms + ms) * NS_PER_MS,
		.error = 4 * NS_PER_MS,
	};
}

static const struct profile_about about = {
	.freq = 100,
	.clock = "cpu",
	.engine = "bpf",
	.began = BEGAN,
	.began_real = 1000000000 * NS_PER_S,
	.types = {[PROFILE_TYPE_OFF_CPU] = {"off_cpu", PROFILE_NANOSECONDS}}};
static const struct stats stats = {.seconds = 60, .written = 10};

/*
 * calls.pb.gz: ten of `deal`, 10 to 100 ms, with a label, and one of `wait`, in which another of it
 * runs.
 */
BEFORE()
{
	struct profile_call wait = call(21, "wait", 2000, 700), inner = call(22, "wait", 2100, 500);

	setenv("TZ", "UTC0", 1);
	tap__bail_if(chdir(tap__folder()), "no folder");
	file__begin("calls.pb.gz", &about);
	for (unsigned int i = 1; i <= 10; i++) {
		struct profile_call deal = call(i, "deal", 100 * i, 10 * i);

		deal.cut = i == 1;
		sample(&deal, PROFILE_TYPE_TICKS, i, i > 5 ? "slow" : "fast");
	}
	inner.outer = &wait;
	inner.ended = 0;
	inner.request = "GET /a";
	for (int i = 0; i < 2; i++)
		sample(&wait, PROFILE_TYPE_OFF_CPU, 100 * NS_PER_MS, "sleep");
	sample(&inner, PROFILE_TYPE_OFF_CPU, 500 * NS_PER_MS, "sleep");
	sample(NULL, PROFILE_TYPE_TICKS, 3, "main");
	file__finish(&stats);
}

TEST(table)
{
	static char first[sizeof(out_text)];

	report("--calls calls.pb.gz -n 3");
	snprintf(first, sizeof(first), "%s", strchr(out_text, ':'));
	tap__golden("report_calls.txt");
	run("report calls.pb.gz -o again.pb.gz");
	run("report --calls again.pb.gz -n 3");
	tap__is(strchr(out_text, ':'), first, "a profile that is written again has the same calls");
	/* in two files a call is one, in files written again, too */
	run("report again.pb.gz -o third.pb.gz");
	gives(CMD_OK, ": 12 calls of 2 functions", NULL, "report --calls calls.pb.gz calls.pb.gz");
	gives(CMD_OK, ": 12 calls of 2 functions", NULL,
	      "report --calls calls.pb.gz again.pb.gz third.pb.gz");
}

/* Samples of slow calls and of calls in them, of other sample types too, and calls. */
TEST(slower)
{
	file__text("no.folded", "f 3\n");
	report("--slower 60ms calls.pb.gz -f folded");
	report("--slower 60ms calls.pb.gz --sample-type off_cpu -f folded");
	report("--slower 0.6s --calls calls.pb.gz");
	file__text("Rprof.11.out", "sample.interval=10000\n\"f\" \n");
	report("--slower 60ms calls.pb.gz Rprof.11.out");
	report("--slower 1s calls.pb.gz");
	report("--slower 1s no.folded");
	report("--calls no.folded");
	tap__golden("report_slower.txt");
}

/* A call goes on in the next interval, and is slow there alone. */
TEST(slower_intervals)
{
	struct profile_call deal = call(1, "deal", 0, 20);

	tap__bail_if(mkdir("store", 0700), "no directory");
	deal.ended = 0;
	file__begin("store/20261122T021000Z-60.pb.gz", &about);
	sample(&deal, PROFILE_TYPE_TICKS, 2, "first");
	file__finish(&stats);
	deal = call(1, "deal", 0, 140);
	file__begin("store/20261122T021100Z-60.pb.gz", &about);
	sample(&deal, PROFILE_TYPE_TICKS, 12, "second");
	file__finish(&stats);
	run("report --dir store --slower 100ms -f folded");
	tap__ok(strstr(out_text, "first 2\n") && strstr(out_text, "second 12\n"),
		"it has the samples of both: %s", out_text);
}

TEST(json)
{
	report("--calls --json calls.pb.gz");
	report("--json calls.pb.gz");
	report("--json --diff calls.pb.gz calls.pb.gz");
	tap__golden("report_calls.json");
	gives(CMD_OK, "\"$defs\"", NULL, "report --json-schema");
}

/* Labels of samples, and what is known of processes. */
TEST(by)
{
	report("--by route calls.pb.gz");
	run("report calls.pb.gz -o again.pb.gz");
	report("--by route again.pb.gz");
	report("--by route --json --top 1 calls.pb.gz");
	report("--by route --sample-type off_cpu calls.pb.gz");
	report("--by route --sample-type off_cpu again.pb.gz");
	report("--by pid calls.pb.gz");
	file__text("no.folded", "f 3\n");
	report("--by pid no.folded");
	file__text("memory.out", "memory profiling: sample.interval=10000\n"
				 ":0:5:0:0:\"f\" \n:0:1005:0:0:\"f\" \n");
	report("--by pid --sample-type alloc_space memory.out");
	report("--by pid --sample-type alloc_space --json memory.out");
	tap__golden("report_by.txt");
}

/* 600 samples, each with another label. */
static void many__write(const char *path, int from)
{
	file__begin(path, &(struct profile_about){.freq = 100, .clock = "cpu"});
	for (int i = 0; i < 600; i++) {
		char text[16];
		const struct profile_label id = {"id", text};
		const struct sample s = {.time = BEGAN,
					 .weight = 1,
					 .serial = 1,
					 .pid = 10,
					 .labels = &id,
					 .nlabels = 1,
					 .stack = stack__one("f")};

		snprintf(text, sizeof(text), "%d", from + i);
		tap__bail_if(sink__sample(&sink, &process, &s), "%s", sink__why(&sink)->text);
	}
	file__finish(&(struct stats){.seconds = 6, .written = 600});
}

/* A file has 1,000 different labels, several have more. */
TEST(by_many)
{
	many__write("1.pb.gz", 0);
	many__write("2.pb.gz", 600);
	gives(CMD_OK, "\nand 1199 more", "", "report --by id --top 1 1.pb.gz 2.pb.gz");
	gives(-1, NULL, "too many different labels", "report 1.pb.gz 2.pb.gz -o 3.pb.gz");
}

/* Waiting of a profile behind an Rprof.out, which has none, has no place in another one. */
TEST(behind_rprof)
{
	file__text("f.out", "sample.interval=10000\n\"f\" \n");
	gives(-1, NULL, "3 samples of other sample types left out",
	      "report f.out calls.pb.gz -f rprof");
}

TEST(usage)
{
	static const char *const bad[] = {
		"--calls -f folded", "--json -o x.html", "--calls --diff calls.pb.gz",
		"--calls --lines",   "--slower 0",	 "--slower soon",
	};

	for (size_t i = 0; i < COUNT(bad); i++)
		tap__ok(run("report calls.pb.gz %s", bad[i]) == CMD_USAGE, "%s: %s", bad[i],
			err_text);
}
