/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The front, seen from the process that samples. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/linux/helper.h"
#include "os/linux/sandbox.h"
#include "os/os.h"
#include "serve/linux/front.h"

#define OPEN_MS 20000 /* for all to be open: a directory of many files is looked through */
#define END_MS	500   /* for a process to be gone that closed its end */

/* The next message that comes within @ms: 1, -ETIMEDOUT, or as of channel__take. */
static int front__wait(struct channel *channel, uint64_t ms, struct channel_message *m)
{
	uint64_t now = os__now(), end = now + ms * NS_PER_MS;
	int got = 0;

	while (!got && now < end) {
		struct pollfd fd = {.fd = channel__fd(channel), .events = POLLIN};

		if (channel__waiting(channel))
			fd.events |= POLLOUT;
		poll(&fd, 1, (int)((end - now) / NS_PER_MS) + 1);
		channel__flush(channel);
		got = channel__take(channel, m);
		now = os__now();
	}
	return got ? got : -ETIMEDOUT;
}

struct front_start {
	struct channel *channel;
	const struct front_config *config;
};

static void front__run(int fd, const void *arg)
{
	const struct front_start *start = arg;

	(void)fd;			     /* the channel has it */
	sandbox__enter(SANDBOX_FRONT, NULL); /* if there is none, the sampler has reported it */
	front__serve(start->channel, start->config);
}

static const struct helper_job front_job = {
	.name = "xrprof-front",
	.flags = HELPER_OUTLIVES,
	.run = front__run,
};

/* What the first message says. */
static int front__opened(struct front *front, struct errmsg *f)
{
	struct channel_message m;
	int got = front__wait(front->channel, OPEN_MS, &m);

	if (got < 0)
		return errmsg__set(f, got, "the process that writes and sends did not start: %s",
				   strerror(-got));
	if (m.head.kind == CHANNEL_READY)
		return 0;
	return errmsg__set(f, -EINVAL, "%.*s", (int)m.head.size, (const char *)m.data);
}

int front__fork(struct front *front, const struct front_config *config, struct errmsg *f)
{
	struct front_start start = {.config = config};
	pid_t parent = getpid();
	sigset_t all, before;
	int err;

	*front = (struct front){0};
	err = channel__pair(&front->channel, &start.channel, config->queue);
	if (err)
		return errmsg__set(f, err, "cannot create a socket: %s", strerror(-err));
	/* as in helper__start(): until it has detached, it has the handlers of this process */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	front->pid = fork();
	if (!front->pid)
		helper__run(channel__fd(start.channel), parent, &front_job, &start, false);
	err = front->pid < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	channel__close(start.channel);
	if (!err)
		return 0;
	front__stop(front, 0, 0, NULL, NULL);
	return errmsg__set(f, err, "cannot start the process that writes and sends: %s",
			   strerror(-err));
}

int front__start(struct front *front, const struct front_config *config, struct errmsg *f)
{
	int err = front__fork(front, config, f);

	if (err)
		return err;
	err = front__opened(front, f);
	if (err)
		front__stop(front, 0, 0, NULL, NULL);
	return err;
}

static void front__forget(struct front *front)
{
	channel__close(front->channel);
	*front = (struct front){0};
}

struct channel_lost front__stop(struct front *front, int ms, unsigned int drain_seconds,
				void (*on)(void *arg, const struct channel_message *m), void *arg)
{
	const struct channel_head end = {.kind = CHANNEL_END, .seconds = drain_seconds};
	uint64_t until = os__now() + (uint64_t)ms * NS_PER_MS, now;
	struct helper process = {.fd = -1, .pid = front->pid};
	struct channel_lost lost = {0};
	struct channel_message m;

	if (front->pid > 0 && ms > 0) {
		while (channel__send(front->channel, &end, NULL, NULL) == -ENOBUFS &&
		       os__now() < until)
			if (front__wait(front->channel, 10, &m) > 0 && on)
				on(arg, &m);
		while ((now = os__now()) < until &&
		       front__wait(front->channel, (until - now) / NS_PER_MS + 1, &m) > 0)
			if (on)
				on(arg, &m);
	}
	helper__end(&process, ms ? END_MS : 0);
	if (front->channel)
		lost = channel__lost(front->channel);
	front__forget(front);
	return lost;
}
