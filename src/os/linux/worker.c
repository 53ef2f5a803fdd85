/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/linux/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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

#define WORKERS_MAX 64u		 /* at a time, with those killed that have not ended */
#define END_MS	    50		 /* for those that were killed at the end */
#define MEMORY_MAX  (1ULL << 30) /* address space that a worker may add to what it begins with */

/* What the nursery is told; NURSERY_FORK has the worker's end of its socket with it. */
enum nursery_order { NURSERY_FORK, NURSERY_KILL };

struct nursery_message {
	uint32_t order;
	uint32_t id;
};

struct nursery_child {
	uint32_t id;
	pid_t pid; /* 0: this place is free */
};

/* --- in the processes apart --- */

static void fds__close_range(unsigned int first, unsigned int last)
{
	DIR *dir;
	struct dirent *entry;

	if (first > last)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, last, 0))
		return;
#endif
	/* before Linux 5.9 */
	dir = opendir("/proc/self/fd");
	while (dir && (entry = readdir(dir))) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && fd >= first && fd <= last && (int)fd != dirfd(dir))
			close((int)fd);
	}
	if (dir)
		closedir(dir);
}

/* Keep @fd alone, as descriptor 3. */
static int fds__keep(int fd)
{
	int null;

	if (fd != 3) {
		dup3(fd, 3, O_CLOEXEC);
		fd = 3;
	}
	fds__close_range(4, ~0u);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			close(i);
	if (null > 3)
		close(null);
	return fd;
}

/*
 * Ends with its parent @parent (0: it does not); who signals the terminal or all of a service does
 * not mean it.
 */
static void process__detach(pid_t parent)
{
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGPIPE,
				      SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, parent ? SIGKILL : 0);
	if (parent && getppid() != parent)
		_exit(0);
	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int worker__become(int fd, pid_t parent)
{
	process__detach(parent);
	return fds__keep(fd);
}

int worker__outlive(int fd)
{
	process__detach(0);
	return fds__keep(fd);
}

/* What a hostile file may make it use; where memory is short it is the first to go. */
static void worker__limit(void)
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

__attribute__((noreturn)) static void worker__main(int fd, pid_t parent, worker_serve serve,
						   const void *arg)
{
	struct worker_hello hello;

	process__detach(parent);
	fd = fds__keep(fd);
	prctl(PR_SET_NAME, "xrprof-worker");
	worker__limit();
	hello.pid = getpid();
	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello))
		serve(fd, arg);
	_exit(0);
}

static void nursery__fork(struct nursery_child *children, uint32_t id, int fd, worker_serve serve,
			  const void *arg)
{
	pid_t self = getpid();

	for (unsigned int i = 0; i < WORKERS_MAX; i++) {
		pid_t pid;

		if (children[i].pid)
			continue;
		pid = fork();
		if (!pid)
			worker__main(fd, self, serve, arg);
		if (pid > 0)
			children[i] = (struct nursery_child){.id = id, .pid = pid};
		return;
	}
}

static void nursery__reap(struct nursery_child *children)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (unsigned int i = 0; i < WORKERS_MAX; i++)
			if (children[i].pid == pid)
				children[i].pid = 0;
}

/* Kill all, and collect those that end by it: in a container there may be nobody else who does. */
static void nursery__end(struct nursery_child *children)
{
	unsigned int left = 1;

	for (unsigned int i = 0; i < WORKERS_MAX; i++)
		if (children[i].pid)
			kill(children[i].pid, SIGKILL);
	for (int ms = 0; left && ms < END_MS; ms++) {
		nursery__reap(children);
		left = 0;
		for (unsigned int i = 0; i < WORKERS_MAX; i++)
			left += children[i].pid != 0;
		if (left)
			usleep(1000);
	}
}

/* Take one order.  False: the program has ended. */
static bool nursery__take(int fd, struct nursery_message *m, int *with)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {m, sizeof(*m)};
	struct msghdr msg = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	ssize_t n;

	*with = -1;
	do {
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*m))
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(with, CMSG_DATA(c), sizeof(*with));
	return true;
}

__attribute__((noreturn)) static void nursery__main(int fd, pid_t parent, worker_serve serve,
						    const void *arg)
{
	struct nursery_child children[WORKERS_MAX] = {0};
	struct nursery_message m;
	int with;

	process__detach(parent);
	rights__keep(RIGHTS_TARGET | RIGHTS_PRIORITY);
	fd = fds__keep(fd);
	prctl(PR_SET_NAME, "xrprof-nursery");
	while (nursery__take(fd, &m, &with)) {
		/* a pid is not used again before its process was reaped, which happens here only */
		nursery__reap(children);
		if (m.order == NURSERY_FORK && with >= 0)
			nursery__fork(children, m.id, with, serve, arg);
		for (unsigned int i = 0; m.order == NURSERY_KILL && i < WORKERS_MAX; i++)
			if (children[i].pid && children[i].id == m.id)
				kill(children[i].pid, SIGKILL);
		if (with >= 0)
			close(with);
	}
	nursery__end(children);
	_exit(0);
}

/* --- in the program --- */

int nursery__open(struct nursery *n, worker_serve serve, const void *arg, struct errmsg *f)
{
	pid_t parent = getpid();
	int pair[2], err;

	*n = NURSERY_NONE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
		goto failed;
	}
	n->pid = fork();
	if (n->pid < 0) {
		err = -errno;
		close(pair[0]);
		close(pair[1]);
		goto failed;
	}
	if (!n->pid)
		nursery__main(pair[1], parent, serve, arg);
	close(pair[1]);
	n->fd = pair[0];
	return 0;
failed:
	n->pid = 0;
	return errmsg__set(f, err, "cannot start the process that inspects others: %s",
			   strerror(-err));
}

static int nursery__send(struct nursery *n, const struct nursery_message *m, int with)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {(void *)(uintptr_t)m, sizeof(*m)};
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
		sent = sendmsg(n->fd, &msg, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int nursery__worker(struct nursery *n, uint32_t id)
{
	const struct nursery_message m = {.order = NURSERY_FORK, .id = id};
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	err = nursery__send(n, &m, pair[1]);
	close(pair[1]);
	if (!err)
		return pair[0];
	close(pair[0]);
	return err;
}

void nursery__kill(struct nursery *n, uint32_t id)
{
	const struct nursery_message m = {.order = NURSERY_KILL, .id = id};

	nursery__send(n, &m, -1);
}

void nursery__close(struct nursery *n)
{
	if (n->fd < 0)
		return;
	/* not close() alone: a child that has not executed its program yet has a copy */
	shutdown(n->fd, SHUT_RDWR);
	close(n->fd);
	/* it waits for nothing else than for this */
	while (waitpid(n->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*n = NURSERY_NONE;
}
