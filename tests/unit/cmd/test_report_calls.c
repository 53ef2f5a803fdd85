/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --calls`, `--slower`, `--by` and `--json`: single calls and labels in files. */
#include "base/buf.h"
#include "base/clock.h"
#include "command.h"
#include "output/outputs.h"
#include "stack_maker.h"

#define BEGAN UINT64_C(5000000000) /* CLOCK_MONOTONIC */

static const struct profile_process process = {.serial = 1, .pid = 10, .comm = "R"};
static struct sink sink;

static void sample(const struct profile_call *call, uint32_t type, uint64_t weight,
		   const char *function)
{
	const struct profile_label route = {"route", function};
	const struct frame *frame = stack__frame(FRAME_R, function, NULL, 0);
	const struct sample s = {.time = BEGAN,
				 .weight = weight,
				 .type = type,
				 .serial = 1,
				 .pid = 10,
				 .tid = 10,
				 .call = call,
				 .labels = &route,
				 .nlabels = call && call->id <= 10,
				 .stack = stack__of(1, &frame, NULL, 0)};

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

/*
 * calls.pb.gz: ten of `deal`, 10 to 100 ms, with a label, and one of `wait`, in which another of it
 * runs.
 */
static void calls__make(void)
{
	static const struct profile_about about = {
		.freq = 100,
		.clock = "cpu",
		.engine = "bpf",
		.began = BEGAN,
		.began_real = 1000000000 * NS_PER_S,
		.types = {[PROFILE_TYPE_OFF_CPU] = {"off_cpu", PROFILE_NANOSECONDS}}};
	struct profile_call wait = call(21, "wait", 2000, 700), inner = call(22, "wait", 2100, 500);
	struct outputs_config to = {.path = "calls.pb.gz",
				    .format = formats__find("pprof"),
				    .memory = 16 << 20,
				    .max_file = 1 << 20};
	struct stats stats = {.seconds = 60, .written = 10};
	struct outputs *ss;

	tap__bail_if(files__start(&to.files, FILES_NONE, NULL) || outputs__new(&ss, &to),
		     "no memory");
	sink = outputs__sink(ss);
	tap__bail_if(sink__begin(&sink, &about), "%s", sink__why(&sink)->text);
	for (unsigned int i = 1; i <= 10; i++) {
		struct profile_call deal = call(i, "deal", 100 * i, 10 * i);

		deal.cut = i == 1;
		sample(&deal, PROFILE_TYPE_TICKS, i, i > 5 ? "slow" : "fast");
	}
	inner.outer = &wait;
	inner.ended = 0;
	inner.request = "GET /a";
	sample(&wait, PROFILE_TYPE_OFF_CPU, 200 * NS_PER_MS, "sleep");
	sample(&inner, PROFILE_TYPE_OFF_CPU, 500 * NS_PER_MS, "sleep");
	sample(NULL, PROFILE_TYPE_TICKS, 3, "main");
	tap__bail_if(sink__finish(&sink, &stats), "%s", sink__why(&sink)->text);
	outputs__free(ss);
	files__stop(to.files);
}

static void test_table(void)
{
	static const char out[] =
		"calls.pb.gz: 12 calls of 2 functions, 1 cut (they began before the profile), "
		"1 running at its end\n"
		"Calls shorter than 10.0 ms, the time between two samples, are found only by "
		"chance.\n"
		"CALLS     TOTAL    MEDIAN       P90       P99       MAX       CPU   WAITING  "
		"FUNCTION\n"
		"    2    700 ms    500 ms    700 ms    700 ms    700 ms         0    700 ms  "
		"wait\n"
		"   10    550 ms   50.0 ms   90.0 ms    100 ms    100 ms    550 ms         0  "
		"deal\n"
		"\n"
		"START                    DURATION        +-       CPU   WAITING      PID  "
		"FUNCTION\n"
		"2001-09-09 01:46:42.000    700 ms    4.0 ms         0    700 ms       10  wait\n"
		"2001-09-09 01:46:42.100    500 ms    4.0 ms         0    500 ms       10  "
		"wait  GET /a [running]\n"
		"2001-09-09 01:46:41.000    100 ms    4.0 ms    100 ms         0       10  deal\n"
		"and 9 more (--top 0 prints all)\n";

	setenv("TZ", "UTC0", 1);
	run("report --calls calls.pb.gz -n 3");
	tap__is(out_text, out, "functions, and the slowest calls");
	run("report calls.pb.gz -o again.pb.gz");
	run("report --calls again.pb.gz -n 3");
	tap__ok(!strncmp(out_text, "again", 5) && !strcmp(out_text + 5, out + 5),
		"a profile that is written again has the same calls");
	run("report --calls calls.pb.gz calls.pb.gz");
	tap__ok(strstr(out_text, ": 12 calls of 2 functions"), "in two files a call is one");
	run("report again.pb.gz -o third.pb.gz");
	run("report --calls calls.pb.gz again.pb.gz third.pb.gz");
	tap__ok(strstr(out_text, ": 12 calls of 2 functions"), "in files written again, too: %s",
		out_text);
}

static void test_slower(void)
{
	tap__ok(run("report --slower 60ms calls.pb.gz -f folded") == CMD_OK &&
			!strcmp(out_text, "slow 40\n"),
		"samples of slow calls, and of calls in them: %s", out_text);
	run("report --slower 60ms calls.pb.gz --sample-type off_cpu -f folded");
	tap__is(out_text, "sleep 700000000\n", "of other sample types, too");
	tap__ok(run("report --slower 0.6s --calls calls.pb.gz") == CMD_OK &&
			strstr(out_text, ": 2 calls of 1 function,"),
		"and calls: %s", out_text);
	tap__ok(run("report --slower 1s calls.pb.gz") == CMD_FAILED &&
			strstr(err_text, "no call lasted as long"),
		"there is none: %s", err_text);
	tap__write("no.folded", "f 3\n", 4);
	tap__ok(run("report --slower 1s no.folded") == CMD_FAILED &&
			strstr(err_text, "record with --calls"),
		"a profile without calls: %s", err_text);
	tap__ok(run("report --calls no.folded") == CMD_FAILED &&
			strstr(err_text, "record with --calls"),
		"--calls: %s", err_text);
}

static void test_json(void)
{
	static const char *const calls[] = {
		"{\"schema\": 1, \"files\": \"calls.pb.gz\", \"period_ms\": 10",
		"\"calls\": [{\"function\": \"wait\", \"calls\": 2, \"total_s\": 0.7",
		"\"median_ms\": 50, \"p90_ms\": 90, \"p99_ms\": 100, \"max_ms\": 100, "
		"\"cpu_s\": 0.55",
		"\"slowest\": [{\"function\": \"wait\", \"start\": \"2001-09-09T01:46:42.000Z\", "
		"\"ms\": 700, \"error_ms\": 4,",
		"\"running\": true, \"ambiguous\": false, \"pid\": 10, \"process\": \"R\", "
		"\"request\": \"GET /a\", \"labels\": {}}",
		"\"request\": null, \"labels\": {\"route\": \"slow\"}}",
	};
	static const char *const rows[] = {
		"{\"schema\": 1, \"by\": \"function\", \"type\": \"cpu\", \"unit\": \"samples\", "
		"\"profiles\": [{\"files\": \"calls.pb.gz\", \"total\": 58, \"seconds\": 0.58",
		"{\"name\": \"main\", \"self\": 3, \"total\": 3}",
	};

	run("report --calls --json calls.pb.gz");
	for (size_t i = 0; i < COUNT(calls); i++)
		if (!tap__ok(strstr(out_text, calls[i]), "calls: %s", calls[i]))
			tap__diag("%s", out_text);
	run("report --json calls.pb.gz");
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!tap__ok(strstr(out_text, rows[i]), "functions: %s", rows[i]))
			tap__diag("%s", out_text);
	run("report --json --diff calls.pb.gz calls.pb.gz");
	tap__ok(strstr(out_text, "{\"name\": \"main\", \"before\": {\"self\": 3, \"total\": 3}, "
				 "\"after\": {\"self\": 3, \"total\": 3}}"),
		"a difference");
	tap__ok(run("report --json-schema") == CMD_OK && strstr(out_text, "\"$defs\""),
		"the schema needs no file");
}

/* Labels of samples, and what is known of processes. */
static void test_by(void)
{
	static const char routes[] = "   SAMPLES     SECONDS       %  route\n"
				     "        40        0.40    69.0  slow\n"
				     "        15        0.15    25.9  fast\n"
				     "         3        0.03     5.2  (none)\n";

	run("report --by route calls.pb.gz");
	tap__is(out_text, routes, "the shares of a label's values");
	run("report calls.pb.gz -o again.pb.gz");
	run("report --by route again.pb.gz");
	tap__is(out_text, routes, "the same in a profile that is written again");
	run("report --by route --json --top 1 calls.pb.gz");
	tap__is(out_text,
		"{\"schema\": 1, \"by\": \"route\", \"rows\": [{\"value\": \"slow\", "
		"\"samples\": 40, \"seconds\": 0.4}]}\n",
		"as JSON");
	run("report --by route --sample-type off_cpu calls.pb.gz");
	tap__ok(strstr(out_text, "         2        0.70   100.0  (none)\n"),
		"of another sample type: %s", out_text);
	run("report --by pid calls.pb.gz");
	tap__ok(strstr(out_text, "        58        0.58   100.0  10\n"), "by process: %s",
		out_text);
}

static void test_usage(void)
{
	static const char *const bad[] = {
		"--calls -f folded", "--json -o x.html", "--calls --diff calls.pb.gz",
		"--calls --lines",   "--slower 0",	 "--slower soon",
	};

	for (size_t i = 0; i < COUNT(bad); i++)
		tap__ok(run("report calls.pb.gz %s", bad[i]) == CMD_USAGE, "%s: %s", bad[i],
			err_text);
}

TEST(report_calls)
{
	tap__bail_if(chdir(tap__folder()), "no folder in /tmp");
	calls__make();
	test_table();
	test_slower();
	test_json();
	test_by();
	test_usage();
}
