/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For whom the sources that a process names may be read, and where they are looked for. */
#define _GNU_SOURCE
#include "session/reader.h"

#include <sched.h>

#include "tap.h"

/* A child that has done @prepare, and waits; 0: it could not. */
static pid_t child(int (*prepare)(void))
{
	char told = 0;
	int pipe_[2];
	pid_t pid;

	tap__bail_if(pipe(pipe_), "no pipe");
	pid = fork();
	if (!pid) {
		told = prepare() ? 'n' : 'y';
		if (write(pipe_[1], &told, 1) == 1)
			pause();
		_exit(0);
	}
	tap__bail_if(pid < 0 || read(pipe_[0], &told, 1) != 1, "no child");
	close(pipe_[0]);
	close(pipe_[1]);
	if (told == 'y')
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

static int in_root_folder(void)
{
	return chdir("/usr");
}

static int of_other_mounts(void)
{
	return unshare(CLONE_NEWNS);
}

static int of_other_root(void)
{
	return chroot("/usr") || chdir("/");
}

static struct reader look(int (*prepare)(void), bool forked, bool *made)
{
	struct reader r = {0};
	pid_t pid = child(prepare);

	*made = pid;
	if (pid) {
		reader__look(&r, pid, forked);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return r;
}

TEST(reader)
{
	struct reader r;
	bool made;

	r = look(in_root_folder, false, &made);
	tap__ok(r.directory && !strcmp(r.directory, "/usr") && r.uid == getuid(),
		"a process' folder and user are known");
	reader__look(&r, 0, false);
	tap__ok(r.directory, "and stay, when it has ended");
	r.uid++;
	reader__look(&r, getpid(), false);
	tap__ok(!r.directory, "one that changed its user counts for nothing");
	reader__look(&r, getpid(), false);
	tap__ok(!r.directory, "for good");
	reader__end(&r);

	r = look(in_root_folder, true, &made);
	tap__ok(geteuid() ? !!r.directory : !r.directory,
		"root's children count for nothing, others' do");
	reader__end(&r);

	r = look(of_other_mounts, false, &made);
	if (made)
		tap__ok(!r.directory, "one with other mounts sees other files");
	else
		tap__skip("this takes root", "one with other mounts sees other files");
	reader__end(&r);
	r = look(of_other_root, false, &made);
	if (made)
		tap__ok(!r.directory, "and so does one with another root");
	else
		tap__skip("this takes root", "and so does one with another root");
	reader__end(&r);
}
