/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Questions are answered by workers (os/linux/helper.h), one at a time each.  One worker does for
 * processes that answer; while one waits for an answer that is late, others are made, so that a
 * process which does not answer delays no other.  The asker kills and abandons a worker that is
 * late for ASK_DEADLINE_MS and has waited for something all of STILL_NS, or that is late for
 * COMPUTE_NS.  If it cannot even be killed its socket is kept, which shows when it has ended.  A
 * worker that computes, or would if it had a CPU, does not mean that the process does not answer.
 * A process that did not answer is not asked again for a while.  If a user has too many of those,
 * none of that user's processes is asked.
 */
#include "base/errmsg.h"
#include "target/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/linux/helper.h"
#include "os/os.h"
#include "os/proc.h"
#include "target/linux/answer.h"
#include "target/linux/silent.h"

#define PLACES_MAX  4u		     /* workers that are not abandoned */
#define PATIENCE_NS (20 * NS_PER_MS) /* after which a question has a worker made */
#define JUNK_MAX    64u		     /* answers without a question, of one worker */
#define DEADLINE_NS (ASK_DEADLINE_MS * NS_PER_MS)
#define COMPUTE_NS  (20 * NS_PER_S)   /* for one answer, if the worker has something to do */
#define STILL_NS    (500 * NS_PER_MS) /* after which one that does nothing waits for an answer */
#define LATE_NS	    (50 * NS_PER_MS)  /* between two looks at one that is late */

/*
 * A question from asker__ask to asker__take.  Allocated with ask__question(ask.kind) for
 * `ask`, and ask__size(ask.kind) from when a worker has it: there may be many questions,
 * and few answers.
 */
struct asked {
	struct asked *next;
	uint64_t since;	    /* ns, CLOCK_MONOTONIC: asked, or given to a worker */
	bool again;	    /* a worker ended with it already */
	bool answered;	    /* by a worker; else only `err` and `why` are */
	int fd;		    /* that came with the answer, or -1 */
	struct errmsg *why; /* of one that could not be asked; its own allocation, or NULL */
	struct ask ask;
};

struct asked_list {
	struct asked *first, **last;
};

struct place {
	int fd; /* -1: there is no worker */
	uint32_t id;
	pid_t pid;	     /* as it says; 0: it has said nothing yet */
	unsigned int junk;   /* what it said unasked */
	uint64_t switches;   /* of a CPU, when it was seen to do something last, */
	uint64_t works_at;   /* which was then */
	struct asked *asked; /* what it works on; NULL: nothing */
};

struct asker {
	struct helper_pool pool;
	const struct helper_job *job; /* of workers */
	uint64_t last_turn;
	int epoll;
	struct place places[PLACES_MAX];
	struct asked_list waiting, done;
	struct silents silent;
};

/* --- lists --- */

static void asked_list__init(struct asked_list *l)
{
	l->first = NULL;
	l->last = &l->first;
}

static void asked_list__put(struct asked_list *l, struct asked *q)
{
	q->next = NULL;
	*l->last = q;
	l->last = &q->next;
}

static struct asked *asked_list__take(struct asked_list *l)
{
	struct asked *q = l->first;

	if (!q)
		return NULL;
	l->first = q->next;
	if (!l->first)
		l->last = &l->first;
	return q;
}

static void asked_list__put_first(struct asked_list *l, struct asked *q)
{
	q->next = l->first;
	l->first = q;
	if (!q->next)
		l->last = &q->next;
}

static void asked__free(struct asked *q)
{
	if (q && q->fd >= 0)
		close(q->fd);
	if (q)
		free(q->why);
	free(q);
}

static void asked_list__free(struct asked_list *l)
{
	struct asked *q;

	while ((q = asked_list__take(l)))
		asked__free(q);
}

/* --- workers --- */

static struct errmsg *asked__why(struct asked *q)
{
	if (!q->why)
		q->why = calloc(1, sizeof(*q->why));
	return q->why;
}

/* @q cannot be answered otherwise. */
static void asker__refuse(struct asker *a, struct asked *q, int err)
{
	q->ask.err = err;
	asked_list__put(&a->done, q);
}

static int place__open(struct asker *a, struct place *p)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};
	uint32_t id;
	int fd = helper_pool__start(&a->pool, a->job, &id);

	if (fd < 0)
		return fd;
	if (epoll_ctl(a->epoll, EPOLL_CTL_ADD, fd, &event)) {
		int err = -errno;

		close(fd);
		return err;
	}
	*p = (struct place){.fd = fd, .id = id};
	return 0;
}

static void place__close(struct place *p)
{
	close(p->fd);
	p->fd = -1;
}

/* It does something, or would if it had a CPU, or did a moment ago: locks are waited for, too. */
static bool place__works(struct place *p, uint64_t now)
{
	struct proc worker;

	if (!p->pid)
		return true;
	if (proc__read(p->pid, &worker))
		return false;
	if (worker.state == 'R' || worker.switches != p->switches) {
		p->switches = worker.switches;
		p->works_at = now;
	}
	return now - p->works_at < STILL_NS;
}

static bool place__late(struct place *p, uint64_t now)
{
	uint64_t late = now - p->asked->since;

	if (late < DEADLINE_NS - STILL_NS || place__works(p, now))
		return late >= COMPUTE_NS;
	return late >= DEADLINE_NS;
}

/* The worker of @p ended with what it was asked: a fault of that process, or of somebody else's. */
static void place__ended(struct asker *a, struct place *p, uint64_t now)
{
	struct asked *q = p->asked;

	helper_pool__kill(&a->pool, p->id);
	place__close(p);
	p->asked = NULL;
	if (!q->again) {
		q->again = true;
		q->since = now;
		asked_list__put_first(&a->waiting, q);
		return;
	}
	errmsg__set(asked__why(q), 0,
		    "process %d cannot be inspected: reading its memory or its files crashes the "
		    "reader",
		    (int)q->ask.pid);
	asker__refuse(a, q, -EIO);
}

/* It is late. */
static void place__give_up(struct asker *a, struct place *p, uint64_t now)
{
	struct asked *q = p->asked;

	helper_pool__kill(&a->pool, p->id);
	epoll_ctl(a->epoll, EPOLL_CTL_DEL, p->fd, NULL);
	silents__add(&a->silent, q->ask.pid, p->fd, now, asked__why(q));
	p->fd = -1;
	p->asked = NULL;
	asker__refuse(a, q, -ETIMEDOUT);
}

/* Nothing that a worker says may be longer than it has room for. */
static void ask__terminate(struct ask *q)
{
	if (ask__size(q->kind) <= offsetof(struct ask, why))
		return;
	q->why.text[sizeof(q->why.text) - 1] = '\0';
	q->target.comm[sizeof(q->target.comm) - 1] = '\0';
	q->target.path[sizeof(q->target.path) - 1] = '\0';
	q->target.version[sizeof(q->target.version) - 1] = '\0';
	if (q->kind == ASK_LIST || q->kind == ASK_DESCRIBE)
		q->text[sizeof(q->text) - 1] = '\0';
}

/* Has the worker of @p said who it is? */
static bool place__greeted(struct place *p)
{
	struct helper_hello hello;

	if (helper__receive(p->fd, &hello, sizeof(hello), NULL, MSG_DONTWAIT) != sizeof(hello))
		return false;
	p->pid = hello.pid;
	return p->pid > 0;
}

/*
 * There is an answer of @p, or it has ended.  An answer to what it was asked before, and answered
 * then, is passed over.
 */
static void place__receive(struct asker *a, struct place *p, uint64_t now)
{
	struct asked *q = p->asked;
	size_t size = ask__size(q->ask.kind);
	struct ask got;
	int fd;
	ssize_t n = helper__receive(p->fd, &got, sizeof(got), &fd, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	if (n >= (ssize_t)offsetof(struct ask, want) && got.turn < q->ask.turn &&
	    p->junk++ < JUNK_MAX)
		goto unasked;
	if (n != (ssize_t)size || got.turn != q->ask.turn || got.kind != q->ask.kind ||
	    got.pid != q->ask.pid || got.tag != q->ask.tag) {
		place__ended(a, p, now);
		goto unasked;
	}
	memcpy(&q->ask, &got, size);
	q->fd = fd;
	ask__terminate(&q->ask);
	q->answered = true;
	p->asked = NULL;
	asked_list__put(&a->done, q);
	return;
unasked:
	if (fd >= 0)
		close(fd);
}

/* One for what has waited since @since, if there is one or may be. */
static struct place *asker__idle(struct asker *a, uint64_t since, uint64_t now, int *err)
{
	struct place *none = NULL;
	bool any = false;

	*err = 0;
	for (size_t i = 0; i < PLACES_MAX; i++) {
		struct place *p = &a->places[i];

		if (p->fd >= 0 && !p->asked)
			return p;
		any = any || p->fd >= 0;
		none = p->fd < 0 && !none ? p : none;
	}
	if (!none || (any && now - since < PATIENCE_NS))
		return NULL;
	*err = place__open(a, none);
	/* it is not for want of a process of one's own that others are not answered */
	if (*err && any)
		*err = 0;
	return *err || none->fd < 0 ? NULL : none;
}

/* Give questions to those that have nothing to do. */
static void asker__assign(struct asker *a, uint64_t now)
{
	struct asked *q;

	while ((q = a->waiting.first)) {
		struct errmsg why = {""};
		struct place *p = NULL;
		struct asked *more;
		int err = 0;

		err = silents__allow(&a->silent, q->ask.pid, &q->ask.quiet, &why);
		if (!err)
			p = asker__idle(a, q->since, now, &err);
		if (!p && !err)
			return;
		asked_list__take(&a->waiting);
		more = p ? realloc(q, offsetof(struct asked, ask) + ask__size(q->ask.kind)) : NULL;
		if (p && !more) {
			p = NULL;
			err = -ENOMEM;
		}
		q = more ? more : q;
		if (!p) {
			if (!why.text[0])
				shortage__fault(q->ask.pid, err, &why);
			if (asked__why(q))
				*q->why = why;
			asker__refuse(a, q, err);
			continue;
		}
		p->asked = q;
		q->since = now;
		q->ask.turn = ++a->last_turn;
		if (helper__send(p->fd, &q->ask, ask__question(q->ask.kind), -1, 0))
			place__ended(a, p, now);
	}
}

static void asker__tend(struct asker *a)
{
	struct epoll_event events[PLACES_MAX];
	uint64_t now = os__now();
	int n = epoll_wait(a->epoll, events, PLACES_MAX, 0);

	silents__tend(&a->silent, now);
	for (int i = 0; i < n; i++) {
		struct place *p = events[i].data.ptr;

		if (p->fd >= 0 && !p->pid && place__greeted(p))
			continue;
		if (p->asked)
			place__receive(a, p, now);
		else if (p->fd >= 0) /* it has nothing to say, so it has ended */
			place__close(p);
	}
	for (size_t i = 0; i < PLACES_MAX; i++) {
		struct place *p = &a->places[i];

		if (p->asked && place__late(p, now))
			place__give_up(a, p, now);
	}
	asker__assign(a, now);
}

/* --- what others call --- */

int asker__open(struct asker **out, const struct label_rules *rules, struct errmsg *f)
{
	return asker__open_served(out, &answer__job, rules, f);
}

int asker__open_served(struct asker **out, const struct helper_job *job, const void *arg,
		       struct errmsg *f)
{
	struct asker *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return errmsg__set(f, -ENOMEM, "out of memory");
	a->pool = HELPER_POOL_NONE;
	a->job = job;
	asked_list__init(&a->waiting);
	asked_list__init(&a->done);
	for (size_t i = 0; i < PLACES_MAX; i++)
		a->places[i].fd = -1;
	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = a->epoll < 0 ? -errno : 0;
	if (err)
		errmsg__set(f, err, "cannot inspect processes: %s", strerror(-err));
	else
		err = helper_pool__open(&a->pool, arg, f);
	if (!err) {
		err = place__open(a, &a->places[0]);
		if (err)
			errmsg__set(f, err, "cannot inspect processes: %s", strerror(-err));
	}
	if (err)
		asker__close(a);
	else
		*out = a;
	return err;
}

int asker__ask(struct asker *a, const struct ask *q)
{
	size_t size = ask__question(q->kind);
	struct asked *mine = calloc(1, offsetof(struct asked, ask) + size);

	if (!mine)
		return -ENOMEM;
	memcpy(&mine->ask, q, size);
	mine->fd = -1;
	mine->since = os__now();
	asked_list__put(&a->waiting, mine);
	asker__assign(a, mine->since);
	return 0;
}

bool asker__busy(const struct asker *a)
{
	bool busy = a->waiting.first || a->done.first;

	for (size_t i = 0; i < PLACES_MAX; i++)
		busy = busy || a->places[i].asked;
	return busy;
}

bool asker__take(struct asker *a, struct ask *answer, int wait_ms)
{
	uint64_t end = os__now() + (uint64_t)wait_ms * NS_PER_MS, now;
	struct asked *q;

	for (;;) {
		struct pollfd any = {.fd = a->epoll, .events = POLLIN};

		asker__tend(a);
		q = asked_list__take(&a->done);
		if (q)
			break;
		now = os__now();
		if (now >= end || !asker__busy(a))
			return false;
		poll(&any, 1, asker__due(a, (int)((end - now + NS_PER_MS - 1) / NS_PER_MS)));
	}
	memcpy(answer, &q->ask, q->answered ? ask__size(q->ask.kind) : ask__question(q->ask.kind));
	if (q->why)
		answer->why = *q->why;
	answer->fd = q->fd;
	q->fd = -1;
	asked__free(q);
	return true;
}

int asker__fd(const struct asker *a)
{
	return a->epoll;
}

int asker__due(const struct asker *a, int max)
{
	uint64_t now = os__now(), due = now + (uint64_t)max * NS_PER_MS;

	if (a->done.first)
		return 0;
	for (size_t i = 0; i < PLACES_MAX; i++) {
		const struct asked *q = a->places[i].asked;
		uint64_t late = q ? q->since + DEADLINE_NS - STILL_NS : due;

		if (late <= now) /* but it works, or has a moment yet */
			late = now + LATE_NS;
		due = late < due ? late : due;
	}
	if (a->waiting.first && a->waiting.first->since + PATIENCE_NS < due) {
		due = a->waiting.first->since + PATIENCE_NS;
		/* it has been patient already: there are as many as there may be */
		if (due <= now)
			due = now + PATIENCE_NS;
	}
	return due <= now ? 0 : (int)((due - now + NS_PER_MS - 1) / NS_PER_MS);
}

uint64_t asker__cpu(const struct asker *a)
{
	return helper_pool__cpu(&a->pool);
}

struct helper_pool *asker__pool(struct asker *a)
{
	return &a->pool;
}

uint64_t asker__silent(const struct asker *a)
{
	return a->silent.total;
}

void asker__close(struct asker *a)
{
	if (!a)
		return;
	helper_pool__close(&a->pool);
	for (size_t i = 0; i < PLACES_MAX; i++) {
		if (a->places[i].fd >= 0)
			close(a->places[i].fd);
		asked__free(a->places[i].asked);
	}
	silents__free(&a->silent);
	asked_list__free(&a->waiting);
	asked_list__free(&a->done);
	if (a->epoll >= 0)
		close(a->epoll);
	free(a);
}
