/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where samples go: one output, or a file for each process; and the table of processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/processes.h"
#include "output/writer.h"
#include "output/outputs.h"
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

static int open_streams(struct outputs **ss, const char *format, const char *name, bool several,
			struct errmsg *f)
{
	static char path[256];
	struct writer_config config = {.freq = 100};

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return outputs__open(ss, formats__find(format), &config, path, several, f);
}

static int put(struct outputs *ss, struct stream **slot, uint32_t serial, uint32_t pid,
	       const char *function)
{
	struct frame frame = {.kind = FRAME_R, .name = function};
	struct sample sample = {.weight = 1,
				.serial = serial,
				.pid = pid,
				.tid = pid,
				.nframes = 1,
				.frames = &frame};
	struct writer_process p = {.serial = serial, .pid = pid, .comm = "R"};

	return outputs__sample(ss, slot, &p, &sample);
}

static void test_one_file(void)
{
	struct stream *a = NULL, *b = NULL;
	struct outputs *ss;
	struct errmsg f;

	if (open_streams(&ss, "rprof", "one.out", false, &f))
		tap__bail("%s", f.text);
	tap__ok(!outputs__per_process(ss), "a file is for all");
	put(ss, &a, 1, 10, "f");
	put(ss, &b, 2, 11, "g");
	tap__ok(outputs__end(ss, &a) == 0 && put(ss, &b, 2, 11, "h") == 0,
		"the end of one process is not the end of the file");
	tap__ok(outputs__flush(ss, true) == 0 &&
			content_is("one.out", "sample.interval=10000\n\"f\" \n\"g\" \n\"h\" \n"),
		"flushed, it is all there");
	tap__ok(outputs__close(ss, &f) == 0, "closed");
}

static void test_directory(void)
{
	struct stream *a = NULL, *b = NULL, *c = NULL;
	struct outputs *ss;
	struct errmsg f;

	if (open_streams(&ss, "rprof", "many", true, &f))
		tap__bail("%s", f.text);
	tap__ok(outputs__per_process(ss), "several processes: a directory is made");
	put(ss, &a, 1, 10, "f");
	put(ss, &b, 2, 70000, "g");
	tap__ok(outputs__end(ss, &a) == 0 && !a &&
			content_is("many/Rprof.10.out", "sample.interval=10000\n\"f\" \n"),
		"a process that ended has its file complete");
	put(ss, &c, 3, 10, "h");
	tap__ok(outputs__close(ss, &f) == 0, "closed");
	tap__ok(content_is("many/Rprof.10.out", "sample.interval=10000\n\"f\" \n") &&
			content_is("many/Rprof.10.3.out", "sample.interval=10000\n\"h\" \n"),
		"a pid that came round again does not overwrite the first");
	tap__ok(content_is("many/Rprof.70000.out", "sample.interval=10000\n\"g\" \n"),
		"the other process is apart");
	if (open_streams(&ss, "rprof", "many", false, &f))
		tap__bail("%s", f.text);
	tap__ok(outputs__per_process(ss),
		"a directory that exists is one for a single process, too");
	outputs__close(ss, NULL);
	if (open_streams(&ss, "folded", "many", false, &f))
		tap__bail("%s", f.text);
	put(ss, &a, 1, 10, "f");
	tap__ok(outputs__close(ss, &f) == 0 && content_is("many/profile.folded", "f 1\n"),
		"folded: one file in it");
}

static void test_failures(void)
{
	struct writer_config config = {.freq = 100};
	struct stream *a = NULL;
	struct outputs *ss = NULL;
	struct errmsg f = {""};
	int err = 0;

	tap__ok(open_streams(&ss, "rprof", "one.out", true, &f) == -ENOTDIR &&
			strstr(f.text, "one.out"),
		"several into a file: %s", f.text);
	tap__ok(open_streams(&ss, "rprof", "no/such/place", false, &f) == -ENOENT,
		"no such folder: %s", f.text);
	if (outputs__open(&ss, formats__find("rprof"), &config, "/dev/full", false, &f))
		tap__bail("%s", f.text);
	put(ss, &a, 1, 10, "f");
	err = outputs__flush(ss, true);
	tap__ok(err == -ENOSPC, "a full disk is told");
	tap__ok(put(ss, &a, 1, 10, "f") == -ENOSPC && outputs__flush(ss, true) == -ENOSPC,
		"and told again");
	tap__ok(outputs__close(ss, &f) == -ENOSPC && strstr(f.text, "/dev/full"), "by name: %s",
		f.text);
}

static void test_processes(void)
{
	static struct processes ps;
	struct process *p, *next, *last = NULL;
	unsigned int n = 0;

	for (uint32_t i = 1; i <= 5000; i++) {
		p = processes__add(&ps, i % 2 ? 0 : 0x80000000u + i, i);
		if (!p)
			tap__bail("no memory");
		last = p;
	}
	tap__ok(ps.count == 5000 && ps.last_serial == 2500, "serials of ours leave bit 31 alone");
	tap__ok(processes__find(&ps, 0x80000000u + 5000) == last && !processes__find(&ps, 2501),
		"found by serial");
	tap__ok(processes__find_pid(&ps, 5000) == last, "found by pid");
	last->state = PROCESS_ENDED;
	tap__ok(!processes__find_pid(&ps, 5000), "but not when it has ended");
	for (p = processes__next(&ps, NULL); p; p = next) {
		next = processes__next(&ps, p);
		processes__remove(&ps, p);
		n++;
	}
	tap__ok(n == 5000 && ps.count == 0, "each is met once, and can be removed on the way");
	ps.last_serial = 0x7fffffff;
	p = processes__add(&ps, 0, 1);
	tap__ok(p && p->serial == 1, "after 2^31 serials it starts again, not at 0");
	if (p)
		processes__remove(&ps, p);
}

static void test_gone(void)
{
	static struct processes ps;
	struct process *p;
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds))
		tap__bail("pipe");
	pid = fork();
	if (!pid) {
		close(fds[1]);
		_exit(read(fds[0], &c, 1) != 0);
	}
	p = processes__add(&ps, 0, (uint32_t)pid);
	if (pid < 0 || !p)
		tap__bail("no process");
	process__watch(p);
	tap__ok(!process__gone(p), "a process that waits is not gone");
	close(fds[1]);
	/* ends when the pipe does, so this ends too */
	while (!process__gone(p))
		usleep(1000);
	tap__ok(true, "one that exited is, before its parent has seen it");
	processes__remove(&ps, p);
	close(fds[0]);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(dir))
		tap__bail("no folder in /tmp");
	test_one_file();
	test_directory();
	test_failures();
	test_processes();
	test_gone();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	tap__ok(system(command) == 0, "cleaned up");
	return tap__done();
}
