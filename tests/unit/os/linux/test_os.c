/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files, directories and the clock. */
#define _GNU_SOURCE
#include "os/os.h"

#include <pthread.h>
#include <sys/resource.h>

#include "tap.h"

BEFORE()
{
	signal(SIGPIPE, SIG_IGN);
}

TEST(files)
{
	const char *path = tap__path("file"), *none = tap__path("no/file");
	int fd = os__create(path);

	tap__ok(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC, "a file that no child inherits");
	close(fd);
	tap__ok(os__write(fd, "x", 1) == -EBADF, "writing to what is closed");
	tap__ok(!os__is_directory(path) && os__mkdir(path) == -EEXIST, "a file is not a directory");
	unlink(path);
	tap__ok(!os__mkdir(path) && os__is_directory(path) && os__create(path) == -EISDIR,
		"a directory is not a file");
	tap__ok(os__create(none) == -ENOENT && os__mkdir(none) == -ENOENT &&
			!os__is_directory(none),
		"in a directory that is not there");
}

static void *reader(void *arg)
{
	char text[4096];

	while (read(*(int *)arg, text, sizeof(text)) > 0)
		;
	return NULL;
}

TEST(pipe)
{
	char text[4096] = "";
	pthread_t thread;
	int pipes[2], n;

	tap__bail_if(pipe2(pipes, O_NONBLOCK), "no pipe");
	while ((n = os__write(pipes[1], text, sizeof(text))) > 0)
		;
	tap__ok(n == -EAGAIN, "a full pipe");
	fcntl(pipes[0], F_SETFL, 0);
	tap__bail_if(pthread_create(&thread, NULL, reader, &pipes[0]), "no thread");
	os__wait_writable(pipes[1]);
	tap__ok(os__write(pipes[1], "x", 1) == 1, "takes more when it was read");
	close(pipes[1]);
	pthread_join(thread, NULL);
	close(pipes[0]);
	tap__bail_if(pipe(pipes), "no pipe");
	close(pipes[0]);
	tap__ok(os__write(pipes[1], "x", 1) == -EPIPE, "a pipe whose reader has gone");
	close(pipes[1]);
}

TEST(rest)
{
	struct rlimit limit = {0};
	struct errmsg f;
	char *words[] = {(char *)"name", NULL}, **argv = words;
	uint64_t before = os__now();
	int argc = 1;

	tap__ok(before && os__now() >= before, "the clock");
	tap__ok(!os__arguments(&argc, &argv, &f) && argc == 1 && argv == words,
		"arguments are as they are");
	tap__ok(!os__is_windows(), "this is not Windows");
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max > 64 ? 64 : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	os__many_files();
	getrlimit(RLIMIT_NOFILE, &limit);
	tap__ok(limit.rlim_cur == limit.rlim_max, "as many files as are allowed");
}

/* What --until-eof asks: nothing is read. */
TEST(input)
{
	int ends[2], before = dup(STDIN_FILENO);
	bool silent, line, whole, end;
	char c = 0;

	tap__bail_if(pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0, "no pipe");
	silent = !os__input_over();
	line = write(ends[1], "\n", 1) == 1 && os__input_over();
	whole = read(STDIN_FILENO, &c, 1) == 1 && c == '\n' && !os__input_over();
	close(ends[1]);
	end = os__input_over();
	dup2(before, STDIN_FILENO);
	close(before);
	close(ends[0]);
	tap__ok(silent && line && whole && end, "a line and the end of input, and nothing before");
}
