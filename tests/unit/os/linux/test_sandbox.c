/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each role may do, what fails, and what ends it: in children. */
#define _GNU_SOURCE
#include "os/linux/sandbox.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tap.h"

typedef bool (*act)(void);

/* The wait status of a child that enters @role and does @act: 0 if that held. */
static int status_of(enum sandbox_role role, act act)
{
	struct rlimit none = {0, 0};
	int status = -1;
	struct errmsg f;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		if (sandbox__enter(role, &f))
			_exit(2);
		_exit(!act());
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static bool killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static void *thread(void *arg)
{
	*(int *)arg = 1;
	return arg;
}

/* What C libraries and OpenSSL do: threads, memory, files, sockets, time. */
static bool do_work(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int ran = 0, fd, fds[2];
	struct stat st;
	pthread_t t;
	FILE *file;
	void *p;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p = malloc(10 << 20);
	if (!p || pthread_create(&t, NULL, thread, &ran) || pthread_join(t, NULL) || !ran)
		return false;
	free(p);
	file = fopen("/proc/self/statm", "re");
	if (!file || fgetc(file) == EOF || fclose(file) || stat("/", &st))
		return false;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1) || close(fd))
		return false;
	return !socketpair(AF_UNIX, SOCK_STREAM, 0, fds) && write(fds[0], "x", 1) == 1 &&
	       epoll_create1(0) >= 0 && !usleep(1) && getpid() > 0;
}

static bool do_fork(void)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid)
		_exit(0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* Who is it, and of which session?  A handler of SIGHUP asks. */
static bool do_who(void)
{
	return getpid() > 0 && getppid() > 0 && getsid(0) >= 0;
}

static bool do_exec(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return true;
}

static bool do_ptrace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool do_bpf(void)
{
	/* BPF_MAP_CREATE, of nothing: refused, but asked */
	return syscall(SYS_bpf, 0, NULL, 0) < 0 && errno != ENOSYS;
}

/* As libbpf does before a map is there. */
static bool do_memory_file(void)
{
	int fd = memfd_create("libbpf-placeholder-fd", MFD_CLOEXEC);

	return fd >= 0 && !close(fd);
}

static bool do_events(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) < 0 && errno == EFAULT;
}

static bool do_read_memory(void)
{
	char byte = 'a', got = 0;
	struct iovec here = {&got, 1}, there = {&byte, 1};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 && got == 'a';
}

static bool do_write_memory(void)
{
	char byte = 'a', got = 0;
	struct iovec here = {&got, 1}, there = {&byte, 1};

	return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1;
}

static bool do_mount(void)
{
	return syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL) < 0;
}

static bool do_unknown(void)
{
	return syscall(SYS_mq_open, "/x", 0) < 0 && errno == ENOSYS && syscall(1000000) < 0 &&
	       errno == ENOSYS;
}

static act in_front;

/* The front's on top of the service's, as it is. */
static bool do_front(void)
{
	struct errmsg f;

	return !sandbox__enter(SANDBOX_FRONT, &f) && in_front();
}

static const struct {
	const char *what;
	act act;
	bool service, front; /* does it hold? Or is it the end? */
} rows[] = {
	{"threads, memory, files, sockets, time", do_work, true, true},
	{"a child", do_fork, true, true},
	{"asking who it is", do_who, true, true},
	{"a call that is not needed fails with ENOSYS", do_unknown, true, true},
	{"another program", do_exec, false, false},
	{"writing to a process", do_write_memory, false, false},
	{"mounting", do_mount, false, false},
	{"tracing", do_ptrace, true, false},
	{"BPF", do_bpf, true, false},
	{"perf events", do_events, true, false},
	{"reading a process", do_read_memory, true, false},
};

TEST(sandbox)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		int service = status_of(SANDBOX_SERVICE, rows[i].act);
		int front = status_of(SANDBOX_FRONT, rows[i].act);

		tap__ok(rows[i].service ? !service : killed(service), "service: %s: %s",
			rows[i].what, rows[i].service ? "goes" : "is the end");
		tap__ok(rows[i].front ? !front : killed(front), "front: %s: %s", rows[i].what,
			rows[i].front ? "goes" : "is the end");
	}
	tap__ok(!status_of(SANDBOX_SERVICE, do_memory_file), "service: a file in memory");
	in_front = do_work;
	tap__ok(!status_of(SANDBOX_SERVICE, do_front), "a front of the service works");
	in_front = do_bpf;
	tap__ok(killed(status_of(SANDBOX_SERVICE, do_front)), "with the front's filter");
}
