/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/linux/helper.h"
#include "os/proc.h"
#include "os/rights.h"

#define POOL_MAX 64u  /* helpers at a time, with those killed that have not ended */
#define KILL_MS	 50   /* at the end, for helpers that were killed */
#define END_MS	 1000 /* for the pool, which then waits for these only */

enum order { ORDER_START, ORDER_KILL };

/* To the pool.  ORDER_START has the helper's end of its socket with it. */
struct pool_order {
	uint32_t order;
	uint32_t id;
	const struct helper_job *job; /* in the program, of which the pool is a copy */
};

/* --- the pool --- */

struct child {
	uint32_t id;
	pid_t pid; /* 0: this place is free */
};

static void children__start(struct child *children, const struct pool_order *o, int fd,
			    const void *arg)
{
	pid_t self = getpid();

	for (unsigned int i = 0; i < POOL_MAX; i++) {
		pid_t pid;

		if (children[i].pid)
			continue;
		pid = fork();
		if (!pid)
			helper__run(fd, self, o->job, arg, true);
		if (pid > 0)
			children[i] = (struct child){.id = o->id, .pid = pid};
		return;
	}
}

/* Returns how many are left. */
static unsigned int children__reap(struct child *children)
{
	unsigned int left = 0;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (unsigned int i = 0; i < POOL_MAX; i++)
			if (children[i].pid == pid)
				children[i].pid = 0;
	for (unsigned int i = 0; i < POOL_MAX; i++)
		left += children[i].pid != 0;
	return left;
}

/* @all, or the one of @id. */
static void children__kill(const struct child *children, bool all, uint32_t id)
{
	for (unsigned int i = 0; i < POOL_MAX; i++)
		if (children[i].pid && (all || children[i].id == id))
			kill(children[i].pid, SIGKILL);
}

static void pool__run(int fd, const void *arg)
{
	struct child children[POOL_MAX] = {0};
	struct pool_order o;
	int with;

	while (helper__receive(fd, &o, sizeof(o), &with, 0) == (ssize_t)sizeof(o)) {
		/* a pid is not used again before its process was reaped, which happens here only */
		children__reap(children);
		if (o.order == ORDER_START && with >= 0)
			children__start(children, &o, with, arg);
		else if (o.order == ORDER_KILL)
			children__kill(children, false, o.id);
		if (with >= 0)
			close(with);
	}
	/* in a container there may be no other process that reaps them */
	children__kill(children, true, 0);
	for (int ms = 0; children__reap(children) && ms < KILL_MS; ms++)
		usleep(1000);
}

static const struct helper_job pool_job = {
	.name = "xrprof-pool",
	.rights = RIGHTS_TARGET | RIGHTS_PRIORITY,
	.run = pool__run,
};

/* --- the program --- */

int helper_pool__open(struct helper_pool *pool, const void *arg, struct errmsg *f)
{
	int err = helper__start(&pool->helper, &pool_job, arg);

	pool->last_id = 0;
	return err ? errmsg__set(f, err, "cannot start the process that inspects others: %s",
				 strerror(-err))
		   : 0;
}

int helper_pool__start(struct helper_pool *pool, const struct helper_job *job, uint32_t *id)
{
	struct pool_order o = {.order = ORDER_START, .id = ++pool->last_id, .job = job};
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	err = helper__send(pool->helper.fd, &o, sizeof(o), pair[1], 0);
	close(pair[1]);
	*id = o.id;
	if (!err)
		return pair[0];
	close(pair[0]);
	return err;
}

void helper_pool__kill(struct helper_pool *pool, uint32_t id)
{
	const struct pool_order o = {.order = ORDER_KILL, .id = id};

	helper__send(pool->helper.fd, &o, sizeof(o), -1, 0);
}

uint64_t helper_pool__cpu(const struct helper_pool *pool)
{
	const pid_t pid = pool->helper.pid;
	uint64_t all = 0, one;
	char path[64];
	struct proc p;
	FILE *in;
	int child;

	if (pid <= 0 || proc__read(pid, &p))
		return 0;
	all = p.cpu_ns + p.ended_ns;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	in = fopen(path, "re");
	for (unsigned int i = 0; in && i < POOL_MAX && fscanf(in, "%d", &child) == 1; i++)
		all += proc__use(child, &one, NULL) ? 0 : one;
	if (in)
		fclose(in);
	return all;
}

void helper_pool__close(struct helper_pool *pool)
{
	helper__end(&pool->helper, END_MS);
}
