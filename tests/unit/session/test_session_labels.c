/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a session tells its sink of processes besides their samples: of processes with arguments and
 * a separate environment, on an engine that is made up.
 */

#include "tap.h"
#include "clock.h"
#include "r_child.h"
#include "session_fakes.h"

static const char *const env[] = {"XRPROF_TEAM=team", "XRPROF_ENV", NULL};
static const struct label_rules rules = {.env = env}, fixed = {.env = env, .service = "fixed"};

/* A child that was executed with these: it is this program again. */
static struct child child__execute(const char *script, const char *team, const char *todo)
{
	char file[64], number[16], variable[64];
	struct child c;
	int fds[2];

	tap__bail_if(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), "no socket");
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	fflush(stdout);
	c.pid = fork();
	tap__bail_if(c.pid < 0, "no child");
	if (!c.pid) {
		char *const argv[] = {"R", "-x", "session_child", number, library, file, NULL};
		char *const envp[] = {"SECRET=s3cret", variable, "XRPROF_ENV=prod\x1b", NULL};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(number, sizeof(number), "%d", fds[1]);
		snprintf(file, sizeof(file), "--file=/srv/%s", script);
		snprintf(variable, sizeof(variable), "XRPROF_TEAM=%s", team);
		execve("/proc/self/exe", argv, envp);
		_exit(1);
	}
	close(fds[1]);
	c.fd = fds[0];
	child__do(&c, todo);
	return c;
}

static void start(const struct child *c, size_t n, const struct label_rules *labels)
{
	static pid_t pids[2];

	for (size_t i = 0; i < n; i++)
		pids[i] = c[i].pid;
	session__begin(pids, n);
	config.follow = true;
	config.labels = labels;
	if (session__open_start())
		tap__bail("the session does not start: %s", session__reason());
}

static bool poll_until(const unsigned int *count, unsigned int want)
{
	session__poll_until(count, want);
	return *count >= want;
}

/* The description of the process with that name in its command line. */
static bool says(const char *what)
{
	if (strstr(sunk.says, what))
		return true;
	tap__diag("it says %s; notes: %s", sunk.says, said);
	return false;
}

BEFORE()
{
	library__make();
}

TEST(described)
{
	struct child c = child__execute("plumber.R", "blue", "mvb");
	uint64_t now = os__real_time();

	start(&c, 1, &rules);
	tap__ok(poll_until(&sunk.known, 1) && sunk.began == 1, "the sink learns more of a process");
	tap__ok(says("--file=/srv/plumber.R|") && !strncmp(sunk.says, "R ", 2), "its command line");
	tap__ok(says(";team=blue;xrprof_env=prod?;") && !strstr(sunk.says, "s3cret"),
		"of the variables that are listed, no others");
	tap__ok(sunk.started < now && sunk.started + 120 * NS_PER_S > now, "when it started");
	memset(sunk.says, 0, sizeof(sunk.says));
	send_sample(1, (uint32_t)c.pid);
	tap__ok(poll_until(&sunk.samples, 1) && says(";team=blue;") && sunk.started,
		"each sample has it");
	/* a child is a copy of it */
	send_process(XR_PROCESS_FORK, 0x80000001, 1 << 22, 1);
	send_sample(0x80000001, 1 << 22);
	memset(sunk.says, 0, sizeof(sunk.says));
	tap__ok(poll_until(&sunk.samples, 2) && sunk.pid == 1 << 22 && says(";team=blue;"),
		"what it forks says the same, even when it has ended");
	session__finish_end();
}

/* It ends before it could be asked. */
TEST(ended)
{
	struct child c[2] = {child__execute("a.R", "red", "mvb"),
			     child__execute("b.R", "blue", "mvb")};

	start(c, 2, &fixed);
	tap__ok(poll_until(&sunk.known, 2), "two are known");
	/* forked by an unknown process, and gone */
	send_process(XR_PROCESS_FORK, 0x80000002, (1 << 22) + 1, 77);
	send_sample(0x80000002, (1 << 22) + 1);
	tap__ok(poll_until(&sunk.ended, 1) && !strcmp(sunk.says, "|service=fixed;"),
		"of one that is gone what is known without it");
	session__finish_end();
}

/* A process that is sampled is asked at once: the first poll has it, before any sample. */
TEST(at_once)
{
	struct child c = child__execute("plumber.R", "blue", "mvb");

	clock__run(CLOCK_SLOW); /* at the start answers are waited for for half a second */
	start(&c, 1, &rules);
	tap__ok(sunk.began == 1 && sunk.known == 1 && says(";team=blue;"),
		"what is there at the start is known at the start");
	session__finish_end();

	start(&c, 1, &fixed);
	/* forked by an unknown process; sampled before it can be asked */
	send_process(XR_PROCESS_FORK, 0x80000003, (1 << 22) + 2, 77);
	send_sample(0x80000003, (1 << 22) + 2);
	session__finish();
	tap__ok(sunk.samples == 1 && sunk.ended == 2 && sunk.unlabelled == 0,
		"at the end each has what is presumed of it");
	session__end();
}

static unsigned int adds_before_labels;
static bool settled_before_labels;

static void on_labels(void *arg, enum notes_level level, const char *line)
{
	if (strstr(line, "labels are not available")) {
		adds_before_labels = fake.adds;
		settled_before_labels = session__settled(session);
	}
}

/* The R program's own labels: this one has none. */
TEST(labels_first)
{
	struct child c = child__start("mvb");

	clock__run(CLOCK_SLOW); /* it waits for its labels for a second at most */
	session__begin(&c.pid, 1);
	config.capture = XR_ROW_LABELS;
	config.labels_first = true;
	config.notes.line = on_labels;
	adds_before_labels = UINT32_MAX;
	settled_before_labels = true;
	tap__bail_if(session__open_start(), "the session does not start");
	tap__ok(poll_until(&fake.adds, 1) && !adds_before_labels,
		"an R that is named is sampled when it is known where its labels are");
	tap__ok(!settled_before_labels && session__settled(session),
		"it is settled then, and not before");
	session__finish_end();
}

PROGRAM(session_child)
{
	if (argc < 3)
		return 2;
	snprintf(library, sizeof(library), "%s", argv[2]);
	child__run(atoi(argv[1]));
}
