/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that map a made-up libR.so (elf_fixture.h) and follow orders, for tests of the session.
 * Include it after tap.h, in one file of a program.
 */
#ifndef R_CHILD_H
#define R_CHILD_H

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "elf_fixture.h"

static char library[96];

struct child {
	pid_t pid;
	int fd; /* one letter is sent for each thing it is to do, and sent back */
};

static uint8_t *child__map(void)
{
	int fd = open(library, O_RDONLY | O_CLOEXEC);
	uint8_t *base = mmap(NULL, FIXTURE_SPAN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || base == MAP_FAILED ||
	    mmap(base, 0x1000, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED ||
	    mmap(base + FIXTURE_CODE_ADDR, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		 fd, FIXTURE_CODE) == MAP_FAILED)
		_exit(1);
	close(fd);
	return base;
}

#define CHILD_COMPUTES (CLOCKS_PER_SEC / 1000 * 60) /* of CPU time, at least */

__attribute__((noreturn)) static void child__run(int fd)
{
	uint8_t *base = NULL;
	uint64_t *var = NULL;
	char todo;

	while (read(fd, &todo, 1) == 1) {
		switch (todo) {
		case 'm': /* the code is mapped, the variables are not */
			base = child__map();
			var = (uint64_t *)(base + FIXTURE_DATA_ADDR);
			break;
		case 'v': /* and now they are */
			if (mprotect(var, 0x1000, PROT_READ | PROT_WRITE))
				_exit(1);
			break;
		case 'b': /* R begins */
			for (size_t i = FIXTURE_NAMES; i-- > 0;)
				var[i] = 0x10000 * (i + 1);
			break;
		case 'c': /* it computes */
			for (const clock_t end = clock() + CHILD_COMPUTES; clock() <= end;)
				;
			break;
		}
		if (write(fd, &todo, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void child__do(struct child *c, const char *todo)
{
	char done;

	for (; *todo; todo++)
		tap__bail_if(write(c->fd, todo, 1) != 1 || read(c->fd, &done, 1) != 1 ||
				     done != *todo,
			     "a child did not do what it was to do");
}

static inline struct child child__start(const char *todo)
{
	struct child c;
	int fds[2];

	tap__bail_if(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), "no socket");
	fflush(stdout);
	c.pid = fork();
	tap__bail_if(c.pid < 0, "no child");
	if (!c.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		child__run(fds[1]);
	}
	close(fds[1]);
	c.fd = fds[0];
	child__do(&c, todo);
	return c;
}

static inline void child__end(struct child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
		close(c->fd);
	}
	c->pid = 0;
}

/* Write the file that children map. */
static void library__make(void)
{
	static uint8_t data[FIXTURE_SIZE];

	snprintf(library, sizeof(library), "%s", tap__path("libR.so"));
	fixture__make(data, "2.2", "2022");
	tap__write(library, data, sizeof(data));
}

#endif
