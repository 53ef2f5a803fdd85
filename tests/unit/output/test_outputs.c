/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where samples go: one output, or a file for each process. */
#include "outputs_scene.h"

BEFORE()
{
	scene__start();
}

AFTER()
{
	scene__stop();
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

	tap__bail_if(mkdir(tap__path("full"), 0700), "no folder");
	path = tap__path("full/Rprof.17.out");
	at = strlen(path) - strlen(".out");
	for (uint32_t i = 0; i <= FILES_NUMBERS; i++)
		tap__bail_if(!files__numbered(name, sizeof(name), path, at, i) ||
				     symlink("/dev/null", name),
			     "cannot take %s", name);
	open_at("rprof", "full", true);
	put(1, 17, "f");
	put(2, 18, "g");
	flush();
	put(1, 17, "f");
	put(2, 18, "g");
	finish();
	tap__ok(strcspn(tap__saying(), "\n") == strlen(tap__saying()) - 1 &&
			strstr(tap__saying(), "Rprof.17.out: its name is taken, and so are all") &&
			!strstr(tap__saying(), "is written") &&
			!strstr(tap__saying(), "File exists"),
		"one message says that no name is free: %s", tap__saying());
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
	tap__ok(strstr(tap__saying(), "Rprof.10.out already exists and is kept") &&
			strcspn(tap__saying(), "\n") == strlen(tap__saying()) - 1,
		"one line has the new name");
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
					.least = 3};
	struct profile_process named = {.serial = 4, .pid = 40, .comm = "R"};

	open_by(config);
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
	tap__ok(strstr(tap__saying(),
		       "Rprof.others.out has the 2 samples of 2 processes with fewer than 3"),
		"a line has how many are in common files");
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
					.index = true};
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

	open_by(config);
	put(1, 10, "f");
	sink__process(&sink, &p, PROFILE_ENDED);
	finish();
	tap__is(content("index/index.jsonl"),
		"{\"file\": \"Rprof.10.out\", \"samples\": 1, \"pid\": 10, \"comm\": \"R\", "
		"\"command\": \"R -f a.R\", \"uid\": 1000, \"container\": \"c0ffee\", "
		"\"r_version\": \"4.2.2\", \"started\": 1768610000, \"labels\": "
		"{\"service\": \"a \\\"b\\\"\"}}\n",
		"all that is known of a process");

	config.max_file = 300;
	open_by(config);
	for (uint32_t i = 1; i < 10; i++) {
		put(i, i, "f");
		end(i, i);
	}
	finish();
	text = tap__read(tap__path("index/index.1.jsonl"), &len);
	tap__ok(len > 100 && len <= 300 && text[len - 1] == '\n' &&
			strstr(tap__saying(), "cannot write the index"),
		"an index that may not grow has whole lines: %zu bytes, %s", len, tap__saying());
}

/* Many different stacks: nothing is lost, and memory is bounded by writing pieces unasked. */
TEST(pieces)
{
	unsigned long long sum = 0;
	char name[128], *end;
	struct stat st;

	/* samples wait for the file helper, which may get no CPU meanwhile */
	open_by((struct outputs_config){
		.format = formats__find("folded"), .path = tap__path("pieces"), .waits = true});
	for (int i = 0; i < 300000; i++) {
		snprintf(name, sizeof(name), "function number %d", i % 100000);
		put(1, 10, name);
		if (i % 10000 == 0)
			stack__free_all();
	}
	tap__bail_if(stat(tap__path("pieces"), &st), "no file");
	tap__ok(st.st_size > 1000000, "many stacks are not kept back: %lld bytes are out",
		(long long)st.st_size);
	tap__ok(!finish(), "closed");
	for (const char *at = content("pieces"); *at; at = end + 1) {
		strtoul(at + strlen("function number "), &end, 10);
		sum += strtoull(end, &end, 10);
	}
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
