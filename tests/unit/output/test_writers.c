/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The writers: what they write for given samples, byte for byte.
 *
 *	test_writers
 *	test_writers samples RPROF FOLDED [lines]	write one set of samples both ways, for the
 *							test that compares stackcollapse-Rprof.R
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "layout.h"
#include "output/writer.h"

extern const struct writer_ops writer_rprof, writer_folded;

static const char a_r[] = "a.R", b_r[] = "lib/b c.R";
static const struct profile_process process = {.serial = 1, .pid = 4711, .comm = "R"};

static struct output *out;
static struct writer *writer;
static const struct writer_ops *ops;
static char dir[64], path[96];

static void start(const struct writer_ops *which, struct writer_config config)
{
	struct errmsg f;

	if (!config.freq)
		config.freq = 99;
	ops = which;
	if (output__open(&out, path, &f))
		tap__bail("%s", f.text);
	if (ops->open(&writer, out, &config))
		tap__bail("cannot open writer %s", ops->name);
}

static void put(const struct sample *s)
{
	int err = ops->sample(writer, &process, s);

	if (err)
		tap__bail("%s: a sample failed: %s", ops->name, strerror(-err));
}

static const char *contents(void)
{
	static char text[65536];
	FILE *f = fopen(path, "r");
	size_t len = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[len] = '\0';
	if (f)
		fclose(f);
	return text;
}

static void check(const char *want, const char *what)
{
	if (ops->close(writer) || output__close(out))
		tap__bail("%s: close failed", ops->name);
	if (!tap__ok(!strcmp(contents(), want), "%s: %s", ops->name, what))
		tap__diag("want <%s> got <%s>", want, contents());
}

#define FRAMES(...)                                                                                \
	.frames = (const struct frame[]){__VA_ARGS__},                                             \
	.nframes = sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame), .weight = 1

static const struct sample plain = {FRAMES({.name = "g"}, {.name = "f"})};
static const struct sample three = {
	.nframes = 1, .frames = (const struct frame[]){{.name = "f"}}, .weight = 3};
static const struct sample top = {.weight = 1};
static const struct sample top_gc = {.weight = 1, .flags = XR_F_GC};
static const struct sample top_line = {.weight = 1, .flags = XR_F_LINES, .file = a_r, .line = 3};
static const struct sample gc = {FRAMES({.name = "g"}, {.name = "f"}), .flags = XR_F_GC};
static const struct sample cut = {FRAMES({.name = "g"}, {.name = "f"}), .flags = XR_F_TRUNCATED};
static const struct sample other = {FRAMES({.kind = FRAME_MARK, .name = "<other thread>"}),
				    .flags = XR_F_OTHER_THREAD};
static const struct sample lined = {FRAMES({.name = "h", .file = b_r, .line = 12},
					   {.name = "lapply"},
					   {.name = "f", .file = a_r, .line = 20}),
				    .flags = XR_F_LINES | XR_F_GC, .file = b_r, .line = 7};
static const struct sample lined_cut = {FRAMES({.name = "f", .file = a_r, .line = 20}),
					.flags = XR_F_LINES | XR_F_TRUNCATED, .file = a_r,
					.line = 2};
static const struct sample hostile = {
	FRAMES({.name = "a\nb\"c\\n;\x1b"}, {.name = "x[[\"k\"]]"}, {.name = "\xe4;"})};

static const struct sample *const all[] = {&plain, &three,   &gc,    &cut,	 &other, &lined,
					   &plain, &hostile, &lined, &lined_cut, &three, &top_gc};

static void test_rprof(void)
{
	start(&writer_rprof, (struct writer_config){0});
	put(&plain);
	put(&three);
	put(&top);
	put(&gc);
	put(&lined);
	put(&cut);
	put(&other);
	check("sample.interval=10101\n"
	      "\"g\" \"f\" \n"
	      "\"f\" \n\"f\" \n\"f\" \n"
	      "\"g\" \"f\" \n"
	      "\"h\" \"lapply\" \"f\" \n"
	      "\"g\" \"f\" \"<truncated>\" \n"
	      "\"<other thread>\" \n",
	      "plain");

	start(&writer_rprof, (struct writer_config){.freq = 50, .capture = XR_ROW_GC});
	put(&gc);
	put(&plain);
	put(&top_gc);
	check("GC profiling: sample.interval=20000\n"
	      "\"<GC>\" \"g\" \"f\" \n"
	      "\"g\" \"f\" \n"
	      "\"<GC>\" \n",
	      "with GC marks");

	start(&writer_rprof,
	      (struct writer_config){.freq = 999, .capture = XR_ROW_GC | XR_ROW_LINES});
	put(&plain);
	put(&lined);
	put(&lined_cut);
	put(&top_line);
	put(&top);
	check("GC profiling: line profiling: sample.interval=1001\n"
	      "\"g\" \"f\" \n"
	      "#File 1: lib/b c.R\n"
	      "#File 2: a.R\n"
	      "\"<GC>\" 1#7 \"h\" 1#12 \"lapply\" \"f\" 2#20 \n"
	      "2#2 \"f\" 2#20 \"<truncated>\" \n"
	      "2#3 \n",
	      "with lines");

	start(&writer_rprof, (struct writer_config){.freq = 1, .capture = XR_ROW_LINES});
	check("line profiling: sample.interval=1000000\n", "no sample: the header alone");
	start(&writer_rprof, (struct writer_config){.freq = 4000000});
	put(&hostile);
	check("sample.interval=1\n\"a\\nb\\x22c\\\\n;\\x1b\" \"x[[\"k\"]]\" \"\\xe4;\" \n",
	      "hostile names stay in their line and quotes");
}

static void test_folded(void)
{
	start(&writer_folded, (struct writer_config){0});
	put(&plain);
	put(&three);
	put(&top);
	put(&plain);
	put(&gc);
	put(&lined);
	put(&cut);
	put(&other);
	check("f;g 3\nf 3\n<toplevel> 1\nf;lapply;h 1\n<truncated>;f;g 1\n<other thread> 1\n",
	      "plain, equal stacks added up");

	start(&writer_folded, (struct writer_config){.capture = XR_ROW_GC | XR_ROW_LINES});
	put(&gc);
	put(&lined);
	put(&lined_cut);
	put(&top_line);
	put(&top_gc);
	check("f;g;<GC> 1\n"
	      "f;lapply (lib/b c.R:12);h (lib/b c.R:7);<GC> 1\n"
	      "<truncated> (a.R:20);f (a.R:2) 1\n"
	      "<toplevel> (a.R:3) 1\n"
	      "<toplevel>;<GC> 1\n",
	      "with lines and GC marks");

	start(&writer_folded, (struct writer_config){.roots = true});
	put(&plain);
	put(&top);
	put(&cut);
	check("R-4711;f;g 1\nR-4711;<toplevel> 1\nR-4711;<truncated>;f;g 1\n",
	      "the process as the root");

	start(&writer_folded, (struct writer_config){0});
	put(&hostile);
	check("\\xe4\\x3b;x[[\"k\"]];a\\nb\\x22c\\\\n\\x3b\\x1b 1\n",
	      "hostile names stay in their line and frame");

	start(&writer_folded, (struct writer_config){0});
	put(&plain);
	ops->flush(writer);
	output__flush(out);
	tap__ok(!strcmp(contents(), "f;g 1\n"), "folded: a flush lets the stacks go");
	put(&plain);
	put(&plain);
	check("f;g 1\nf;g 2\n", "and counts begin anew");
}

/* Many different stacks: nothing lost, memory bounded by writing some unasked. */
static void test_many(void)
{
	unsigned long long sum = 0, n;
	char name[32], line[128];
	FILE *f;

	start(&writer_folded, (struct writer_config){0});
	for (int i = 0; i < 300000; i++) {
		snprintf(name, sizeof(name), "function number %d", i % 100000);
		put(&(struct sample){FRAMES({.name = name})});
	}
	if (ops->close(writer) || output__close(out))
		tap__bail("close failed");
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "function number %*d %llu", &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	tap__ok(sum == 300000, "folded: 300000 samples of 100000 stacks add up: %llu", sum);
}

/* The output's failure is the writer's. */
static void test_full(void)
{
	const struct writer_ops *both[] = {&writer_rprof, &writer_folded};
	const struct writer_config config = {.freq = 99};
	struct output *full;
	int err, close_err;

	for (int i = 0; i < 2; i++) {
		if (output__open(&full, "/dev/full", NULL) || both[i]->open(&writer, full, &config))
			tap__bail("cannot open /dev/full");
		err = 0;
		for (int n = 0; n < 100000 && !err; n++) {
			err = both[i]->sample(writer, &process, &plain);
			if (!err && both[i]->flush)
				err = both[i]->flush(writer);
		}
		both[i]->close(writer);
		close_err = output__close(full);
		tap__ok(err == -ENOSPC && close_err == -ENOSPC, "%s: a full disk is reported",
			both[i]->name);
	}
}

static int samples(const char *rprof, const char *folded, bool lines)
{
	const struct writer_config config = {.freq = 99,
					     .capture = XR_ROW_GC | (lines ? XR_ROW_LINES : 0)};
	const struct writer_ops *both[] = {&writer_rprof, &writer_folded};
	const char *paths[] = {rprof, folded};
	struct errmsg f;

	for (int i = 0; i < 2; i++) {
		if (output__open(&out, paths[i], &f))
			tap__bail("%s", f.text);
		ops = both[i];
		if (ops->open(&writer, out, &config))
			tap__bail("cannot open writer %s", ops->name);
		for (size_t n = 0; n < sizeof(all) / sizeof(*all); n++)
			put(all[n]);
		if (lines)
			put(&top_line);
		if (ops->close(writer) || output__close(out))
			tap__bail("cannot write %s", paths[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");

	if (argc >= 4 && !strcmp(argv[1], "samples"))
		return samples(argv[2], argv[3], argc > 4);
	snprintf(dir, sizeof(dir), "%s/writers.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	if (!mkdtemp(dir))
		tap__bail("mkdtemp %s: %s", dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/profile", dir);
	test_rprof();
	test_folded();
	test_many();
	test_full();
	unlink(path);
	rmdir(dir);
	return tap__done();
}
