/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report` of small files: what is read, what is written. */
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "report_file.h"

/* An Rprof.out: @n samples, one each @us, of these functions in turn. */
static void rprof__make(const char *name, unsigned int us, unsigned int n, const char *functions)
{
	struct buf b = {0};
	int err = buf__printf(&b, "sample.interval=%u\n", us);

	for (unsigned int i = 0; i < n && !err; i++)
		err = buf__printf(&b, "\"%c\" \n", functions[i % strlen(functions)]);
	tap__bail_if(err, "no memory");
	tap__write(name, b.data, b.len);
	buf__free(&b);
}

static void folded__is(const char *line, const char *out)
{
	int status = run("report %s -f folded", line);

	tap__is(status == CMD_OK ? out_text : err_text, out, "report %s -f folded", line);
}

/* A file @name of @text, in that format. */
static void folds(const char *name, const char *text, const char *out)
{
	file__text(name, text);
	folded__is(name, out);
}

/* A sample counts for the time that it stands for. */
static void test_rates(void)
{
	size_t f = 0, g = 0;

	rprof__make("a.out", 10000, 100, "f");
	rprof__make("b.out", 20000, 50, "g");
	report("a.out b.out");
	report("a.out b.out -f folded");
	run("report a.out b.out -o ab.pb.gz");
	run("report b.out a.out -o ba.pb.gz");
	report("ab.pb.gz -f folded");
	report("ba.pb.gz -f folded");
	run("report a.out -o a.pb.gz");
	run("report b.out -o b.pb.gz");
	report("a.pb.gz b.pb.gz");
	/* two profiles in one file, as Rprof(append = TRUE) has them */
	tap__bail_if(system("cat a.out b.out >both.out"), "no file of both");
	report("both.out");
	report("--by pid a.out b.out");
	report("--json --diff a.out both.out");
	/* what does not say it */
	file__text("c.folded", "h 40\n");
	report("a.out c.folded -f folded");
	report("c.folded -f folded");
	report("c.folded a.out -F 100 -f folded");
	file__text("much.folded", "f 9000000000000000\ng 9000000000000000\n");
	report("much.folded -f folded");
	report("much.folded a.out");
	tap__golden("report_rates.txt");
	/* lines stay in their order, and have the interval of the first file */
	rprof__make("fast.out", 10000, 2000, "ghgk");
	run("report b.out fast.out -f rprof");
	for (const char *at = out_text; (at = strchr(at, '\n')); at++) {
		f += !strncmp(at, "\n\"h\"", 4);
		g += !strncmp(at, "\n\"g\"", 4);
	}
	tap__ok(!strncmp(out_text, "sample.interval=20000\n", 22) && f >= 249 && f <= 251 &&
			g >= 549 && g <= 551,
		"2000 lines of 10 ms beside 50 of 20 ms: g %zu, h %zu", g, f);
}

/* The rate is that of the samples that there are, not of a file without any. */
static void test_rates_empty(void)
{
	size_t g = 0;

	file__text("none.out", "sample.interval=10000\n");
	run("report none.out b.out -f rprof");
	for (const char *at = out_text; (at = strstr(at, "\n\"g\"")); at++)
		g++;
	tap__ok(!strncmp(out_text, "sample.interval=10000\n", 22) && g == 100,
		"50 samples of 20 ms behind a file of 10 ms that has none: %zu lines", g);
	rprof__make("Rprof.1.out", 10000, 100, "f");
	rprof__make("Rprof.2.out", 20000, 50, "g");
	run("report --process 2 Rprof.1.out Rprof.2.out -o second.pb.gz");
	gives(CMD_OK, ": 50 samples, 1.00 s", NULL, "report second.pb.gz");
}

/* Rprof(append = TRUE): the head is that of the first profile of a file. */
static void test_appended(void)
{
	file__text("appended.out",
		   "sample.interval=10000\n\"f\" \n"
		   "line profiling: sample.interval=10000\n#File 1: a.R\n1#2 \"g\" \n");
	run("report appended.out -f rprof");
	tap__ok(!strcmp(out_text, "sample.interval=10000\n\"f\" \n\"g\" \n") &&
			strstr(err_text, "lines or GC marks of a file are left out"),
		"lines have no place, and that is reported: %s", err_text);
}

/* A stack that does not fit into a line is cut, and that is reported. */
static void test_lines_cut(void)
{
	static char name[30001];
	struct buf b = {0};
	int err = 0;

	memset(name, 'f', sizeof(name) - 1);
	for (int i = 0; i < 40 && !err; i++)
		err = buf__printf(&b, "%s%s%d", i ? ";" : "", name, i);
	tap__bail_if(err || buf__str(&b, " 7\n"), "no memory");
	tap__write("long.folded", b.data, b.len);
	buf__free(&b);
	gives(-1, NULL, "the stacks of 7 samples are longer than a line",
	      "report long.folded -o cut.folded");
}

/* A page of --diff in a directory has the name that one of `record` has. */
static void test_diff_directory(void)
{
	gives(CMD_OK, NULL, NULL, "report --diff a.out b.out -f flamegraph -o pages/");
	gives(CMD_OK, NULL,
	      "pages/profile.html already exists and is kept: writing pages/profile.1.html",
	      "report --diff a.out b.out -f flamegraph -o pages/");
	tap__ok(!access("pages/profile.html", F_OK) && !access("pages/profile.1.html", F_OK),
		"--diff -o pages/: two pages in the directory");
	gives(CMD_FAILED, NULL, "both.out/ is not a directory",
	      "report --diff a.out b.out -f flamegraph -o both.out/");
}

/* A file is never read and written at once. */
static void test_same_file(void)
{
	static const char *const lines[] = {
		"s.out -o s.out -f rprof",
		"s.out -o ./s.out",
		"a.out s.out -o hard.out",
		"s.out --diff a.out -o hard.html",
	};
	struct stat before, after;

	rprof__make("s.out", 10000, 100, "f");
	tap__bail_if(link("s.out", "hard.out") || link("s.out", "hard.html") ||
			     stat("s.out", &before),
		     "no links");
	for (size_t i = 0; i < COUNT(lines); i++) {
		int status = run("report %s", lines[i]);

		tap__ok(status == CMD_USAGE && strstr(err_text, "cannot be the output") &&
				!stat("s.out", &after) && after.st_size == before.st_size,
			"%s: %s", lines[i], err_text);
	}
}

/* A profile of one minute, as `serve` writes it, that begins @began seconds after 1970. */
static void minute__make(const char *name, uint64_t began, const char *host, const char *function)
{
	const struct profile_about about = {
		.freq = 100,
		.engine = "bpf",
		.event = "cycles",
		.clock = "cpu",
		.command = "xrprof-bpf -p 10 -o \"x\"",
		.host = host,
		.began_real = began * NS_PER_S,
	};
	const struct profile_process process = {
		.serial = 1, .pid = 10, .comm = "R", .r_version = "4.5.1"};
	const struct stats stats = {.seconds = 60, .written = 3, .lost = 2, .truncated = 1};
	const struct sample s = {.time = 7,
				 .weight = 3,
				 .serial = 1,
				 .pid = 10,
				 .tid = 10,
				 .stack = stack__one(function)};

	file__begin(name, &about);
	tap__bail_if(sink__process(&sink, &process, PROFILE_BEGAN) ||
			     sink__sample(&sink, &process, &s),
		     "%s: %s", name, sink__why(&sink)->text);
	file__finish(&stats);
}

static const char *page;

/* Are all of these, up to NULL, in the page that `report` makes of @files? */
static void page__has(const char *files, const char *const *all)
{
	run("report %s -o page.html", files);
	page = tap__read("page.html", NULL);
	for (; *all; all++)
		tap__ok(page && strstr(page, *all), "%s: a page with %s", files, *all);
}

#define PAGE_HAS(files, ...) page__has(files, (const char *const[]){__VA_ARGS__, NULL})

/* What a file knows of how it was made is kept by each conversion. */
static void test_made(void)
{
	static const char *const known[] = {
		"\"command\":\"xrprof-bpf -p 10 -o "
		"\\\"x\\\"\",\"host\":\"rhost\",\"engine\":\"bpf\"",
		"\"event\":\"cycles\",\"freq\":100",
		"\"began\":1000000000000,",
		"{\"seconds\":60,",
		"\"ticks\":5,\"no_r_frames\":",
		"\"lost\":2,",
		"\"truncated\":1,",
		"\"r\":\"4.5.1\"",
		"\"time\":null",
		NULL,
	};
	unsigned int span[3] = {0};
	const char *at;

	minute__make("m1.pb.gz", 1000000000, "rhost", "f");
	minute__make("m2.pb.gz", 1000000060, "rhost", "g");
	minute__make("m3.pb.gz", 1000000180, "other", "h");
	run("report m1.pb.gz -o n1.pb.gz");
	page__has("m1.pb.gz", known);
	page__has("n1.pb.gz", known);
	/* files are the strip: three of four minutes */
	PAGE_HAS("m1.pb.gz m2.pb.gz m3.pb.gz", "\"time\":{\"begin\":0,\"width\":60,",
		 "{\"seconds\":180,", "\"host\":null", "\"lost\":6,");
	at = strstr(page, "\"entries\":[");
	tap__ok(at &&
			sscanf(at, "\"entries\":[%u,%*u,3,%u,%*u,3,%u,%*u,3]", &span[0], &span[1],
			       &span[2]) == 3 &&
			!span[0] && span[1] == 1 && span[2] == 2,
		"each in its own minute, after the one before: %u, %u, %u", span[0], span[1],
		span[2]);
	PAGE_HAS("m2.pb.gz m1.pb.gz", "\"began\":1000000000000,", "\"time\":null");
	PAGE_HAS("m1.pb.gz a.pb.gz", "\"time\":null");
	rprof__make("slow.out", 400000, 10, "f");
	PAGE_HAS("slow.out", "\"freq\":2.5,");
	/* what it does not know */
	PAGE_HAS("c.folded", "\"time\":null", "\"host\":null", "\"command\":\"c.folded\"");
}

/* @text as UTF-16, of characters up to U+00FF; @mark: with a byte order mark. */
static void wide__make(const char *name, const char *text, bool big, bool mark)
{
	struct buf b = {0};
	int err = mark ? buf__add(&b, big ? "\xfe\xff" : "\xff\xfe", 2) : 0;

	for (; *text && !err; text++)
		err = buf__add(&b, big ? (const char[]){0, *text} : (const char[]){*text, 0}, 2);
	tap__bail_if(err, "no memory");
	tap__write(name, b.data, b.len);
	buf__free(&b);
}

/* What shells and editors write: PowerShell's `>` in UTF-16 with "\r\n", others with a mark. */
static void test_encodings(void)
{
	static const char text[] = "main;caf\xe9 3\r\nmain;g 1";
	static const char out[] = "sample.interval=10000\r\n\"f\" \r\n\"g\" \"f\" \r\n";

	for (int i = 0; i < 4; i++) {
		wide__make("wide.folded", text, i & 1, i & 2);
		folded__is("wide.folded", "main;caf\xc3\xa9 3\nmain;g 1\n");
		wide__make("wide.out", out, i & 1, i & 2);
		folded__is("wide.out", "f 1\nf;g 1\n");
		tap__ok(!*err_text, "UTF-16, %s, %s mark", i & 1 ? "BE" : "LE",
			i & 2 ? "with a" : "without");
	}
	tap__write("high.folded",
		   "\xff\xfe\x3d\xd8\x00\xde \0"
		   "1\0",
		   10);
	folded__is("high.folded", "\xf0\x9f\x98\x80 1\n");
	tap__write("half.folded",
		   "\xff\xfe\x3d\xd8 \0"
		   "1\0",
		   8);
	folded__is("half.folded", "\xef\xbf\xbd 1\n");
	tap__bail_if(system("gzip -c wide.out >wide.gz"), "no gzip");
	folded__is("wide.gz", "f 1\nf;g 1\n");
	folds("mark.out", "\xef\xbb\xbfsample.interval=10000\n\"f\" \n", "f 1\n");
	folds("mark.folded", "\xef\xbb\xbfmain;f 3\n", "main;f 3\n");
}

/* Counts as other tools write them, and the end of a file without a newline. */
static void test_counts(void)
{
	static const char *const files[][2] = {
		{"end.folded", "main;f 3\nmain;g 4"},
		{"one.folded", "main;f 3"},
		{"cut.folded", "main;f 3\nmain;g"},
		{"point.folded", "main;f 12.5\nmain;g 7.5\n"},
		{"r.folded", "f 1e+05\ng 100000\nh 12.0\nk 1.50e1\n"},
		{"third.folded", "f 0.33333333333333331\ng 0.66666666666666663\n"},
		{"bad.folded", "f 1\ng 1.\nh .5\nk 1e\nl 1e99\nm 1.2.3\nn 99999999999999999999\n"},
	};
	char options[64];

	for (size_t i = 0; i < COUNT(files); i++) {
		file__text(files[i][0], files[i][1]);
		snprintf(options, sizeof(options), "%s -f folded", files[i][0]);
		report(options);
	}
	report("point.folded");
	report("point.folded -F 100");
	tap__golden("report_counts.txt");
}

/* What others put into a directory of profiles is not waited for, nor followed. */
static void test_entries(void)
{
	tap__bail_if(system("mkdir d; cp m1.pb.gz d/20261122T021000Z-60.pb.gz; mkfifo "
			    "d/20261122T021100Z-60.pb.gz d/20261122T021000Z-index.jsonl.gz; "
			    "ln -s ../m2.pb.gz d/20261122T021200Z-60.pb.gz; "
			    "ln -s /dev/zero d/20261122T021300Z-60.pb.gz"),
		     "no directory");
	tap__ok(run("report --dir d --top 1") == CMD_OK && strstr(out_text, ": 3 samples") &&
			strstr(err_text,
			       "021100Z-60.pb.gz: it is not a regular file: it is left") &&
			strstr(err_text, "021200Z-60.pb.gz: it is a symbolic link") &&
			strstr(err_text, "021300Z-60.pb.gz: it is a symbolic link") &&
			strstr(err_text, "3 of 4 profiles cannot be read, or not completely"),
		"one of four is a file: %s", err_text);
	gives(CMD_OK, ": 3 samples", NULL, "report --dir d --list");
	gives(CMD_FAILED, NULL, "it is not a regular file",
	      "-p 1 --btf d/20261122T021100Z-60.pb.gz");
	/* who names a pipe gets what is written into it */
	tap__bail_if(system("cat end.folded >d/20261122T021100Z-60.pb.gz &"), "no writer");
	folded__is("d/20261122T021100Z-60.pb.gz", "main;f 3\nmain;g 4\n");
	gives(CMD_FAILED, NULL, NULL, "report /dev/zero");
}

/* What is printed cannot be written: why, and no other reason. */
static void test_full(void)
{
	static const char *const lines[] = {
		"--help",
		"--version",
		"list",
		"list --json",
		"report --json-schema",
		"info",
		"report a.out",
		"report --diff a.out b.out",
		"report --dir d --list",
		"report a.out -f folded",
		"top --help",
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		int status = run_to("/dev/full", lines[i]);

		tap__ok(status == CMD_FAILED &&
				strstr(err_text,
				       "cannot write to standard output: No space left") &&
				!strstr(err_text, "list processes"),
			"%s to a full disk: %s", lines[i], err_text);
	}
}

/* The name of the output means a format, or none of ours. */
static void test_names(void)
{
	static const char *const names[][2] = {
		{"n.HTML", "<!doctype"}, {"n.htm", "<!doctype"},     {"n.collapsed", "f 100\n"},
		{"n.pb", "\x1f\x8b"},	 {"n.json", "{\"$schema\""}, {"n.prof", "sample.interval"},
	};
	static const char *const refused[] = {"n.svg", "n.out.gz", "n.PNG"};

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *text;

		run("report a.out -o %s", names[i][0]);
		text = tap__read(names[i][0], NULL);
		tap__ok(text && !strncmp(text, names[i][1], strlen(names[i][1])), "%s",
			names[i][0]);
	}
	for (size_t i = 0; i < COUNT(refused); i++)
		tap__ok(run("report a.out -o %s", refused[i]) == CMD_USAGE &&
				strstr(err_text, "use .html"),
			"%s: %s", refused[i], err_text);
}

/* --list: 20 samples of 100 ms are more than 100 of 10 ms, by the profiles and by their index. */
static void test_list_rates(void)
{
	static const char line[] = "{\"file\":\"20260117T02%d000Z-60.pb.gz\",\"pid\":%d,"
				   "\"samples\":%d%s}\n";
	static const char *const found[] = {
		"\n     20  2.00 s  ",
		"18  ",
		"\n    100  1.00 s  ",
		"17  ",
	};
	static const char *const same[] = {"\n    100  ", "17  ", "\n     20  ", "18  "};
	static struct buf index;

	rprof__make("Rprof.17.out", 10000, 100, "f");
	rprof__make("Rprof.18.out", 100000, 20, "f");
	tap__bail_if(mkdir("list", 0700), "no folder");
	run("report Rprof.17.out -o list/20260117T021000Z-60.pb.gz");
	run("report Rprof.18.out -o list/20260117T022000Z-60.pb.gz");
	for (int indexed = 0; indexed < 3; indexed++) {
		const char *const *wanted = indexed < 2 ? found : same;
		const char *at = out_text;

		run("report --dir list --list");
		for (size_t i = 0; i < 4 && at; i++)
			at = strstr(at, wanted[i]);
		tap__ok(at && !strstr(err_text, "different rates") == (indexed == 2),
			"--list weighs samples by their period (%s): %s %s",
			indexed == 2 ? "not known"
			: indexed    ? "of the index"
				     : "of the profiles",
			out_text, err_text);
		index.len = 0;
		tap__bail_if(buf__printf(&index, line, 1, 17, 100,
					 indexed ? "" : ",\"interval\":10000000") ||
				     buf__printf(&index, line, 2, 18, 20,
						 indexed ? "" : ",\"interval\":100000000"),
			     "no memory");
		tap__write("list/index-20260117.jsonl.gz", index.data, index.len);
	}
}

/* A profile that began @ago seconds ago, of Rprof.out @from. */
static void span__write(const char *from, int ago)
{
	time_t at = time(NULL) - ago;
	char name[32];

	strftime(name, sizeof(name), "%Y%m%dT%H%M%SZ", gmtime(&at));
	run("report %s -o spans/%s-10.pb.gz", from, name);
}

/* --diff of a length: the last span of it, and the one before it; with a dash, too. */
static void test_diff_length(void)
{
	static const char *const lines[] = {"report --dir spans --diff -3m",
					    "report --dir spans --diff 3m",
					    "report --dir spans --since -3m --diff -3m"};

	tap__bail_if(mkdir("spans", 0700), "no folder");
	span__write("a.out", 270);
	span__write("b.out", 90);
	for (size_t i = 0; i < COUNT(lines); i++) {
		int status = run("%s", lines[i]);

		tap__ok(status == CMD_OK && strstr(out_text, "  g") && strstr(out_text, "  f") &&
				strstr(out_text, "+100.0"),
			"%s: %d %s %s", lines[i], status, out_text, err_text);
	}
	span__write("a.out", -86400);
	/* a span without an end ends now, also if a clock was ahead */
	gives(CMD_OK, ": 50 samples", NULL, "report --dir spans --since -3m");
}

/* Calls of a function by itself are one; a sample counts once. */
static void test_recursion(void)
{
	file__text("deep.out",
		   "main (a.R:9);f (a.R:1);g (a.R:5);f (a.R:2) 6\nmain (a.R:9);f (a.R:1) 4\n");
	report("--collapse-recursion --lines deep.out");
	report("--collapse-recursion deep.out");
	report("--collapse-recursion deep.out -f folded");
	tap__golden("report_recursion.txt");
}

TEST(report)
{
	tap__bail_if(chdir(tap__folder()), "no folder in /tmp");
	test_rates();
	test_rates_empty();
	test_lines_cut();
	test_appended();
	test_same_file();
	test_diff_directory();
	test_made();
	test_encodings();
	test_counts();
	test_entries();
	test_full();
	test_names();
	test_recursion();
	test_list_rates();
	test_diff_length();
}
