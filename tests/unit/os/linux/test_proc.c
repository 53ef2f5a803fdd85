/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What /proc says of processes, on this one and its children; the text itself: test_proc_maps.c. */
#define _GNU_SOURCE
#include "os/proc.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "child.h"

#define NAME "a test" /* of this process */

static const char here[] = "this is in the memory of the process";

/* A user of a domain; numbers that are there in a user namespace of 65,536, too. */
static bool read__with_groups(void)
{
	static gid_t groups[1015];
	struct proc p;

	for (size_t i = 0; i < COUNT(groups); i++)
		groups[i] = 60000 + (gid_t)i;
	poll(NULL, 0, 1); /* it goes from a CPU */
	return !setgroups(COUNT(groups), groups) && !proc__read(getpid(), &p) && p.switches;
}

/* root by its real user, another user by its effective one */
static void run_other_user(int ready, void *arg)
{
	if (!seteuid(65534))
		child__wait(ready);
}

BEFORE()
{
	prctl(PR_SET_NAME, NAME);
}

TEST(read)
{
	struct proc p;
	pid_t pid;

	tap__ok(!proc__read(getpid(), &p) && p.tgid == getpid() && p.ppid == getppid() &&
			p.uid == geteuid() && p.threads == 1 && p.state == 'R' && p.start_time &&
			p.stack && !p.kernel && !p.ending && !strcmp(p.comm, NAME),
		"this process");
	tap__ok(p.start_time == proc__start_time(getpid()), "its start");
	if (tap__root()) {
		tap__ok(child__holds(read__with_groups), "one of a user in many groups");
		pid = child__start(run_other_user, NULL);
		tap__ok(pid > 0 && !proc__read(pid, &p) && p.uid == 65534, "the effective user");
		child__end(pid);
	}
	pid = fork();
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	tap__ok(!proc__read(pid, &p) && p.state == 'Z' && p.ending && p.ppid == getpid(),
		"one that has ended, but was not collected");
	waitpid(pid, NULL, 0);
	tap__ok(proc__read(pid, &p) == -ESRCH && !proc__start_time(pid), "and then is gone");
	tap__ok(proc__read(0, &p) == -ESRCH && proc__read(-1, &p) == -ESRCH,
		"0 and -1 are not pids");
}

/* The same bytes by process_vm_readv() or, where @forbidden, by /proc/PID/mem. */
static bool memory__works(void)
{
	/* the second page is not there: one that is protected /proc/PID/mem would read */
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[sizeof(here)] = "", *hole = page + 4096;

	return page != MAP_FAILED && !munmap(hole, 4096) &&
	       !proc__memory(getpid(), (uint64_t)(uintptr_t)here, text, sizeof(text)) &&
	       !strcmp(text, here) && proc__memory(getpid(), 16, text, sizeof(text)) == -EFAULT &&
	       proc__memory(getpid(), UINT64_MAX - 64, text, sizeof(text)) == -EFAULT &&
	       proc__memory(getpid(), (uint64_t)(uintptr_t)hole - 8, text, 16) == -EFAULT &&
	       proc__memory(1 << 22, (uint64_t)(uintptr_t)here, text, 8) == -ESRCH;
}

static bool memory__forbidden(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = COUNT(code), .filter = code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) && memory__works();
}

TEST(memory)
{
	tap__ok(memory__works(), "memory, and where none is, and of no process");
	tap__ok(child__holds(memory__forbidden), "the same where process_vm_readv() is forbidden");
}

TEST(files)
{
	char path[4096], small[4], self[4096];
	bool deleted = true;
	struct stat a, b;
	FILE *in;
	int fd, watch;

	in = proc__fopen(getpid(), "comm");
	tap__ok(in && fgets(path, sizeof(path), in) && !strcmp(path, NAME "\n"), "a file of /proc");
	if (in)
		fclose(in);
	tap__ok(proc__open(getpid(), "nothing") == -ENOENT && !proc__fopen(getpid(), "nothing") &&
			errno == ENOENT,
		"one that is not there");
	tap__ok(!proc__exe(getpid(), path, sizeof(path), &deleted) && path[0] == '/' && !deleted,
		"the program");
	tap__ok(proc__exe(getpid(), small, sizeof(small), &deleted) == -ENAMETOOLONG &&
			proc__exe(1 << 22, path, sizeof(path), &deleted) == -ENOENT,
		"a buffer too small, and no process");
	tap__bail_if(!realpath("/proc/self/exe", self), "no path of this program");
	fd = proc__open_in_root(getpid(), self);
	tap__ok(fd >= 0 && !fstat(fd, &a) && !stat(self, &b) && a.st_ino == b.st_ino,
		"a file below the process' root");
	close(fd);
	tap__ok(proc__open_in_root(getpid(), "/no/such/file") == -ENOENT &&
			proc__open_in_root(getpid(), "/dev") == -ENOENT &&
			proc__open_in_root(getpid(), "/dev/null") == -ENOENT &&
			proc__open_in_root(1 << 22, self) == -ENOENT,
		"no file, a directory, a device, no process");
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	tap__bail_if(mkfifo(tap__path("fifo"), 0600) ||
			     inotify_add_watch(watch, tap__path("fifo"), IN_OPEN) < 0,
		     "no pipe to be watched");
	tap__ok(proc__open_in_root(getpid(), tap__path("fifo")) == -ENOENT &&
			proc__open_regular(tap__path("fifo")) == -ENOENT &&
			read(watch, self, sizeof(self)) < 0 && errno == EAGAIN,
		"what is not a regular file is not even opened");
}

TEST(deleted)
{
	const char *name = tap__path("program");
	char path[4096] = "";
	bool deleted = false;
	pid_t pid;

	child__file(name, true, true);
	pid = child__exec(name, NULL);
	unlink(name);
	tap__ok(pid > 0 && !proc__exe(pid, path, sizeof(path), &deleted) && deleted &&
			!strcmp(path, name),
		"a program that was deleted: %s", path);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *name, *text, *path;
	bool container;
} cgroups[] = {
	{"version 2", "0::/user.slice/session-2.scope\n", "/user.slice/session-2.scope", false},
	{"version 2, Docker with systemd", "0::/system.slice/docker-" ID ".scope\n",
	 "/system.slice/docker-" ID ".scope", true},
	{"version 2, Docker with cgroupfs", "0::/docker/" ID "\n", "/docker/" ID, true},
	{"version 1", "11:cpu,cpuacct:/a\n2:pids:/user.slice\n1:name=systemd:/user.slice/x.scope\n",
	 "/user.slice/x.scope", false},
	{"version 1, Docker", "11:cpu,cpuacct:/docker/" ID "\n1:name=systemd:/docker/" ID "\n",
	 "/docker/" ID, true},
	{"version 1, one controller alone", "3:memory:/jobs/7\n", "/jobs/7", false},
	{"version 1, a container in a controller alone",
	 "4:memory:/lxc/" ID "\n1:name=systemd:/system.slice/lxc.service\n", "/lxc/" ID, true},
	{"hybrid, Docker with cgroupfs",
	 "12:memory:/docker/" ID "\n1:name=systemd:/docker/" ID
	 "\n0::/system.slice/containerd.service\n",
	 "/docker/" ID, true},
	{"hybrid, the unified one empty", "1:name=systemd:/user.slice/x.scope\n0::/\n",
	 "/user.slice/x.scope", false},
	{"OpenRC", "11:devices:/\n10:name=openrc:/sshd\n0::/\n", "/sshd", false},
	{"OpenRC, Docker", "11:devices:/docker/" ID "\n10:name=openrc:/docker/" ID "\n0::/docker\n",
	 "/docker/" ID, true},
	{"the root of all", "2:cpu:/\n1:name=systemd:/\n0::/\n", "/", false},
	{"colons in the path", "0::/a:b\n", "/a:b", false},
	{"no lines", "", "", false},
	{"not such lines", "nothing\n1:no\n", "", false},
};

TEST(cgroup)
{
	char text[512];
	char path[4096] = "x", id[65];

	tap__ok(!proc__cgroup(getpid(), path, sizeof(path)) && (!path[0] || path[0] == '/'),
		"the cgroup of this process: '%s'", path);
	tap__ok(proc__cgroup(1 << 22, path, sizeof(path)) == -ENOENT && !path[0], "of no process");
	for (size_t i = 0; i < COUNT(cgroups); i++) {
		snprintf(text, sizeof(text), "%s", cgroups[i].text);
		proc__parse_cgroup(text, path, sizeof(path));
		tap__ok(!strcmp(path, cgroups[i].path), "%s: '%s'", cgroups[i].name, path);
		tap__ok(proc__container(path, id) == cgroups[i].container &&
				(!cgroups[i].container || !strcmp(id, ID)),
			"%s: its container", cgroups[i].name);
	}
	tap__ok(!proc__container("/docker-" ID "a", id) && !proc__container("/user.slice", id) &&
			!proc__container("", id),
		"no container: too long, too short, and nothing");
}
