/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CHILD_H
#define CHILD_H

/*
 * Child processes of the unit tests: started in a known state, and ended with the test.
 */
#include <grp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "elf_fixture.h"
#include "tap.h"

/* child__end - and collect it. */
static inline void child__end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * child__fork - fork, in the child 0, in the parent the child's pid; in either @ready is the end of
 * a pipe that is its own.  The child ends with the test.
 */
static inline pid_t child__fork(int *ready)
{
	int pipes[2];
	pid_t pid;

	tap__bail_if(pipe2(pipes, O_CLOEXEC), "no pipe");
	fflush(stdout);
	pid = fork();
	tap__bail_if(pid < 0, "no child");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	*ready = pipes[!pid];
	close(pipes[!!pid]);
	return pid;
}

/* child__await - @pid, if a read of @ready gives @n bytes, 0: it was closed; else it ends: -1. */
static inline pid_t child__await(pid_t pid, int ready, ssize_t n)
{
	char byte;
	bool same = read(ready, &byte, 1) == n;

	close(ready);
	if (same)
		return pid;
	child__end(pid);
	return -1;
}

/*
 * child__start - a child that calls @run, which writes a byte to its descriptor when all is in
 * place and does not come back.  Returns once that byte is there, or -1.
 */
static inline pid_t child__start(void (*run)(int ready, void *arg), void *arg)
{
	int ready;
	pid_t pid = child__fork(&ready);

	if (!pid) {
		run(ready, arg);
		_exit(1);
	}
	return child__await(pid, ready, 1);
}

/* child__wait - what @run of child__start ends with. */
static inline void child__wait(int ready)
{
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* child__shared - @size bytes of zeros that this process shares with its children to come. */
static inline void *child__shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	tap__bail_if(memory == MAP_FAILED, "no memory");
	return memory;
}

/* child__user - become @id, of that group alone.  False: not allowed. */
static inline bool child__user(unsigned int id)
{
	return !setgroups(0, NULL) && !setresgid(id, id, id) && !setresuid(id, id, id);
}

/* Is the exec of @pid over?  Where its code is (field 26 of stat) is set when all is mapped. */
static inline bool child__executed(pid_t pid)
{
	char path[32];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = tap__read(path, NULL);
	at = at ? strrchr(at, ')') : NULL; /* the end of field 2 */
	for (int field = 2; at && field < 26; field++)
		at = strchr(at + 1, ' ');
	return at && strtoull(at, NULL, 10);
}

/* child__exec - a child that runs the program @path, once it does; -1: it cannot. */
static inline pid_t child__exec(const char *path, const char *arg)
{
	int ready;
	pid_t pid = child__fork(&ready);

	if (!pid) {
		execl(path, path, arg, (char *)NULL);
		_exit(write(ready, "", 1) != 1);
	}
	pid = child__await(pid, ready, 0);	 /* the exec closes the other end, */
	while (pid > 0 && !child__executed(pid)) /* then names the process, and maps it */
		usleep(1000);
	return pid;
}

/*
 * child__mount - give this process a new mount namespace, with an empty tmpfs on @folder; @options
 * are the file system's.  Return false if that is not possible here: no root, or "/" is not a
 * mount point, as in a chroot.
 */
static inline bool child__mount(const char *folder, const char *options)
{
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", folder, "tmpfs", 0, options);
}

/*
 * child__file - write R's file of elf_fixture.h to @path.
 * @program: it can be run; @named: it has R's variables.
 */
static inline void child__file(const char *path, bool program, bool named)
{
	static uint8_t data[FIXTURE_SIZE];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	fixture__make(data, "2.2", "2022");
	if (program)
		fixture__make_program(data);
	if (!named)
		data[FIXTURE_STRINGS + 3] = 'x'; /* of R_GlobalContext */
	tap__bail_if(fd < 0 || write(fd, data, sizeof(data)) != sizeof(data) || close(fd),
		     "cannot write %s", path);
}

/* child__holds - does @test hold in a child?  For what is for good, or counts for the process. */
static inline bool child__holds(bool (*test)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(!test());
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

#endif
