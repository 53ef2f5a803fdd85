/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parse.h"
#include "os/linux/users.h"
#include "os/rights.h"
#include "os/workload.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A number of sudo's, above 0. */
static bool sudo__number(const char *name, uint32_t *number)
{
	const char *text = getenv(name);
	uint64_t value;

	/* -1 means "as it is" to setresuid(2) */
	if (!text || parse__u64(text, UINT32_MAX - 1, &value) || !value)
		return false;
	*number = (uint32_t)value;
	return true;
}

bool workload__caller(struct workload_user *user)
{
	const struct passwd *known;
	const char *name, *home;

	if (getuid() || geteuid() || !sudo__number("SUDO_UID", &user->uid))
		return false;
	known = users__by_id(user->uid);
	if (!sudo__number("SUDO_GID", &user->gid))
		user->gid = known ? known->pw_gid : user->uid;
	name = known ? known->pw_name : getenv("SUDO_USER");
	home = known ? known->pw_dir : "/";
	snprintf(user->name, sizeof(user->name), "%s", name ? name : "");
	snprintf(user->home, sizeof(user->home), "%s", home);
	return true;
}

/* Become @user for good.  Whatever fails, the command does not run. */
static int child__become(const struct workload_user *user)
{
	int err;

	rights__raise(RIGHTS_USER);
	err = users__set_groups(user->name, user->gid);
	if (err)
		return err;
	if (setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid) || setenv("HOME", user->home, 1) ||
	    setenv("USER", user->name, 1) || setenv("LOGNAME", user->name, 1))
		return -errno;
	return 0;
}

/* Is @path a file that may be executed?  0 or an errno.  exec decides what is unclear. */
static int file__check(const char *path)
{
	struct stat st;
	int err = 0;

	if (stat(path, &st) || access(path, X_OK))
		err = errno;
	else if (!S_ISREG(st.st_mode))
		err = EACCES;
	return err == ENOENT || err == ENOTDIR || err == EACCES ? err : 0;
}

/* Does execvp() find the command @name?  0 or an errno.  Without a PATH the C library knows. */
static int command__check(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char file[PATH_MAX];
	int err = ENOENT;

	if (!*name || strchr(name, '/'))
		return file__check(name);
	for (; path; path = *end ? end + 1 : NULL) {
		int len, one = ENOENT;

		end = strchrnul(path, ':');
		len = snprintf(file, sizeof(file), "%.*s%s%s", (int)(end - path), path,
			       end > path ? "/" : "", name);
		if (len >= 0 && (size_t)len < sizeof(file))
			one = file__check(file);
		if (!one)
			return 0;
		if (one != ENOENT && one != ENOTDIR)
			err = one;
	}
	return getenv("PATH") ? err : 0;
}

/* Tell the parent, and end if @err is not 0. */
static void child__report(int report, int err)
{
	if (write(report, &err, sizeof(err)) != (ssize_t)sizeof(err))
		_exit(126);
	if (err)
		_exit(127);
}

/*
 * The child.  It reports whether the command is there, and after the gate why exec failed.  @gate
 * ends without a byte when the parent gave up or died.
 */
__attribute__((noreturn)) static void child(const struct workload *c, char **argv, bool own_stdout,
					    int gate, int report, const struct signals *signals)
{
	char go;
	int err;
	ssize_t n;

	signals__restore(signals);
	err = !own_stdout && dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? errno : 0;
	if (!err && c->user)
		err = -child__become(c->user);
	child__report(report, err ? err : command__check(argv[0]));
	do {
		n = read(gate, &go, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	/* The workers read it.  Where Yama allows only ancestors, they need this. */
	prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
	execvp(argv[0], argv);
	child__report(report, errno);
	_exit(127);
}

/* Wait for the child to report.  A report that is missing counts as 0. */
static int workload__reported(const struct workload *c, struct errmsg *f)
{
	int err = 0;
	ssize_t n;

	do {
		n = read(c->report, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(err) || !err)
		return 0;
	return c->user ? errmsg__set(f, -err,
				     "cannot run %s as user %u, who called sudo: %s "
				     "(--as-root runs it as root)",
				     c->name, c->user->uid, strerror(err))
		       : errmsg__set(f, -err, "cannot run %s: %s", c->name, strerror(err));
}

int workload__start(struct workload *c, char **argv, bool own_stdout,
		    const struct workload_user *user, const struct signals *signals,
		    struct errmsg *f)
{
	int gate[2] = {-1, -1}, report[2] = {-1, -1};
	int err = 0;

	*c = (struct workload){.name = argv[0], .user = user, .gate = -1, .report = -1};
	if (pipe2(gate, O_CLOEXEC) || pipe2(report, O_CLOEXEC)) {
		err = -errno;
		goto cleanup;
	}
	c->pid = fork();
	if (c->pid < 0) {
		err = -errno;
		c->pid = 0;
		goto cleanup;
	}
	if (!c->pid) {
		close_fd(&gate[1]);
		close_fd(&report[0]);
		child(c, argv, own_stdout, gate[0], report[1], signals);
	}
	c->gate = gate[1];
	c->report = report[0];
	gate[1] = report[0] = -1;
cleanup:
	for (int i = 0; i < 2; i++) {
		close_fd(&gate[i]);
		close_fd(&report[i]);
	}
	if (err)
		return errmsg__set(f, err, "cannot start %s: %s", argv[0], strerror(-err));
	err = workload__reported(c, f);
	if (err)
		workload__close(c);
	return err;
}

int workload__go(struct workload *c, struct errmsg *f)
{
	int err;

	if (write(c->gate, "", 1) != 1)
		return errmsg__set(f, -errno, "cannot start %s: %s", c->name, strerror(errno));
	close_fd(&c->gate);
	/* exec closes the child's end: nothing to read is success */
	err = workload__reported(c, f);
	close_fd(&c->report);
	return err;
}

/*
 * An engine may trace the child.  The kernel reports a stop to the first that waits, and the engine
 * has to take it (ptrace(2)).  So a report is inspected before it is taken.
 */
bool workload__ended(struct workload *c)
{
	siginfo_t info = {0};
	int err;

	if (c->ended || !c->pid)
		return c->ended;
	do {
		err = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) ? errno : 0;
	} while (err == EINTR);
	if (err) { /* somebody else has taken it */
		c->ended = true;
		return true;
	}
	if (!info.si_pid || info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED ||
	    info.si_code == CLD_CONTINUED)
		return false;
	while (waitpid(c->pid, &c->status, WNOHANG) < 0 && errno == EINTR)
		;
	c->ended = true;
	return true;
}

bool workload__wait(struct workload *c, int ms)
{
	while (!workload__ended(c) && ms > 0) {
		usleep(10000);
		ms -= 10;
	}
	return c->ended;
}

void workload__signal(const struct workload *c, int signal)
{
	uint64_t raised = rights__raise(RIGHTS_SIGNAL); /* it may run as another user */

	kill(c->pid, signal);
	rights__lower(raised);
}

bool workload__result(const struct workload *c, char *text, size_t size)
{
	if (!c->ended || (WIFEXITED(c->status) && !WEXITSTATUS(c->status)))
		return false;
	if (WIFEXITED(c->status))
		snprintf(text, size, "exited with status %d", WEXITSTATUS(c->status));
	else
		snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(c->status),
			 signals__name(WTERMSIG(c->status)));
	return true;
}

int workload__status(const struct workload *c)
{
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 128 + WTERMSIG(c->status);
}

void workload__close(struct workload *c)
{
	int status;

	close_fd(&c->report);
	if (c->gate >= 0 && c->pid > 0 && !c->ended) {
		close_fd(&c->gate);
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close_fd(&c->gate);
	c->pid = 0;
}
