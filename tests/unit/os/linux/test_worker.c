/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes apart: what they have, what ends them, and what does not. */
#define _GNU_SOURCE
#include <dirent.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "os/linux/worker.h"
#include "tap.h"

/* What a worker tells of itself. */
struct report {
	pid_t pid, parent, session;
	int files;	   /* descriptors but the directory that lists them */
	char first[3][32]; /* where descriptors 0 to 2 lead to */
	uint64_t memory;   /* RLIMIT_AS */
	bool allocated;	   /* 4 GiB could be had */
	int given;
};

static void report__fill(struct report *r)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	struct rlimit limit;
	void *much;

	*r = (struct report){.pid = getpid(), .parent = getppid(), .session = getsid(0)};
	while (dir && (entry = readdir(dir)))
		r->files += entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir);
	if (dir)
		closedir(dir);
	for (int i = 0; i < 3; i++) {
		char link[32];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", i);
		if (readlink(link, r->first[i], sizeof(r->first[i]) - 1) < 0)
			r->first[i][0] = '\0';
	}
	if (!getrlimit(RLIMIT_AS, &limit))
		r->memory = limit.rlim_cur;
	much = mmap(NULL, (size_t)4 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	r->allocated = much != MAP_FAILED;
	if (r->allocated)
		munmap(much, (size_t)4 << 30);
}

static const int given = 4711;

static void serve(int fd, const void *arg)
{
	struct report r;
	char what;

	while (recv(fd, &what, 1, 0) == 1) {
		switch (what) {
		case 'd':
			raise(SIGKILL);
			break;
		case 'h':
			for (;;)
				pause();
		case 's':
			kill(0, SIGINT);
			kill(0, SIGTERM);
			kill(0, SIGHUP);
			break;
		}
		report__fill(&r);
		r.given = *(const int *)arg;
		if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) < 0)
			return;
	}
}

/* A worker, and who it is: the last one's. */
static struct worker_hello hello;

static int worker(struct nursery *n, uint32_t id)
{
	int fd = nursery__worker(n, id);

	if (fd >= 0 && recv(fd, &hello, sizeof(hello), 0) != sizeof(hello))
		hello.pid = 0;
	return fd;
}

static bool ask(int fd, char what, struct report *r)
{
	return send(fd, &what, 1, MSG_NOSIGNAL) == 1 && recv(fd, r, sizeof(*r), 0) == sizeof(*r);
}

/* Is the other end hung up within a minute? */
static bool hung_up(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 60000) == 1;
}

static bool ended(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 6000; i++) {
		const char *text = tap__read(path, NULL);

		if (!text || !*text || strstr(text, ") Z "))
			return true;
		usleep(10000);
	}
	return false;
}

TEST(life)
{
	struct nursery n;
	struct errmsg f = {""};
	struct report a, b;
	int one, two, kept = dup(1);

	tap__bail_if(nursery__open(&n, serve, &given, &f), "%s", f.text);
	one = worker(&n, 1);
	two = worker(&n, 2);
	tap__ok(one >= 0 && two >= 0 && ask(one, 'r', &a) && ask(two, 'r', &b) && a.pid != b.pid,
		"two workers answer");
	tap__ok(b.pid == hello.pid, "who they are they say first");
	tap__ok(a.parent == n.pid && b.parent == n.pid, "neither is a child of the program");
	tap__ok(a.files == 4 && b.files == 4,
		"each has its socket and descriptors 0 to 2 alone (%d, %d)", a.files, b.files);
	tap__ok(!strcmp(a.first[0], "/dev/null") && !strcmp(a.first[1], "/dev/null") &&
			!strcmp(a.first[2], "/dev/null"),
		"which lead nowhere");
	tap__ok(a.given == given && b.given == given, "they have what the nursery was given");
	tap__ok(a.session != getsid(0) && b.session != getsid(0), "they belong to no terminal");
	tap__ok(a.memory && !a.allocated, "memory is limited");
	tap__ok(ask(one, 's', &a), "signals that end a session are not for them");
	tap__ok(!ask(two, 'd', &b) && hung_up(two), "one that dies is seen to");
	tap__ok(ask(one, 'r', &a), "the other is still there");
	close(two);
	two = worker(&n, 3);
	tap__ok(ask(two, 'r', &b), "another takes its place");
	tap__bail_if(send(two, "h", 1, 0) != 1, "cannot send");
	nursery__kill(&n, 3);
	tap__ok(hung_up(two), "one that hangs is killed");
	nursery__kill(&n, 3);
	nursery__kill(&n, 99);
	tap__ok(ask(one, 'r', &a), "and nobody else");
	nursery__close(&n);
	tap__ok(hung_up(one) && ended(a.pid), "at the end none is left");
	close(one);
	close(two);
	close(kept);
}

/* The program ends in a way that it cannot act on. */
TEST(orphans)
{
	struct report r = {0};
	pid_t pid, nursery = 0;
	int pipes[2];

	tap__bail_if(pipe(pipes), "no pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct nursery n;
		int fd;

		if (nursery__open(&n, serve, &given, NULL))
			_exit(1);
		fd = worker(&n, 1);
		if (!ask(fd, 'r', &r) || send(fd, "h", 1, 0) != 1 ||
		    write(pipes[1], &r.pid, sizeof(r.pid)) < 0 ||
		    write(pipes[1], &n.pid, sizeof(nursery)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipes[1]);
	tap__bail_if(read(pipes[0], &r.pid, sizeof(r.pid)) != sizeof(r.pid) ||
			     read(pipes[0], &nursery, sizeof(nursery)) != sizeof(nursery),
		     "no worker");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap__ok(ended(r.pid), "a worker ends with the program, though it hangs");
	tap__ok(ended(nursery), "and so does who forked it");
	close(pipes[0]);
}

TEST(many)
{
	struct nursery n;
	struct errmsg f = {""};
	struct report r;
	int fds[80];
	unsigned int answered = 0, refused = 0;

	tap__bail_if(nursery__open(&n, serve, &given, &f), "%s", f.text);
	for (unsigned int i = 0; i < 80; i++)
		fds[i] = worker(&n, i + 1);
	for (unsigned int i = 0; i < 80; i++) {
		if (ask(fds[i], 'r', &r))
			answered++;
		else
			refused += hung_up(fds[i]);
	}
	tap__ok(answered == 64 && refused == 16, "there are as many as may be: %u, %u are refused",
		answered, refused);
	nursery__close(&n);
	for (unsigned int i = 0; i < 80; i++)
		close(fds[i]);
	nursery__close(&n);
	tap__ok(n.fd < 0, "closed twice");
}
