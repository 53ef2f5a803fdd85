/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where samples go: one output, or a file for each process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/writer.h"
#include "output/outputs.h"
#include "stack_maker.h"
#include "tap.h"

static char dir[] = "/tmp/xrprof-streams.XXXXXX";

/* The whole of a small file of `dir`, NULL if it is not there; valid until the next call. */
static const char *content(const char *name)
{
	static char text[4096];
	char path[256];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static bool content_is(const char *name, const char *wanted)
{
	const char *text = content(name);

	return text && !strcmp(text, wanted);
}

static struct sink sink; /* of the outputs opened last */

/* Make them and begin; @f says why not. */
static int outputs__open(struct outputs **ss, const char *format, const char *path, bool several,
			 struct errmsg *f)
{
	struct outputs_config config = {
		.format = formats__find(format),
		.writer.freq = 100,
		.path = path,
		.several = several,
	};
	int err = outputs__new(ss, &config);

	if (err)
		return err;
	sink = outputs__sink(*ss);
	err = sink.ops->begin(sink.arg);
	*f = *sink.ops->why(sink.arg);
	if (err)
		outputs__free(*ss);
	return err;
}

static int open_in_dir(struct outputs **ss, const char *format, const char *name, bool several,
		       struct errmsg *f)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return outputs__open(ss, format, path, several, f);
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

	return sink.ops->sample(sink.arg, &p, &sample);
}

static int end(uint32_t serial, uint32_t pid)
{
	struct profile_process p = {.serial = serial, .pid = pid, .comm = "R"};

	return sink.ops->process(sink.arg, &p, PROFILE_ENDED);
}

/* A tick so late that writers give up what they keep. */
static int flush(void)
{
	return sink.ops->tick(sink.arg, UINT64_MAX / 2);
}

/* The end of all: its error. */
static int finish(struct outputs *ss)
{
	struct stats stats = {0};
	int err = sink.ops->finish(sink.arg, &stats);

	outputs__free(ss);
	return err;
}

static void test_one_file(void)
{
	struct outputs *ss;
	struct errmsg f;

	if (open_in_dir(&ss, "rprof", "one.out", false, &f))
		tap__bail("%s", f.text);
	tap__ok(!outputs__per_process(ss), "a file is for all");
	put(1, 10, "f");
	put(2, 11, "g");
	tap__ok(end(1, 10) == 0 && put(2, 11, "h") == 0,
		"the end of one process is not the end of the file");
	tap__ok(flush() == 0 &&
			content_is("one.out", "sample.interval=10000\n\"f\" \n\"g\" \n\"h\" \n"),
		"flushed, it is all there");
	tap__ok(finish(ss) == 0, "closed");
}

static void test_directory(void)
{
	struct outputs *ss;
	struct errmsg f;

	if (open_in_dir(&ss, "rprof", "many", true, &f))
		tap__bail("%s", f.text);
	tap__ok(outputs__per_process(ss), "several processes: a directory is made");
	put(1, 10, "f");
	put(2, 70000, "g");
	tap__ok(end(1, 10) == 0 &&
			content_is("many/Rprof.10.out", "sample.interval=10000\n\"f\" \n"),
		"a process that ended has its file complete");
	put(3, 10, "h");
	tap__ok(finish(ss) == 0, "closed");
	tap__ok(content_is("many/Rprof.10.out", "sample.interval=10000\n\"f\" \n") &&
			content_is("many/Rprof.10.3.out", "sample.interval=10000\n\"h\" \n"),
		"a pid that came round again does not overwrite the first");
	tap__ok(content_is("many/Rprof.70000.out", "sample.interval=10000\n\"g\" \n"),
		"the other process is apart");
	if (open_in_dir(&ss, "rprof", "many", false, &f))
		tap__bail("%s", f.text);
	tap__ok(outputs__per_process(ss),
		"a directory that exists is one for a single process, too");
	finish(ss);
	if (open_in_dir(&ss, "folded", "many", false, &f))
		tap__bail("%s", f.text);
	put(1, 10, "f");
	tap__ok(finish(ss) == 0 && content_is("many/profile.folded", "f 1\n"),
		"folded: one file in it");
}

static void test_failures(void)
{
	struct outputs *ss = NULL;
	struct errmsg f = {""};
	int err = 0;

	tap__ok(open_in_dir(&ss, "rprof", "one.out", true, &f) == -ENOTDIR &&
			strstr(f.text, "one.out"),
		"several into a file: %s", f.text);
	tap__ok(open_in_dir(&ss, "rprof", "no/such/place", false, &f) == -ENOENT,
		"no such folder: %s", f.text);
	if (outputs__open(&ss, "rprof", "/dev/full", false, &f))
		tap__bail("%s", f.text);
	put(1, 10, "f");
	err = flush();
	tap__ok(err == -ENOSPC, "a full disk is told");
	tap__ok(put(1, 10, "f") == -ENOSPC && flush() == -ENOSPC, "and told again");
	f = *sink.ops->why(sink.arg);
	tap__ok(finish(ss) == -ENOSPC && strstr(f.text, "/dev/full"), "by name: %s", f.text);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(dir))
		tap__bail("no folder in /tmp");
	test_one_file();
	test_directory();
	test_failures();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	tap__ok(system(command) == 0, "cleaned up");
	stack__free_all();
	return tap__done();
}
