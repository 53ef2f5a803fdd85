/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helper processes: what they have, what ends them, and what does not. */
#define _GNU_SOURCE
#include <dirent.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "os/linux/helper.h"
#include "os/linux/rights.h"
#include "child.h"
#include "tap.h"

/* What a helper reports of itself. */
struct report {
	pid_t pid, parent, session;
	int files;	   /* descriptors but the directory that lists them */
	char first[3][32]; /* where descriptors 0 to 2 lead to */
	uint64_t memory;   /* RLIMIT_AS */
	bool allocated;	   /* 4 GiB could be allocated */
	uint64_t rights;   /* capabilities */
	int given;
};

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir);
	if (dir)
		closedir(dir);
	return n;
}

static void report__fill(struct report *r)
{
	struct rlimit limit;
	void *much;

	*r = (struct report){.pid = getpid(), .parent = getppid(), .session = getsid(0)};
	r->files = open_files();
	for (int i = 0; i < 3; i++) {
		char link[32];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", i);
		if (readlink(link, r->first[i], sizeof(r->first[i]) - 1) < 0)
			r->first[i][0] = '\0';
	}
	r->rights = rights__permitted();
	if (!getrlimit(RLIMIT_AS, &limit))
		r->memory = limit.rlim_cur;
	much = mmap(NULL, (size_t)4 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	r->allocated = much != MAP_FAILED;
	if (r->allocated)
		munmap(much, (size_t)4 << 30);
}

static const int given = 4711;

static void report__serve(int fd, const void *arg)
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

static const struct helper_job limited = {
	.name = "helper", .flags = HELPER_LIMITED, .run = report__serve};

/* Of the last helper of a pool. */
static struct helper_hello hello;
static uint32_t id;

static int start(struct helper_pool *pool)
{
	int fd = helper_pool__start(pool, &limited, &id);

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
	struct helper_pool pool;
	struct errmsg f = {""};
	struct report a, b;
	int one, two;

	tap__bail_if(dup(1) < 0, "no descriptor that helpers are not to have");
	tap__bail_if(helper_pool__open(&pool, &given, &f), "%s", f.text);
	one = start(&pool);
	two = start(&pool);
	tap__ok(one >= 0 && two >= 0 && ask(one, 'r', &a) && ask(two, 'r', &b) && a.pid != b.pid,
		"two helpers answer");
	tap__ok(b.pid == hello.pid, "the first message of a helper has its pid");
	tap__ok(a.parent == pool.helper.pid && b.parent == pool.helper.pid,
		"the pool is their parent");
	tap__ok(a.files == 4 && b.files == 4,
		"each has its socket and descriptors 0 to 2 alone (%d, %d)", a.files, b.files);
	tap__ok(!strcmp(a.first[0], "/dev/null") && !strcmp(a.first[1], "/dev/null") &&
			!strcmp(a.first[2], "/dev/null"),
		"which are /dev/null");
	tap__ok(a.given == given && b.given == given, "they have the argument of the pool");
	tap__ok(a.session != getsid(0) && b.session != getsid(0), "they have separate sessions");
	tap__ok(a.memory && !a.allocated, "memory is limited");
	tap__ok(ask(one, 's', &a), "signals that end a session do not end them");
	tap__ok(!ask(two, 'd', &b) && hung_up(two), "the socket of one that dies is hung up");
	tap__ok(ask(one, 'r', &a), "the other one still answers");
	close(two);
	two = start(&pool);
	tap__ok(ask(two, 'r', &b), "another takes its place");
	tap__bail_if(send(two, "h", 1, 0) != 1, "cannot send");
	helper_pool__kill(&pool, id);
	tap__ok(hung_up(two), "one that hangs is killed");
	helper_pool__kill(&pool, id);
	helper_pool__kill(&pool, 99);
	tap__ok(ask(one, 'r', &a), "and no other one");
	helper_pool__close(&pool);
	tap__ok(hung_up(one) && ended(a.pid), "closing the pool ends all of them");
}

/* What a job asks for beyond its socket. */
TEST(flags)
{
	struct helper_job job = {.name = "helper", .run = report__serve};
	const int file = dup(1), kept = dup(1);
	struct helper h;
	struct report r;

	tap__bail_if(helper__start(&h, &job, &given), "cannot start it");
	tap__ok(ask(h.fd, 'r', &r) && r.parent == getpid() && !r.rights,
		"a helper has no capability that its job does not name");
	tap__ok(!helper__ended(&h), "it runs");
	helper__end(&h, 60000);
	tap__ok(ended(r.pid) && h.fd == -1 && helper__ended(&h), "hanging up ends it");
	job.flags = HELPER_OUTLIVES | HELPER_SESSION | HELPER_STDOUT;
	job.keep[1] = kept;
	tap__bail_if(helper__start(&h, &job, &given), "cannot start it");
	tap__ok(ask(h.fd, 'r', &r) && r.files == 5 && r.session == getsid(0) &&
			!strcmp(r.first[0], "/dev/null") && strcmp(r.first[1], "/dev/null") != 0 &&
			!strcmp(r.first[2], "/dev/null"),
		"it keeps the session and descriptors that the job names");
	tap__bail_if(send(h.fd, "h", 1, 0) != 1, "cannot send");
	helper__end(&h, 0);
	tap__ok(ended(r.pid), "one that hangs is killed");
	job.flags = HELPER_GIVEN;
	fcntl(file, F_SETFD, FD_CLOEXEC);
	tap__bail_if(helper__start(&h, &job, &given), "cannot start it");
	tap__ok(ask(h.fd, 'r', &r) && r.files == open_files() - 1,
		"or all that exec would leave open");
	helper__end(&h, 60000);
}

/* A program whose helper hangs; @arg: the helper's and the pool's pid. */
static void program(int ready, void *arg)
{
	struct helper_pool pool;
	struct report r;
	pid_t *pids = arg;
	int fd;

	if (helper_pool__open(&pool, &given, NULL))
		return;
	fd = start(&pool);
	if (!ask(fd, 'r', &r) || send(fd, "h", 1, 0) != 1)
		return;
	pids[0] = r.pid;
	pids[1] = pool.helper.pid;
	child__wait(ready);
}

/* The program ends in a way that it cannot act on. */
TEST(orphans)
{
	pid_t *pids = child__shared(2 * sizeof(*pids));
	pid_t pid = child__start(program, pids);

	tap__bail_if(pid < 0, "no helper");
	child__end(pid);
	tap__ok(ended(pids[0]), "a helper ends with the program, though it hangs");
	tap__ok(ended(pids[1]), "and so does the pool");
}

TEST(many)
{
	struct helper_pool pool;
	struct errmsg f = {""};
	struct report r;
	int fds[80];
	unsigned int answered = 0, refused = 0;

	tap__bail_if(helper_pool__open(&pool, &given, &f), "%s", f.text);
	for (unsigned int i = 0; i < 80; i++)
		fds[i] = start(&pool);
	for (unsigned int i = 0; i < 80; i++) {
		if (ask(fds[i], 'r', &r))
			answered++;
		else
			refused += hung_up(fds[i]);
	}
	tap__ok(answered == 64 && refused == 16, "a pool has up to 64 helpers: %u, %u are refused",
		answered, refused);
	helper_pool__close(&pool);
	helper_pool__close(&pool);
	tap__ok(pool.helper.fd < 0, "a pool can be closed twice");
}

/* A file whose content says which one it is. */
static int file_of(const char *content)
{
	FILE *f = tmpfile();
	int fd;

	tap__bail_if(!f || fputs(content, f) < 0 || fflush(f), "no file");
	fd = dup(fileno(f));
	fclose(f);
	return fd;
}

static bool is_file(int fd, const char *content)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) >= 0 && !strcmp(text, content);
}

TEST(descriptors)
{
	int a = file_of("a"), b = file_of("b"), pair[2], with, more;
	char control[CMSG_SPACE(2 * sizeof(int))] = {0}, text[8];
	struct iovec io = {"two", 3};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;

	tap__bail_if(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), "no socket");
	tap__ok(!helper__send(pair[0], "one", 3, a, 0) &&
			helper__receive(pair[1], text, sizeof(text), &with, 0) == 3 &&
			is_file(with, "a"),
		"a message brings a descriptor");
	close(with);
	tap__ok(!helper__send(pair[0], "none", 4, -1, 0) &&
			helper__receive(pair[1], text, sizeof(text), &with, 0) == 4 && with == -1,
		"or none");
	msg.msg_control = control;
	msg.msg_controllen = sizeof(control);
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(c), (int[]){b, a}, 2 * sizeof(int));
	tap__ok(sendmsg(pair[0], &msg, 0) == 3 &&
			helper__receive(pair[1], text, sizeof(text), &with, 0) == 3 &&
			is_file(with, "b"),
		"of two descriptors the first is taken");
	more = dup(0);
	tap__ok(more == with + 1, "and the other one is closed");
	close(more);
	close(with);
	close(pair[1]);
	tap__ok(helper__send(pair[0], "x", 1, -1, 0) == -EPIPE &&
			!helper__receive(pair[0], text, sizeof(text), NULL, 0),
		"the other end is closed");
}
