/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Outputs that cannot write all: full disks, limits, readers that block. Every sample is counted.
 */
#include <sys/resource.h>

#include "encode_scene.h"
#include "layout.h"
#include "outputs_scene.h"

BEFORE()
{
	scene__start();
}

AFTER()
{
	scene__stop();
}

/* What writes files makes none longer than @size from here on. */
static void limit_files(rlim_t size)
{
	struct rlimit old, small = {size, size};

	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	files__stop(files);
	tap__bail_if(setrlimit(RLIMIT_FSIZE, &small) || files__start(&files, FILES_NONE, NULL) ||
			     setrlimit(RLIMIT_FSIZE, &old),
		     "no limit");
}

/* One file of many fails: the others go on. */
TEST(spoiled)
{
	struct stats stats = {0};
	int err;

	limit_files(4096);
	open_at("rprof", "spoiled", true);
	put(1, 10, "f");
	put(2, 20, "g");
	for (int i = 0; i < 2000; i++)
		put(1, 10, "f");
	for (int i = 0; i < 100; i++) {
		files__poll(files, 10);
		flush();
	}
	tap__ok(!put(1, 10, "f") && !put(2, 20, "h") && !end(2, 20),
		"one file that may not grow stops none of the others");
	tap__ok(becomes("spoiled/Rprof.20.out", "sample.interval=10000\n\"g\" \n\"h\" \n"),
		"they are complete");
	err = sink__finish(&sink, &stats);
	tap__ok(err == -EIO && strstr(sink__why(&sink)->text, "1 of 2 files"), "the end: %s",
		sink__why(&sink)->text);
	tap__ok(stats.unwritten == 2002 - (4096 - 22) / 5, "%llu samples are not written",
		(unsigned long long)stats.unwritten);
	outputs__free(ss);
}

/* A format that gets its profile whole, of more stacks than memory has room for. */
TEST(whole)
{
	const struct frame *frames[3800];
	struct stats stats = {.seconds = 2};
	struct sample sample = {.weight = 1};
	const struct profile_process p = {.serial = 1, .pid = 10, .comm = "R"};
	const Pprof__Profile *all;
	unsigned int n = 0;
	int64_t ticks = 0;
	const char *data;
	size_t len;

	open_by((struct outputs_config){.format = formats__find("pprof"),
					.path = tap__path("whole"),
					.memory = (16u << 20) / 6 * 32});
	put(1, 10, "f");
	put(2, 11, "f");
	put(1, 10, "f");
	flush();
	tap__ok(content_is("whole", "") && !end(1, 10) && content_is("whole", ""),
		"a format that wants the whole gets nothing before the end");
	/* stacks of different depth */
	for (; n < 800; n++) {
		stack__free_all();
		for (unsigned int i = 0; i < 3800 - n; i++)
			frames[i] = &mark_gc;
		sample.stack = stack__of(3800 - n, frames, NULL, 0);
		if (sink__sample(&sink, &p, &sample))
			break;
	}
	tap__ok(n == 800 && !sink__finish(&sink, &stats),
		"stacks that do not fit are not a failure");
	outputs__free(ss);
	tap__ok(stats.stacks_dropped > 100 && stats.stacks_dropped < 700,
		"but counted: the stacks of %llu samples",
		(unsigned long long)stats.stacks_dropped);
	data = tap__read(tap__path("whole"), &len);
	all = scene__pprof(&(struct buf){.data = (char *)(uintptr_t)data, .len = len});
	for (size_t i = 0; i < all->n_sample; i++)
		ticks += all->sample[i]->value[0];
	tap__ok(ticks == 803 && all->n_sample == 803 - stats.stacks_dropped &&
			all->duration_nanos == 2000000000,
		"and none of their ticks is lost: %lld in %zu rows", (long long)ticks,
		all->n_sample);
}

/* A reader that takes nothing: nothing waits for it, and all is counted. */
TEST(unwritten)
{
	struct outputs_config config = {.format = formats__find("rprof"), .memory = 1 << 20};
	unsigned int n = 50000, dropped = 0;
	struct stats stats = {0};
	int err;

	config.path = tap__path("pipe");
	tap__bail_if(mkfifo(config.path, 0600) || open(config.path, O_RDWR | O_CLOEXEC) < 0,
		     "no pipe");
	open_by(config);
	for (unsigned int i = 0; i < n; i++)
		dropped += put(1, 10, "a function whose name has some length") != 0;
	tap__ok(!dropped, "samples for a blocked reader are not a failure");
	clock__run(10); /* the outputs stop waiting for it */
	err = sink__finish(&sink, &stats);
	tap__ok(err == -ETIMEDOUT && strstr(sink__why(&sink)->text, config.path), "the end is: %s",
		sink__why(&sink)->text);
	tap__ok(stats.unwritten > n / 2 && stats.unwritten < n,
		"%llu of them are not written, and counted", (unsigned long long)stats.unwritten);
	outputs__free(ss);
}

/* A line that fits into the queue without the name of its file is dropped with it. */
TEST(announced)
{
	static const char *const rest[] = {"line profiling: sample.interval=10000\n#File 2: a.R\n",
					   "2#7 \"f\" \n"};
	const struct writer_ops *rprof = formats__find("rprof");
	const struct profile_process p = {.serial = 1, .pid = 10, .comm = "R"};
	const struct frame *f = MADE(.function = "f", .file = "a.R", .line = 7);

	for (int memory = 0; memory < 2; memory++) {
		const struct writer_config config = {
			.about.freq = 100, .capture = XR_ROW_LINES | (memory ? XR_ROW_MEMORY : 0)};
		const char *head = memory ? "memory profiling: " : "";
		const char *counts = memory ? ":0:0:0:0:" : "";
		struct sample s = {
			.weight = 2, .flags = XR_F_MEMORY, .stack = stack__of(1, &f, NULL, 0)};
		struct budget queue = {.max = 1 << 20};
		struct output_config to = {.files = files,
					   .path = tap__path("announced"),
					   .queue = &queue,
					   .wait_ms = 60000};
		uint64_t unwritten = 0;
		struct writer *w;
		struct output *out;
		struct errmsg why;
		char want[160];

		tap__bail_if(output__open(&out, &to, &why) || rprof->open(&w, out, &config),
			     "cannot open");
		queue.max = queue.used + 2 * (strlen(counts) + strlen(rest[1])) + 32;
		rprof->sample(w, &p, &s);
		queue.max = 1 << 20;
		s.weight = 1;
		rprof->sample(w, &p, &s);
		rprof->close(w);
		output__finish(out);
		output__close(out, &unwritten);
		snprintf(want, sizeof(want), "%s%s%s%s", head, rest[0], counts, rest[1]);
		tap__is(content("announced"), want,
			"a file is announced before the first line that has it");
		tap__ok(unwritten == 2, "%llu lines were dropped", (unsigned long long)unwritten);
	}
}

/* A sample of @weight ticks of process 1. */
static int put_ticks(uint64_t weight)
{
	const struct profile_process p = {.serial = 1, .pid = 10, .comm = "R"};
	const struct sample s = {
		.weight = weight, .serial = 1, .pid = 10, .tid = 10, .stack = stack__one("f")};

	return sink__sample(&sink, &p, &s);
}

/* Put 100 samples of @weight at @path: how many ticks are not written; *@err: of the end. */
static uint64_t put_100(const struct writer_ops *format, uint64_t weight, const char *path,
			uint64_t max_file, int *err)
{
	struct stats stats;

	if (strstr(path, "late")) /* it is not open before all samples are committed */
		clock__run(1e9);
	open_by((struct outputs_config){.format = format, .path = path, .max_file = max_file});
	clock__run(CLOCK_SLOW);
	for (unsigned int i = 0; i < 100; i++)
		put_ticks(weight);
	*err = finish_counted(&stats);
	return stats.unwritten;
}

/*
 * A sample is written when the bytes that contain it are in the file, in every format.  What is not
 * written is counted in ticks, as what was taken is: a wait may be several.
 */
TEST(full_disk)
{
	static const struct {
		const char *name;
		uint64_t max_file, rprof, folded, others; /* not written, of 100 samples */
		int err;
	} rows[] = {
		{"short", 32, 98, 0, 100, 0}, /* the head of an Rprof.out, and two lines */
		{"late", 32, 98, 0, 100, 0},
		{"/dev/full", 0, 100, 100, 100, -ENOSPC},
		{"full", 0, 100, 0, 100, -EFBIG},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *path = *rows[i].name == '/' ? rows[i].name : tap__path(rows[i].name);

		if (rows[i].err == -EFBIG)
			limit_files(20);
		for (const struct writer_ops *const *ops = formats__all(); *ops; ops++) {
			bool folded = !strcmp((*ops)->name, "folded");
			uint64_t weight = (*ops)->sample ? 1 : 3; /* 1: a line for each */
			uint64_t lost = weight * ((*ops)->sample ? rows[i].rprof
						  : folded	 ? rows[i].folded
								 : rows[i].others);
			int err;
			uint64_t n = put_100(*ops, weight, path, rows[i].max_file, &err);

			tap__ok(n == lost && err == (lost ? rows[i].err : 0),
				"%s in %s: %llu ticks are not written (%d)", (*ops)->name, path,
				(unsigned long long)n, err);
		}
	}
}

/* A sample of many ticks counts as these, whenever the error is found. */
TEST(ticks)
{
	struct stats stats;
	uint64_t news, n = 0;

	open_at("rprof", "/dev/full", false);
	put_ticks(1);
	sink__tick(&sink, 1);
	for (news = files__news(files); files__news(files) == news;)
		files__poll(files, 100);
	put_ticks(20000);
	finish_counted(&stats);
	tap__ok(stats.unwritten == 20001, "found in a sample: %llu are not written",
		(unsigned long long)stats.unwritten);

	open_by((struct outputs_config){.format = formats__find("rprof"),
					.path = tap__path("indexed"),
					.several = true,
					.index = true,
					.least = 2});
	put_ticks(3);
	put_ticks(4);
	end(1, 10);
	finish();
	tap__ok(strstr(content("indexed/index.jsonl"), "\"samples\": 7,"),
		"the index has as many as the file has lines: %s", content("indexed/index.jsonl"));

	limit_files(20);
	open_at("rprof", "ticks", true);
	while (!strstr(tap__saying(), "cannot write")) {
		put_ticks(3);
		flush();
		n += 3;
	}
	put_ticks(3);
	finish_counted(&stats);
	tap__ok(stats.unwritten == n + 3, "of a file that failed: %llu are not written",
		(unsigned long long)stats.unwritten);
}

/* Put sample @n of one file, which passes on 64 KiB at a time: the first are answered at 15,000. */
static int put_nth(unsigned int n)
{
	static uint64_t news;

	if (n == 10000)
		news = files__news(files);
	while (n == 15000 && files__news(files) == news)
		files__poll(files, 100);
	return put(1, 10, "f");
}

/* An error that is found between two samples: each counts once, those not passed on yet, too. */
TEST(counted_once)
{
	const uint64_t now = UINT64_MAX / 2;
	struct stats stats;
	unsigned int n = 1;

	open_at("folded", "/dev/full", false);
	put(1, 10, "f");
	sink__tick(&sink, now);
	put(1, 10, "g");
	put(1, 10, "g");
	while (!sink__tick(&sink, now))
		files__poll(files, 100);
	tap__ok(finish_counted(&stats) == -ENOSPC && stats.unwritten == 3,
		"folded: %llu of 3 are not written", (unsigned long long)stats.unwritten);

	open_at("rprof", "/dev/full", false);
	while (!put_nth(n))
		n++;
	tap__ok(put(1, 10, "f") == -ENOSPC && flush() == -ENOSPC &&
			strstr(sink__why(&sink)->text, "/dev/full"),
		"the error stays, by name: %s", sink__why(&sink)->text);
	tap__ok(finish_counted(&stats) == -ENOSPC && stats.unwritten == n,
		"rprof: %llu of %u are not written", (unsigned long long)stats.unwritten, n);

	limit_files(4096);
	open_at("rprof", "counted_once", true);
	for (n = 1; n <= 30000; n++)
		put_nth(n);
	finish_counted(&stats);
	tap__ok(stats.unwritten == 30000 - (4096 - 22) / 5, "of a file: %llu are not written",
		(unsigned long long)stats.unwritten);
}

TEST(no_directory)
{
	const struct outputs_config config = {
		.format = formats__find("rprof"), .path = tap__path("one.out"), .several = true};

	tap__write(config.path, "", 0);
	tap__ok(begin(config) == -ENOTDIR && strstr(why.text, "one.out"), "several into a file: %s",
		why.text);
}
