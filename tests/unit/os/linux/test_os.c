/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pipes, standard input and the limit of open files. */
#define _GNU_SOURCE
#include "os/os.h"

#include <sys/resource.h>

#include "child.h"
#include "tap.h"

BEFORE()
{
	signal(SIGPIPE, SIG_IGN);
}

TEST(pipe)
{
	char text[4096] = "";
	int pipes[2], n;
	pid_t pid;

	tap__bail_if(pipe2(pipes, O_NONBLOCK), "no pipe");
	while ((n = os__write(pipes[1], text, sizeof(text))) > 0)
		;
	tap__ok(n == -EAGAIN, "a full pipe");
	fcntl(pipes[0], F_SETFL, 0);
	pid = fork();
	tap__bail_if(pid < 0, "no child");
	while (!pid)
		(void)!read(pipes[0], text, sizeof(text));
	os__wait_writable(pipes[1]);
	tap__ok(os__write(pipes[1], "x", 1) == 1, "takes more when it was read");
	child__end(pid);
	tap__bail_if(pipe(pipes), "no pipe");
	close(pipes[0]);
	tap__ok(os__write(pipes[1], "x", 1) == -EPIPE, "a pipe whose reader has gone");
}

TEST(many_files)
{
	struct rlimit limit = {0};

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
	int ends[2];
	bool silent, line, whole, end;
	char c = 0;

	tap__bail_if(pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0, "no pipe");
	silent = !os__input_over();
	line = write(ends[1], "\n", 1) == 1 && os__input_over();
	whole = read(STDIN_FILENO, &c, 1) == 1 && c == '\n' && !os__input_over();
	close(ends[1]);
	end = os__input_over();
	tap__ok(silent && line && whole && end, "a line and the end of input, and nothing before");
}
