/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that the user did not name: those below the ones profiled, reported by the kernel (as
 * root) or found by scans of /proc.
 */

#include "base/clock.h"
#include "os/os.h"
#include "session/discovery.h"
#include "tap.h"

#include "r_child.h"

static struct pids found;
static struct discovery *d;
static struct errmsg why;
static struct session_config config;

static struct asker *asker;

/* Act on the answers that are there, or come within @ms. */
static void answers(int ms)
{
	struct ask a = {0};

	while (asker__take(asker, &a, ms)) {
		discovery__answered(d, &a);
		memset(&a, 0, sizeof(a));
	}
}

static int opens(void)
{
	int err = discovery__open(&d, &config, &found, asker, &why);

	if (!err)
		answers(20000);
	return err;
}

/* What is still asked is not for the next one, which has the same asker. */
static void closes(void)
{
	answers(20000);
	discovery__close(d);
}

/* Is @pid found within 20 s? */
static bool comes(pid_t want)
{
	uint64_t limit = os__now() + 20 * NS_PER_S;
	pid_t pid = 0;

	while (os__now() < limit) {
		while (pids__take(&found, &pid))
			if (pid == want)
				return true;
		answers(0);
		if (discovery__wait(d, -1, true, 100, &why) > 0)
			usleep(10000); /* there is nothing to wait for: it is the engine that waits
					*/
	}
	return false;
}

/* Is @pid among those that are found at once? */
static bool queued(pid_t want)
{
	bool yes = false;
	pid_t pid = 0;

	answers(20000);
	while (pids__take(&found, &pid))
		yes |= pid == want;
	return yes;
}

TEST(discovery)
{
	pid_t self = getpid();
	struct child there, later, stranger;

	config = (struct session_config){.pids = &self, .npids = 1, .follow = true};
	library__make();
	tap__bail_if(asker__open(&asker, NULL, &why), "%s", why.text);
	there = child__start("mvb");
	tap__bail_if(opens(), "%s", why.text);
	tap__diag("%s", discovery__tells(d) ? "the kernel tells" : "/proc is read");
	tap__ok(comes(there.pid), "a child that was there before is found");
	later = child__start("mvb");
	tap__ok(comes(later.pid), "one that comes later is found");
	if (discovery__tells(d)) {
		tap__ok(discovery__may_come(d, 0), "a child of this process may come yet");
		discovery__children(d, self, &why);
		tap__ok(queued(there.pid), "children are found by their parent");
	} else {
		tap__skip("events are not allowed", "a child of this process may come yet");
		tap__skip("events are not allowed", "children are found by their parent");
	}
	closes();
	child__end(&later);

	/* a parent that is not one of ours: the child of the other is not below it */
	stranger = child__start("");
	config.pids = &stranger.pid;
	tap__bail_if(opens(), "%s", why.text);
	tap__ok(!queued(there.pid), "one that does not descend from those named is not found");
	later = child__start("mvb");
	for (int i = 0; i < 3; i++)
		discovery__wait(d, -1, true, 10, &why);
	discovery__rest(d);
	discovery__scan(d, &why);
	tap__ok(!queued(later.pid), "nor when it comes later");
	tap__ok(!discovery__add_root(d, later.pid, &why) && !discovery__scan(d, &why) &&
			comes(later.pid),
		"until it is named");
	closes();

	config = (struct session_config){0};
	tap__bail_if(opens(), "%s", why.text);
	tap__ok(!queued(there.pid) && discovery__wait(d, -1, false, 7, &why) == 7,
		"if no process can be found, the engine is waited for");
	tap__ok(!discovery__may_come(d, 0), "and nothing is to come");
	closes();

	config.all = true;
	tap__bail_if(opens(), "%s", why.text);
	tap__ok(queued(there.pid), "with --all, an existing process is found");
	child__end(&later);
	later = child__start("mvb");
	tap__ok(comes(later.pid), "and a later one");
	tap__ok(discovery__may_come(d, 0), "there may always come one");
	closes();
	discovery__close(NULL);
	asker__close(asker);
}
