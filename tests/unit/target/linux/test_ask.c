/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Questions about processes, put to workers that answer, hang, die and talk nonsense, as the pid
 * that is asked about says.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "os/os.h"
#include "target/linux/answer.h"
#include "target/linux/silent.h"

#include "child.h"
#include "clock.h"
#include "tap.h"

#define SPEED 5 /* of the clock */

/* Beyond all pids that there are: what to do. */
#define DO	 0x40000000
#define DO_DIE	 (DO + 1)
#define DO_LIE	 (DO + 2)
#define DO_TALK	 (DO + 3)
#define DO_SLOW	 (DO + 4)
#define DO_WORK	 (DO + 5)
#define DO_STEPS (DO + 6)

static pid_t hangs[40]; /* children: asked about them, a worker hangs */
static size_t nhangs;

/* What the test and its workers share. */
static struct {
	atomic_bool go;	   /* a worker that is slow, or works, may answer */
	atomic_ulong done; /* what one that works has done: turns, or sleeps */
} * shared;

/* Computes until it may answer, or waits until then, for a moment each. */
static void works(bool waits)
{
	struct rusage use;

	while (!shared->go) {
		if (!waits) {
			shared->done++;
			continue;
		}
		usleep(1000);
		getrusage(RUSAGE_SELF, &use);
		shared->done = (unsigned long)use.ru_nvcsw;
	}
}

static void serve(int fd, const void *arg)
{
	struct ask q;

	for (;;) {
		memset(&q, 0, sizeof(q));
		if (recv(fd, &q, sizeof(q), 0) <= 0)
			return;
		for (size_t i = 0; i < nhangs; i++)
			while (hangs[i] == q.pid)
				pause();
		q.yes = true;
		if (q.pid == DO_DIE)
			raise(SIGKILL);
		if (q.pid == DO_LIE)
			q.pid++;
		if (q.pid == DO_SLOW || q.pid == DO_WORK || q.pid == DO_STEPS)
			works(q.pid != DO_WORK);
		if (q.kind >= ASK_FIND) {
			memset(q.target.path, 'x', sizeof(q.target.path));
			memset(q.why.text, 'y', sizeof(q.why.text));
		}
		for (int i = q.pid == DO_TALK ? 50 : 1; i; i--)
			send(fd, &q, ask__size(q.kind), MSG_NOSIGNAL);
	}
}

static struct asker *a;
static struct ask answer;

static void asks(enum ask_kind kind, pid_t pid, uint64_t tag)
{
	const struct ask q = {.kind = kind, .pid = pid, .tag = tag};

	tap__bail_if(asker__ask(a, &q), "cannot ask");
}

/* The answer that comes next, as a user of asker__fd() gets it. */
static bool comes(void)
{
	memset(&answer, 0, sizeof(answer));
	while (!asker__take(a, &answer, 0)) {
		struct pollfd p = {.fd = asker__fd(a), .events = POLLIN};

		if (!asker__busy(a))
			return false;
		poll(&p, 1, clock__real_ms(asker__due(a, 1000)));
	}
	return true;
}

/* The answer to @tag; those that came before are kept. */
static bool comes_for(uint64_t tag)
{
	static struct ask kept[128];

	while (!kept[tag].pid) {
		if (!comes())
			return false;
		kept[answer.tag] = answer;
	}
	answer = kept[tag];
	kept[tag].pid = 0; /* as a mark: it was taken */
	return true;
}

static void waits(int ready, void *arg)
{
	child__wait(ready);
}

static void test_answers(void)
{
	bool ok = true;

	tap__ok(!asker__busy(a) && !asker__take(a, &answer, 1000), "nothing asked, nothing comes");
	asks(ASK_SEEMS, DO, 7);
	tap__ok(asker__busy(a) && comes() && answer.tag == 7 && answer.yes && !answer.err,
		"a question is answered");
	for (uint64_t i = 0; i < 100; i++)
		asks(i % 2 ? ASK_FIND : ASK_LIST, DO, i);
	for (uint64_t i = 0; i < 100; i++)
		ok = comes_for(i) && !answer.err && answer.yes && ok;
	tap__ok(ok && !asker__busy(a), "100 at once are, too");
	tap__ok(strlen(answer.target.path) == sizeof(answer.target.path) - 1 &&
			strlen(answer.why.text) == sizeof(answer.why.text) - 1,
		"texts of an answer end");
}

/* Is the answer waited for beyond its time, while the worker does something at each look? */
static bool is_waited_for(pid_t pid, uint64_t tag)
{
	shared->go = false;
	asks(ASK_SEEMS, pid, tag);
	for (int ms = 0; ms < ASK_DEADLINE_MS + 500; ms += 20) {
		const unsigned long before = shared->done;

		if (asker__take(a, &answer, 0))
			return false;
		while (shared->done == before)
			usleep(100);
		clock__pass(20);
	}
	shared->go = true;
	return comes() && answer.tag == tag && !answer.err;
}

static void test_faults(void)
{
	asks(ASK_FIND, DO_DIE, 1);
	asks(ASK_FIND, DO, 2);
	tap__ok(comes_for(1) && answer.err == -EIO && answer.why.text[0],
		"a worker that dies, twice: %s", answer.why.text);
	tap__ok(comes_for(2) && !answer.err, "what was asked after it is answered");
	asks(ASK_SEEMS, DO_LIE, 3);
	asks(ASK_SEEMS, DO, 4);
	tap__ok(comes_for(3) && answer.err == -EIO, "an answer to another question");
	tap__ok(comes_for(4) && !answer.err, "is not taken for one");
	for (uint64_t i = 0; i < 5; i++) {
		asks(ASK_SEEMS, DO_TALK, i);
		asks(ASK_FIND, DO, i + 10);
	}
	for (int i = 0; i < 10; i++)
		tap__bail_if(!comes() || answer.err ||
				     (answer.tag < 10 ? answer.pid != DO_TALK : answer.pid != DO),
			     "answer %d is wrong: %d", i, answer.err);
	tap__ok(!asker__busy(a), "one that answers 50 times is heard once");
	shared->go = false;
	asks(ASK_SEEMS, DO_SLOW, 1);
	asks(ASK_SEEMS, DO, 2);
	clock__pass(100); /* another worker is made for it */
	tap__ok(comes() && answer.tag == 2, "a slow answer holds up no other");
	shared->go = true;
	tap__ok(comes() && answer.tag == 1 && !answer.err, "and comes");
	tap__ok(is_waited_for(DO_WORK, 3), "one who waits for nothing but a CPU is waited for");
	tap__ok(is_waited_for(DO_STEPS, 4), "so is one who waits for locks, and goes on each time");
}

static void test_silence(void)
{
	uint64_t at = os__now();
	unsigned int timeouts = 0, busy = 0, told = 0;

	asks(ASK_FIND, hangs[0], 1);
	asks(ASK_SEEMS, DO, 2);
	clock__pass(100);
	tap__ok(comes() && answer.tag == 2, "another is asked about meanwhile");
	clock__run(SPEED);
	tap__ok(comes() && answer.tag == 1 && answer.err == -ETIMEDOUT && !answer.quiet &&
			strstr(answer.why.text, "did not answer within 2 s"),
		"a process that does not answer is abandoned: %s", answer.why.text);
	tap__ok(os__now() - at >= ASK_DEADLINE_MS * NS_PER_MS, "after its time");
	asks(ASK_LAYOUT, hangs[0], 3);
	tap__ok(comes() && answer.err == -ETIMEDOUT && answer.quiet,
		"asked again, that is known already");
	for (size_t i = 1; i < nhangs; i++)
		asks(ASK_SEEMS, hangs[i], i);
	asks(ASK_SEEMS, DO, 1000);
	for (size_t i = 0; i < nhangs; i++) {
		tap__bail_if(!comes(), "no answer");
		timeouts += answer.err == -ETIMEDOUT;
		busy += answer.err == -EBUSY;
		told += answer.err == -EBUSY && !answer.quiet && answer.why.text[0];
		if (answer.tag == 1000 && answer.err)
			tap__ok(false, "an innocent process is refused");
	}
	tap__ok(busy && timeouts >= ASK_USER_MAX - 1 && timeouts < ASK_USER_MAX + 4,
		"of many of one user, %u are waited for and %u are not asked", timeouts + 1, busy);
	tap__ok(told == 1, "which is reported once");
	tap__ok(asker__silent(a) == timeouts + 1, "they are counted");
	clock__run(CLOCK_SLOW);
	asks(ASK_SEEMS, DO, 5);
	tap__ok(comes() && !answer.err, "others are still answered");
	asks(ASK_SEEMS, getpid(), 6);
	tap__ok(comes() && answer.err == -EBUSY, "but no process of that user, for a while");
}

/* The user of a process that has ended is not known: it is not root. */
static void test_ended(void)
{
	const pid_t ended = child__start(waits, NULL);
	struct silents silents = {0};
	struct errmsg f;
	bool quiet;

	child__end(ended);
	for (size_t i = 0; i < ASK_USER_MAX; i++)
		silents__add(&silents, ended, -1, 1, &f);
	tap__ok(!silents__allow(&silents, getpid(), &quiet, &f),
		"processes that did not answer and have ended count for no user");
	silents__free(&silents);
}

TEST(ask)
{
	static const struct helper_job job = {.name = "worker", .run = serve};
	struct errmsg f = {""};

	shared = child__shared(sizeof(*shared));
	clock__run(CLOCK_SLOW); /* a machine that is busy has time for each answer */
	for (nhangs = 0; nhangs < 20; nhangs++)
		hangs[nhangs] = child__start(waits, NULL);
	tap__bail_if(asker__open_served(&a, &job, NULL, &f), "%s", f.text);
	test_answers();
	test_faults();
	test_silence();
	test_ended();
	asks(ASK_SEEMS, DO_SLOW, 1);
	asker__close(a);
	asker__close(NULL);
	while (nhangs)
		child__end(hangs[--nhangs]);
}
