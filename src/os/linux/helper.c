/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/linux/helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/rights.h"

#define END_MS	   500		/* for a helper to end once it was killed */
#define MEMORY_MAX (1ULL << 30) /* address space that a limited helper may add */

/* --- in the helper --- */

struct kept {
	int fds[HELPER_KEEP_MAX + 1]; /* ascending, above 2 */
	size_t n;
};

static void kept__add(struct kept *k, int fd)
{
	size_t at = k->n;

	if (fd <= STDERR_FILENO)
		return;
	for (; at && k->fds[at - 1] > fd; at--)
		k->fds[at] = k->fds[at - 1];
	k->fds[at] = fd;
	k->n++;
}

/* Close the descriptors from @first to @last; @given: only those that exec(2) closes. */
static void range__close(unsigned int first, unsigned int last, bool given)
{
	DIR *dir;
	struct dirent *entry;

	if (first > last)
		return;
#ifdef SYS_close_range
	if (!given && !syscall(SYS_close_range, first, last, 0))
		return;
#endif
	/* before Linux 5.9, and for single ones */
	dir = opendir("/proc/self/fd");
	while (dir && (entry = readdir(dir))) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && fd >= first && fd <= last && (int)fd != dirfd(dir) &&
		    (!given || fcntl((int)fd, F_GETFD) == FD_CLOEXEC))
			close((int)fd);
	}
	if (dir)
		closedir(dir);
}

static void descriptors__close(int fd, const struct helper_job *job)
{
	static const unsigned int flags[] = {0, HELPER_STDOUT, HELPER_STDERR};
	bool given = job->flags & HELPER_GIVEN;
	unsigned int next = STDERR_FILENO + 1;
	struct kept kept = {.n = 0};
	int null;

	kept__add(&kept, fd);
	for (size_t i = 0; i < HELPER_KEEP_MAX; i++)
		kept__add(&kept, job->keep[i]);
	for (size_t i = 0; i < kept.n; i++) {
		range__close(next, (unsigned int)kept.fds[i] - 1, given);
		next = (unsigned int)kept.fds[i] + 1;
	}
	range__close(next, UINT_MAX, given);
	if (given)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i <= STDERR_FILENO; i++)
		if (!(job->flags & flags[i]) && (null < 0 || dup2(null, i) < 0))
			close(i);
	if (null > STDERR_FILENO)
		close(null);
}

static void signals__detach(const struct helper_job *job)
{
	/* a signal to the terminal's job, or to all processes of a service, is not for a helper */
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGPIPE, SIGXFSZ,
				      SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
	sigset_t none;

	if (!(job->flags & HELPER_SESSION))
		setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What hostile input may make it use. */
static void memory__limit(void)
{
	unsigned long long pages = 0;
	struct rlimit limit = {0};
	FILE *file;

	setrlimit(RLIMIT_CORE, &limit);
	file = fopen("/proc/self/oom_score_adj", "we");
	if (file) {
		fputs("1000", file);
		fclose(file);
	}
	file = fopen("/proc/self/statm", "re");
	if (!file || fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	if (!pages || getrlimit(RLIMIT_AS, &limit))
		return;
	pages = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + MEMORY_MAX;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > pages) {
		limit.rlim_cur = pages;
		setrlimit(RLIMIT_AS, &limit);
	}
}

void helper__run(int fd, pid_t parent, const struct helper_job *job, const void *arg, bool greet)
{
	const struct helper_hello hello = {.pid = getpid()};
	bool outlives = job->flags & HELPER_OUTLIVES;

	prctl(PR_SET_PDEATHSIG, outlives ? 0 : SIGKILL);
	if (!outlives && getppid() != parent)
		_exit(0);
	signals__detach(job);
	descriptors__close(fd, job);
	prctl(PR_SET_NAME, job->name);
	if (job->flags & HELPER_LIMITED)
		memory__limit();
	rights__keep(job->rights);
	if (!greet || !helper__send(fd, &hello, sizeof(hello), -1, 0))
		job->run(fd, arg);
	_exit(0);
}

/* --- in the program --- */

int helper__start(struct helper *h, const struct helper_job *job, const void *arg)
{
	const pid_t parent = getpid();
	sigset_t all, before;
	int pair[2], err = 0;

	*h = HELPER_NONE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	/* until it has detached, it gets what the terminal sends to all of the job */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	h->pid = fork();
	if (!h->pid)
		helper__run(pair[1], parent, job, arg, false);
	err = h->pid < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(pair[1]);
	h->fd = pair[0];
	if (!err)
		return 0;
	close(pair[0]);
	*h = HELPER_NONE;
	return err;
}

bool helper__ended(struct helper *h)
{
	int got;

	if (h->pid <= 0)
		return true;
	do {
		got = waitpid(h->pid, NULL, WNOHANG);
	} while (got < 0 && errno == EINTR);
	if (got)
		h->pid = 0;
	return got != 0;
}

/* Does it end within @ms? */
static bool helper__ends(struct helper *h, int ms)
{
	while (!helper__ended(h) && ms-- > 0)
		poll(NULL, 0, 1);
	return !h->pid;
}

void helper__end(struct helper *h, int ms)
{
	if (h->fd >= 0) {
		/* not close() alone: a child that has not executed its program yet has a copy */
		shutdown(h->fd, SHUT_RDWR);
		close(h->fd);
	}
	if (h->pid > 0 && (ms <= 0 || !helper__ends(h, ms))) {
		kill(h->pid, SIGKILL);
		helper__ends(h, END_MS);
	}
	*h = HELPER_NONE;
}

/* --- messages --- */

int helper__send(int fd, const void *message, size_t size, int with, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {(void *)(uintptr_t)message, size};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t sent;

	if (with >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(with));
		memcpy(CMSG_DATA(c), &with, sizeof(with));
	}
	do {
		sent = sendmsg(fd, &msg, flags | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* The first descriptor of @c.  Padding leaves room for a second one, which is closed. */
static int control__descriptor(struct cmsghdr *c)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int first = -1, fd;

	for (size_t i = 0; i < n; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		if (i)
			close(fd);
		else
			first = fd;
	}
	return first;
}

ssize_t helper__receive(int fd, void *to, size_t size, int *with, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {to, size};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (with) {
		*with = -1;
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
	}
	do {
		n = recvmsg(fd, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (with && c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		*with = control__descriptor(c);
	return n;
}
