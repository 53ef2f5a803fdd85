/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The index of a directory: what its lines say, and one that may not grow. */
#include "output/index.h"
#include "os/os.h"
#include "tap.h"

static const char *dir;

static void test_lines(const struct output_config *to)
{
	const struct profile_label label = {"service", "a \"b\""};
	const struct profile_process all = {.pid = 10,
					    .comm = "R",
					    .command = "R -f a.R",
					    .uid = 1000,
					    .container = "c0ffee",
					    .r_version = "4.2.2",
					    .started = UINT64_C(1768610000000000000),
					    .labels = &label,
					    .nlabels = 1};
	const struct profile_process little = {.pid = 20};
	static struct buf about;
	struct errmsg f;
	struct index *x;

	tap__bail_if(index__open(&x, to, dir, &f), "%s", f.text);
	tap__ok(!index__describe(&all, &about) && !index__add(x, &about, "a/Rprof.10.out", 3) &&
			!index__describe(&little, &about) && !index__add(x, &about, NULL, 0) &&
			!index__close(x),
		"two lines");
	tap__is(tap__read(tap__path("index.jsonl"), NULL),
		"{\"file\": \"Rprof.10.out\", \"samples\": 3, \"pid\": 10, \"comm\": "
		"\"R\", "
		"\"command\": \"R -f a.R\", \"uid\": 1000, \"container\": \"c0ffee\", "
		"\"r_version\": \"4.2.2\", \"started\": 1768610000, \"labels\": "
		"{\"service\": \"a \\\"b\\\"\"}}\n"
		"{\"file\": null, \"samples\": 0, \"pid\": 20, \"uid\": 0, \"labels\": "
		"{}}\n",
		"what they say");
}

static void test_full(const struct output_config *to)
{
	const struct profile_process p = {.pid = 10, .comm = "R"};
	struct output_config config = *to;
	static struct buf about;
	unsigned int lines = 0;
	struct errmsg f;
	struct index *x;
	const char *text;
	size_t len;
	int err = 0;

	config.max = 300;
	tap__bail_if(index__open(&x, &config, dir, &f) || index__describe(&p, &about), "no index");
	while (lines < 10 && !err) {
		err = index__add(x, &about, "Rprof.10.out", 1);
		lines += !err;
	}
	tap__ok(err == -EFBIG && lines > 1, "a line that there is no room for is an error: %d, %u",
		err, lines);
	index__close(x);
	text = tap__read(tap__path("index.1.jsonl"), &len);
	tap__ok(len > 100 && len <= 300 && text[len - 1] == '\n',
		"those before it are there, whole: %zu bytes", len);
}

TEST(index)
{
	struct budget queue = {.max = 1 << 20};
	struct output_config to = {.queue = &queue, .wait_ms = 1000};
	dir = tap__folder();
	tap__bail_if(files__start(&to.files, false, NULL), "no process that writes");
	test_lines(&to);
	test_full(&to);
	files__stop(to.files);
}
