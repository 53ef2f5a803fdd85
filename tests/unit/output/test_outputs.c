/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where samples go: one output, or a file for each process. */
#include <sys/resource.h>

#include "output/writer.h"
#include "output/outputs.h"
#include "clock.h"
#include "stack_maker.h"
#include "tap.h"

static const char *content(const char *name)
{
	return tap__read(tap__path(name), NULL);
}

static bool content_is(const char *name, const char *wanted)
{
	const char *text = content(name);

	return text && !strcmp(text, wanted);
}

static const struct profile_about about = {.freq = 100}; /* of the profiles that are made up */

static struct sink sink; /* of the outputs opened last */
static struct files *files;

static char notes[1024]; /* the lines for the user, each with a newline */

static void take_note(void *arg, const char *line)
{
	strncat(notes, line, sizeof(notes) - strlen(notes) - 1);
	strncat(notes, "\n", sizeof(notes) - strlen(notes) - 1);
}

static struct outputs *ss; /* opened last */

/* Make them and begin; on an error they are gone, and @f says why. */
static int begin(const struct outputs_config *config, struct errmsg *f)
{
	int err = outputs__new(&ss, config);

	tap__bail_if(err, "no memory");
	sink = outputs__sink(ss);
	err = sink__begin(&sink, &about);
	*f = *sink__why(&sink);
	if (err)
		outputs__free(ss);
	return err;
}

static int try_open(const char *format, const char *path, bool several, struct errmsg *f)
{
	const struct outputs_config config = {
		.format = formats__find(format),
		.path = path,
		.several = several,
		.files = files,
		.note = take_note,
	};

	return begin(&config, f);
}

/* @path, or what has that name in the case's folder. */
static void open_at(const char *format, const char *path, bool several)
{
	struct errmsg f;

	path = *path == '/' ? path : tap__path(path);
	tap__bail_if(try_open(format, path, several, &f), "%s", f.text);
}

static void open_by(const struct outputs_config *config)
{
	struct errmsg f;

	tap__bail_if(begin(config, &f), "%s", f.text);
}

/* A sample of process @serial whose pid is @pid, in @function. */
static int put(uint32_t serial, uint32_t pid, const char *function)
{
	const struct frame *frame = stack__frame(FRAME_R, function, NULL, 0);
	struct sample sample = {.weight = 1,
				.serial = serial,
				.pid = pid,
				.tid = pid,
				.stack = stack__of(1, &frame, NULL, 0)};
	struct profile_process p = {.serial = serial, .pid = pid, .comm = "R"};

	return sink__sample(&sink, &p, &sample);
}

static int end(uint32_t serial, uint32_t pid)
{
	struct profile_process p = {.serial = serial, .pid = pid, .comm = "R"};

	return sink__process(&sink, &p, PROFILE_ENDED);
}

/* A tick so late that writers give up what they keep. */
static int flush(void)
{
	static uint64_t late = UINT64_MAX / 2;

	late += 1ULL << 40;
	return sink__tick(&sink, late);
}

/* Wait for @name to hold @wanted, which was handed on. */
static bool becomes(const char *name, const char *wanted)
{
	for (int i = 0; i < 10000 && !content_is(name, wanted); i++) {
		files__poll(files, 1);
		sink__tick(&sink, 1);
	}
	return content_is(name, wanted);
}

static int finish(void)
{
	struct stats stats = {0};
	int err = sink__finish(&sink, &stats);

	outputs__free(ss);
	return err;
}

BEFORE()
{
	tap__bail_if(files__start(&files, false, NULL), "cannot start what writes files");
	clock__run(CLOCK_SLOW);
}

AFTER()
{
	files__stop(files);
	stack__free_all();
}

TEST(one_file)
{

	open_at("rprof", "one.out", false);
	tap__ok(!outputs__per_process(ss), "a file is for all");
	put(1, 10, "f");
	put(2, 11, "g");
	tap__ok(end(1, 10) == 0 && put(2, 11, "h") == 0,
		"the end of one process is not the end of the file");
	tap__ok(flush() == 0 &&
			becomes("one.out", "sample.interval=10000\n\"f\" \n\"g\" \n\"h\" \n"),
		"flushed, it is all there");
	tap__ok(finish() == 0, "closed");
}

/* All names of a file are taken: one message reports it, and no message names a written file. */
TEST(names_taken)
{
	char name[300];
	const char *path;
	size_t at;
	int lines = 0;

	/* on a busy machine the search takes longer than a writer may */
	if (!tap__all()) {
		tap__skip("XRPROF_TESTS=all looks through them", "10,000 taken names");
		return;
	}
	tap__bail_if(mkdir(tap__path("full"), 0700), "no folder");
	path = tap__path("full/Rprof.17.out");
	at = strlen(path) - strlen(".out");
	for (uint32_t i = 0; i <= FILES_NUMBERS; i++)
		tap__bail_if(!files__numbered(name, sizeof(name), path, at, i) ||
				     symlink("/dev/null", name),
			     "cannot take %s", name);
	notes[0] = '\0';
	open_at("rprof", "full", true);
	put(1, 17, "f");
	put(2, 18, "g");
	flush();
	put(1, 17, "f");
	put(2, 18, "g");
	finish();
	for (const char *c = notes; *c; c++)
		lines += *c == '\n';
	tap__ok(lines == 1 && strstr(notes, "Rprof.17.out: its name is taken, and so are all") &&
			!strstr(notes, "is written") && !strstr(notes, "File exists"),
		"one message says that no name is free: %s", notes);
	tap__ok(content_is("full/Rprof.18.out", "sample.interval=10000\n\"g\" \n\"g\" \n"),
		"other processes have their files");
}

TEST(directory)
{

	open_at("rprof", "many", true);
	tap__ok(outputs__per_process(ss), "several processes: a directory is made");
	put(1, 10, "f");
	put(2, 70000, "g");
	tap__ok(end(1, 10) == 0 && becomes("many/Rprof.10.out", "sample.interval=10000\n\"f\" \n"),
		"a process that ended has its file complete");
	put(3, 10, "h");
	tap__ok(finish() == 0, "closed");
	tap__ok(content_is("many/Rprof.10.out", "sample.interval=10000\n\"f\" \n") &&
			content_is("many/Rprof.10.1.out", "sample.interval=10000\n\"h\" \n"),
		"a pid that came round again does not overwrite the first");
	tap__ok(content_is("many/Rprof.70000.out", "sample.interval=10000\n\"g\" \n"),
		"the other process is apart");
	open_at("rprof", "many", false);
	tap__ok(outputs__per_process(ss),
		"a directory that exists is one for a single process, too");
	finish();
	open_at("folded", "many", false);
	put(1, 10, "f");
	tap__ok(finish() == 0 && content_is("many/profile.folded", "f 1\n"),
		"folded: one file in it");
	for (int i = 0; i < 2; i++) {
		open_at("folded", "many", false);
		put(1, 10, "g");
		finish();
	}
	tap__ok(content_is("many/profile.folded", "f 1\n") &&
			content_is("many/profile.1.folded", "g 1\n") &&
			content_is("many/profile.2.folded", "g 1\n"),
		"another run does not overwrite it, nor the one after that");
}

/* Files of a directory: few samples share one, and what was moved away is complete. */
TEST(few)
{
	struct outputs_config config = {.format = formats__find("rprof"),
					.path = tap__path("few"),
					.several = true,
					.index = true,
					.least = 3,
					.files = files};
	struct profile_process named = {.serial = 4, .pid = 40, .comm = "R"};

	open_by(&config);
	tap__ok(outputs__per_process(ss), "there will be files");
	sink__process(&sink, &named, PROFILE_BEGAN);
	put(1, 10, "f");
	put(2, 20, "g");
	put(1, 10, "h");
	tap__ok(!content("few/Rprof.10.out"), "a process with two samples gets no separate file");
	put(1, 10, "i");
	put(4, 40, "j");
	tap__ok(becomes("few/Rprof.10.out", "sample.interval=10000\n\"f\" \n\"h\" \n\"i\" \n"),
		"three are, in their order");
	stack__free_all();
	end(2, 20);
	tap__ok(becomes("few/Rprof.others.out", "sample.interval=10000\n\"g\" \n"),
		"one that ends with fewer is in the common file");
	tap__bail_if(rename(tap__path("few/Rprof.10.out"), tap__path("few/moved.out")),
		     "cannot rename");
	tap__ok(!outputs__reopen(ss) && !put(1, 10, "k"), "SIGHUP: what comes goes elsewhere");
	put(3, 30, "l");
	tap__ok(!finish(), "closed");
	tap__ok(content_is("few/moved.out", "sample.interval=10000\n\"f\" \n\"h\" \n\"i\" \n") &&
			content_is("few/Rprof.10.out", "sample.interval=10000\n\"k\" \n"),
		"nothing is in both, and nothing in none");
	tap__ok(content_is("few/Rprof.others.1.out", "sample.interval=10000\n\"l\" \n"),
		"what was not moved stays");
	tap__ok(content_is("few/Rprof.40.out", "sample.interval=10000\n\"j\" \n"),
		"one that was named has its file in any case");
	tap__ok(strstr(content("few/index.jsonl"), "{\"file\": \"Rprof.others.out\", \"samples\": "
						   "1, \"pid\": 20, \"comm\": \"R\""),
		"the index says whose they are: %s", content("few/index.jsonl"));
	tap__ok(strstr(content("few/index.jsonl"),
		       "\"Rprof.10.out\", \"samples\": 3, \"pid\": 10") &&
			strstr(content("few/index.jsonl"), "\"Rprof.40.out\", \"samples\": 1"),
		"also of those that went on: they are what was moved with it");
	tap__ok(!strstr(content("few/index.1.jsonl"), "\"samples\": 3") &&
			!strstr(content("few/index.1.jsonl"), "Rprof.40.out"),
		"the next one has nothing of them: %s", content("few/index.1.jsonl"));
}

/* The index has what is known of each process, in whole lines, and may not grow. */
TEST(index)
{
	struct outputs_config config = {.format = formats__find("rprof"),
					.path = tap__path("index"),
					.several = true,
					.index = true,
					.files = files,
					.note = take_note};
	const struct profile_label label = {"service", "a \"b\""};
	struct profile_process p = {.serial = 1,
				    .pid = 10,
				    .comm = "R",
				    .command = "R -f a.R",
				    .uid = 1000,
				    .container = "c0ffee",
				    .r_version = "4.2.2",
				    .started = UINT64_C(1768610000000000000),
				    .labels = &label,
				    .nlabels = 1};
	const char *text;
	size_t len;

	open_by(&config);
	put(1, 10, "f");
	sink__process(&sink, &p, PROFILE_ENDED);
	finish();
	tap__is(content("index/index.jsonl"),
		"{\"file\": \"Rprof.10.out\", \"samples\": 1, \"pid\": 10, \"comm\": \"R\", "
		"\"command\": \"R -f a.R\", \"uid\": 1000, \"container\": \"c0ffee\", "
		"\"r_version\": \"4.2.2\", \"started\": 1768610000, \"labels\": "
		"{\"service\": \"a \\\"b\\\"\"}}\n",
		"all that is known of a process");

	notes[0] = '\0';
	config.max_file = 300;
	open_by(&config);
	for (uint32_t i = 1; i < 10; i++) {
		put(i, i, "f");
		end(i, i);
	}
	finish();
	text = tap__read(tap__path("index/index.1.jsonl"), &len);
	tap__ok(len > 100 && len <= 300 && text[len - 1] == '\n' &&
			strstr(notes, "cannot write the index"),
		"an index that may not grow has whole lines: %zu bytes, %s", len, notes);
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

/* Many different stacks: nothing is lost, and memory is bounded by writing pieces unasked. */
TEST(pieces)
{
	unsigned long long sum = 0, n;
	char name[128];
	struct stat st;

	open_at("folded", "pieces", false);
	for (int i = 0; i < 300000; i++) {
		snprintf(name, sizeof(name), "function number %d", i % 100000);
		put(1, 10, name);
		if (i % 10000 == 0)
			stack__free_all();
		if (i % 100 == 0) /* it may wait again for the file helper */
			sink__tick(&sink, 1);
	}
	tap__bail_if(stat(tap__path("pieces"), &st), "no file");
	tap__ok(st.st_size > 1000000, "many stacks are not kept back: %lld bytes are out",
		(long long)st.st_size);
	tap__ok(!finish(), "closed");
	for (const char *at = content("pieces"); *at; at = strchr(at, '\n') + 1)
		if (sscanf(at, "function number %*d %llu", &n) == 1)
			sum += n;
	tap__ok(sum == 300000, "300000 samples of 100000 stacks add up: %llu", sum);
	open_at("folded", "ticks", false);
	put(1, 10, "f");
	flush();
	put(1, 10, "g");
	put(1, 10, "f");
	tap__ok(content_is("ticks", ""), "a file gets its stacks at the end,");
	tap__ok(!finish() && content_is("ticks", "f 2\ng 1\n"), "each of them once");
}

/* What is in the pipe by now; waits until there is something. */
static const char *pipe__read(int fd)
{
	static char text[64];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text) - 1)) <= 0) {
		flush();
		usleep(1000);
	}
	text[n] = '\0';
	return text;
}

TEST(pipe)
{
	int fd;

	tap__bail_if(mkfifo(tap__path("pipe"), 0600), "no pipe");
	fd = open(tap__path("pipe"), O_RDONLY | O_NONBLOCK);
	open_at("folded", "pipe", false);
	put(1, 10, "f");
	put(1, 10, "f");
	tap__is(pipe__read(fd), "f 2\n", "a pipe gets what there is, once a second,");
	put(1, 10, "f");
	tap__is(pipe__read(fd), "f 1\n", "and it restarts");
	tap__ok(!finish(), "closed");
	close(fd);
}

/* A format that gets its profile whole: it writes how many rows and ticks there were. */
static int whole__profile(struct output *out, const struct writer_config *config,
			  const struct aggregate *a, const struct stats *stats)
{
	const struct aggregate_row *rows;
	uint64_t ticks = 0;
	size_t n;

	rows = aggregate__rows(a, &n);
	for (size_t i = 0; i < n; i++)
		ticks += rows[i].value;
	output__printf(out, "%zu rows, %llu ticks, asked for at %u Hz", n,
		       (unsigned long long)ticks, stats ? stats->freq : 0);
	return output__commit(out, 0);
}

TEST(whole)
{
	static const struct writer_ops whole = {
		.name = "whole",
		.profile = whole__profile,
	};
	const struct frame *frames[30000];
	struct stats stats = {.freq = 99};
	struct sample sample = {.weight = 1};
	const struct profile_process p = {.serial = 1, .pid = 10, .comm = "R"};
	unsigned int n = 0;
	char want[64];

	open_by(&(struct outputs_config){.format = &whole,
					 .path = tap__path("whole"),
					 .files = files,
					 .memory = (128u << 20) / 6 * 32});
	put(1, 10, "f");
	put(2, 11, "f");
	put(1, 10, "f");
	flush();
	tap__ok(content_is("whole", "") && !end(1, 10) && content_is("whole", ""),
		"a format that wants the whole gets nothing before the end");
	/* more than there is room for: stacks of different depth */
	for (; n < 800; n++) {
		stack__free_all();
		for (unsigned int i = 0; i < 30000 - n; i++)
			frames[i] = &mark_gc;
		sample.stack = stack__of(30000 - n, frames, NULL, 0);
		if (sink__sample(&sink, &p, &sample))
			break;
	}
	tap__ok(n == 800 && !sink__finish(&sink, &stats),
		"stacks that do not fit are not a failure");
	outputs__free(ss);
	tap__ok(stats.stacks_dropped > 100 && stats.stacks_dropped < 700,
		"but counted: the stacks of %llu samples",
		(unsigned long long)stats.stacks_dropped);
	snprintf(want, sizeof(want), "%llu rows, 803 ticks, asked for at 99 Hz",
		 803 - (unsigned long long)stats.stacks_dropped);
	tap__is(content("whole"), want, "and none of their ticks is lost");
}

/* A reader that takes nothing, and a file that may not grow: nothing waits, and all is counted. */
TEST(unwritten)
{
	struct outputs_config config = {.format = formats__find("rprof"), .memory = 4 << 20};
	unsigned int n = 200000, dropped = 0;
	struct stats stats = {0};
	struct stat st;
	int fd, err;

	config.path = tap__path("pipe");
	mkfifo(config.path, 0600);
	fd = open(config.path, O_RDWR | O_CLOEXEC);
	tap__bail_if(fd < 0 || files__start(&config.files, false, NULL), "no pipe");
	open_by(&config);
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
	files__stop(config.files);
	close(fd);

	clock__run(CLOCK_SLOW);
	config.path = tap__path("short");
	config.files = files;
	config.max_file = 1000;
	open_by(&config);
	stats = (struct stats){0};
	for (unsigned int i = 0; i < 1000; i++)
		put(1, 10, "f");
	tap__ok(!sink__finish(&sink, &stats) && !stat(config.path, &st) && st.st_size <= 1000 &&
			st.st_size > 990 &&
			stats.unwritten == 1000 - ((uint64_t)st.st_size - 22) / 5,
		"a file that may have 1000 bytes has %lld, %llu samples are not in it",
		(long long)st.st_size, (unsigned long long)stats.unwritten);
	outputs__free(ss);
}

/* Put 100 samples in @format at @path: how many of them are not written; *@err: of the end. */
static uint64_t put_100(const char *format, const char *path, uint64_t max_file, int *err)
{
	struct outputs_config config = {
		.format = formats__find(format),
		.path = path,
		.files = files,
		.max_file = max_file,
	};
	struct stats stats = {0};

	open_by(&config);
	for (unsigned int i = 0; i < 100; i++)
		put(1, 10, "f");
	*err = sink__finish(&sink, &stats);
	outputs__free(ss);
	return stats.unwritten;
}

/* A sample is written when the bytes that contain it are in the file, in every format. */
TEST(full_disk)
{
	const char *file = tap__path("full");

	limit_files(20);
	for (const struct writer_ops *const *ops = formats__all(); *ops; ops++) {
		const char *name = (*ops)->name;
		bool small = !strcmp(name, "folded");
		const struct {
			const char *path;
			uint64_t max_file, lost;
			int err;
		} rows[] = {
			{"/dev/full", 0, 100, -ENOSPC},
			{file, 0, small ? 0 : 100, small ? 0 : -EFBIG},
			/* longer than the head of an Rprof.out */
			{file, 23, small ? 0 : 100, 1},
		};

		for (size_t i = 0; i < COUNT(rows); i++) {
			int err;
			uint64_t n = put_100(name, rows[i].path, rows[i].max_file, &err);

			tap__ok(n == rows[i].lost && (err == rows[i].err || rows[i].err > 0),
				"%s in %s, at most %llu bytes: %llu are not written (%d)", name,
				rows[i].path, (unsigned long long)rows[i].max_file,
				(unsigned long long)n, err);
		}
	}
}

TEST(failures)
{
	struct errmsg f = {""};
	int err = 0;

	tap__write(tap__path("one.out"), "", 0);
	tap__ok(try_open("rprof", tap__path("one.out"), true, &f) == -ENOTDIR &&
			strstr(f.text, "one.out"),
		"several into a file: %s", f.text);
	tap__ok(try_open("rprof", tap__path("no/such/place"), false, &f) == -ENOENT,
		"no such folder: %s", f.text);
	open_at("rprof", "/dev/full", false);
	put(1, 10, "f");
	for (int i = 0; i < 10000 && !(err = flush()); i++)
		files__poll(files, 1);
	tap__ok(err == -ENOSPC, "a full disk is reported");
	tap__ok(put(1, 10, "f") == -ENOSPC && flush() == -ENOSPC, "and reported again");
	f = *sink__why(&sink);
	tap__ok(finish() == -ENOSPC && strstr(f.text, "/dev/full"), "by name: %s", f.text);
}
