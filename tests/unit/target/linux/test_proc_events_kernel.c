/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's records of processes: it reports processes that map R, and before that who forked
 * whom.  It reports the rest of the machine, too: only the test's children count here.
 */
#define _GNU_SOURCE
#include "target/linux/proc_events.h"

#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <time.h>

#include "child.h"
#include "program_told.h"

#define TOLD_MAX   65536u
#define DEADLINE_S 120
#define OTHER_USER 65534

enum what { MAPPED, FORKED, EXITED };

static struct {
	enum what what;
	pid_t pid, parent;
} told[TOLD_MAX];
static size_t ntold;

static void tell(enum what what, pid_t parent, pid_t pid)
{
	if (ntold == TOLD_MAX)
		ntold = 0; /* a machine full of forks: what we wait for comes later */
	told[ntold].what = what;
	told[ntold].parent = parent;
	told[ntold++].pid = pid;
}

static void on_mapped(void *arg, pid_t pid)
{
	(void)arg;
	tell(MAPPED, 0, pid);
}

static void on_forked(void *arg, uint64_t time, pid_t parent, pid_t child)
{
	(void)arg;
	(void)time;
	tell(FORKED, parent, child);
}

static void on_exited(void *arg, uint64_t time, pid_t pid)
{
	(void)arg;
	(void)time;
	tell(EXITED, 0, pid);
}

/* The index of @what of @pid among the records, or -1. */
static long was_told(enum what what, pid_t pid)
{
	for (size_t i = 0; i < ntold; i++)
		if (told[i].what == what && told[i].pid == pid)
			return (long)i;
	return -1;
}

/* Read until there is a record @what of @pid. */
static bool wait_for(struct proc_events *w, enum what what, pid_t pid)
{
	time_t end = time(NULL) + DEADLINE_S;

	while (was_told(what, pid) < 0 && time(NULL) < end) {
		struct pollfd fd = {.fd = proc_events__fd(w), .events = POLLIN};

		poll(&fd, 1, 1000);
		proc_events__read(w);
	}
	return was_told(what, pid) >= 0;
}

struct mapping {
	const char *name;
	int prot;
};

static void run_mapping(int ready, void *arg)
{
	const struct mapping *m = arg;
	int fd = open(tap__path(m->name), O_RDONLY | O_CLOEXEC);

	if (mmap(NULL, 0x1000, m->prot, MAP_PRIVATE, fd, FIXTURE_CODE) != MAP_FAILED)
		child__wait(ready);
}

/* A child whose child maps libR.so; it writes that one's pid and waits until it is ended. */
static void run_family(int ready, void *arg)
{
	static struct mapping library = {"libR.so", PROT_READ | PROT_EXEC};
	pid_t *grandchild = arg, pid = fork();

	if (pid < 0)
		return;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*grandchild = getpid();
		run_mapping(ready, &library);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void test_mappings(struct proc_events *w)
{
	static struct mapping m[] = {{"other.so", PROT_READ | PROT_EXEC},
				     {"libR.so", PROT_READ},
				     {"libR.so", PROT_READ | PROT_EXEC},
				     {"libR.so.4", PROT_READ | PROT_EXEC}};
	pid_t pids[4];

	for (int i = 0; i < 4; i++) {
		pids[i] = child__start(run_mapping, &m[i]);
		if (i >= 2)
			tap__ok(pids[i] > 0 && wait_for(w, MAPPED, pids[i]),
				"the process that maps %s is reported", m[i].name);
	}
	tap__ok(pids[0] > 0 && pids[1] > 0 && was_told(MAPPED, pids[0]) < 0 &&
			was_told(MAPPED, pids[1]) < 0,
		"not who maps another file, or as data");
	for (int i = 0; i < 4; i++)
		child__end(pids[i]);
}

static void test_family(struct proc_events *w)
{
	pid_t *grandchild = child__shared(sizeof(*grandchild)), child;
	long at;

	child = child__start(run_family, grandchild);
	if (!tap__ok(child > 0 && wait_for(w, MAPPED, *grandchild), "a child's child is reported"))
		return;
	at = was_told(FORKED, *grandchild);
	tap__ok(at >= 0 && told[at].parent == child && at < was_told(MAPPED, *grandchild),
		"its fork before");
	at = was_told(FORKED, child);
	tap__ok(at >= 0 && told[at].parent == getpid() && at < was_told(MAPPED, *grandchild),
		"and its parent's fork");
	tap__ok(was_told(EXITED, *grandchild) < 0, "no end yet");
	kill(*grandchild, SIGKILL);
	tap__ok(wait_for(w, EXITED, *grandchild) && wait_for(w, EXITED, child), "their ends");
	waitpid(child, NULL, 0);
}

/* Each file is looked at once, so each program is run twice. */
static void test_programs(struct proc_events *w)
{
	const char *with = tap__path("with"), *without = tap__path("without");
	pid_t pids[4];

	child__file(with, true, true);
	child__file(without, true, false);
	for (int i = 0; i < 4; i++) {
		pids[i] = child__exec(i < 2 ? without : with, NULL);
		if (i >= 2)
			tap__ok(pids[i] > 0 && wait_for(w, MAPPED, pids[i]),
				i == 2 ? "a program with R's variables" : "and again");
	}
	tap__ok(pids[0] > 0 && pids[1] > 0 && was_told(MAPPED, pids[0]) < 0 &&
			was_told(MAPPED, pids[1]) < 0,
		"not one without");
	for (int i = 0; i < 4; i++)
		child__end(pids[i]);
}

struct refusal {
	int err;
	struct errmsg f;
};

static void run_other_user(int ready, void *arg)
{
	const struct proc_events_sink sink = {.mapped = on_mapped};
	struct refusal *r = arg;
	struct proc_events *w;

	if (!child__user(OTHER_USER))
		return;
	r->err = proc_events__open(&w, &sink, &r->f);
	child__wait(ready);
}

static void test_rights(void)
{
	struct refusal *r = child__shared(sizeof(*r));
	const char *paranoid = tap__read("/proc/sys/kernel/perf_event_paranoid", NULL);

	if (!paranoid || atoi(paranoid) < 1) {
		tap__skip("perf_event_paranoid allows it to every user", "other users are refused");
		return;
	}
	child__end(child__start(run_other_user, r));
	tap__ok(r->err == -EACCES && strstr(r->f.text, "run as root"),
		"other users are refused: %s", r->f.text);
}

TEST(proc_events_kernel)
{
	static const char *const files[] = {"libR.so", "libR.so.4", "other.so"};
	struct proc_events *w;
	const struct proc_events_sink sink = {
		.mapped = on_mapped,
		.program = on_program,
		.forked = on_forked,
		.exited = on_exited,
		.arg = &w,
	};
	struct errmsg f = {""};
	int err;

	err = proc_events__open(&w, &sink, &f);
	if (err == -EACCES || err == -EPERM) {
		tap__ok(strstr(f.text, "run as root") != NULL, "not allowed: %s", f.text);
		tap__skip("needs CAP_PERFMON", "the kernel's records of processes");
		return;
	}
	if (!tap__ok(!err, "open: %s", f.text))
		return;
	for (size_t i = 0; i < COUNT(files); i++)
		child__file(tap__path(files[i]), false, true);
	test_mappings(w);
	test_family(w);
	test_programs(w);
	proc_events__close(w);
	proc_events__close(NULL);
	test_rights();
}
