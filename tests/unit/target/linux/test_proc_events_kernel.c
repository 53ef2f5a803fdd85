/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's records of processes: what maps R is told, and who forked whom before that.  The
 * rest of the machine is told, too: only what is about the test's own children counts here.
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
#define NOBODY	   65534
#define STORM	   10000 /* records of a round; a ring holds less than 4,000 */

enum what { MAPPED, FORKED, EXITED };

static struct {
	enum what what;
	pid_t pid, parent;
} told[TOLD_MAX];
static size_t ntold;

static const char *folder;

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

/* Where among what was told; -1: it was not. */
static long was_told(enum what what, pid_t pid)
{
	for (size_t i = 0; i < ntold; i++)
		if (told[i].what == what && told[i].pid == pid)
			return (long)i;
	return -1;
}

/* Read on until @what of @pid is told. */
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

static bool map__file(const char *name, int prot)
{
	char path[128];
	void *at;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, 0x1000, prot, MAP_PRIVATE, fd, FIXTURE_CODE);
	close(fd);
	return at != MAP_FAILED;
}

struct mapping {
	const char *name;
	int prot;
};

static void run_mapping(int ready, void *arg)
{
	const struct mapping *m = arg;

	if (map__file(m->name, m->prot))
		child__wait(ready);
}

/* A child whose child maps libR.so; it writes that one's pid and waits until it is ended. */
static void run_family(int ready, void *arg)
{
	pid_t *grandchild = arg, pid = fork();

	if (pid < 0)
		return;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*grandchild = getpid();
		if (map__file("libR.so", PROT_READ | PROT_EXEC))
			child__wait(ready);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void test_mappings(struct proc_events *w)
{
	static const struct mapping none[] = {{"other.so", PROT_READ | PROT_EXEC},
					      {"libR.so", PROT_READ}},
				    some[] = {{"libR.so", PROT_READ | PROT_EXEC},
					      {"libR.so.4", PROT_READ | PROT_EXEC}};
	pid_t quiet[2], loud[2];

	for (int i = 0; i < 2; i++)
		quiet[i] = child__start(run_mapping, (void *)(uintptr_t)&none[i]);
	for (int i = 0; i < 2; i++) {
		loud[i] = child__start(run_mapping, (void *)(uintptr_t)&some[i]);
		tap__ok(loud[i] > 0 && wait_for(w, MAPPED, loud[i]), "who maps %s is told",
			some[i].name);
	}
	tap__ok(quiet[0] > 0 && quiet[1] > 0 && was_told(MAPPED, quiet[0]) < 0 &&
			was_told(MAPPED, quiet[1]) < 0,
		"not who maps another file, or as data");
	for (int i = 0; i < 2; i++) {
		child__end(quiet[i]);
		child__end(loud[i]);
	}
}

static void test_family(struct proc_events *w)
{
	pid_t *grandchild = mmap(NULL, sizeof(*grandchild), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	long at;

	tap__bail_if(grandchild == MAP_FAILED, "no memory");
	child = child__start(run_family, grandchild);
	if (!tap__ok(child > 0 && wait_for(w, MAPPED, *grandchild), "a child's child is told"))
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
	munmap(grandchild, sizeof(*grandchild));
}

/* Each file is looked at once, so each program is run twice. */
static void test_programs(struct proc_events *w)
{
	char with[128], without[128];
	pid_t pids[4];

	snprintf(with, sizeof(with), "%s/with", folder);
	snprintf(without, sizeof(without), "%s/without", folder);
	child__file(with, true, true);
	child__file(without, true, false);
	pids[0] = child__exec(without, NULL);
	pids[1] = child__exec(without, NULL);
	pids[2] = child__exec(with, NULL);
	tap__ok(pids[2] > 0 && wait_for(w, MAPPED, pids[2]), "a program with R's variables");
	pids[3] = child__exec(with, NULL);
	tap__ok(pids[3] > 0 && wait_for(w, MAPPED, pids[3]), "and once more");
	tap__ok(pids[0] > 0 && pids[1] > 0 && was_told(MAPPED, pids[0]) < 0 &&
			was_told(MAPPED, pids[1]) < 0,
		"not one without");
	for (int i = 0; i < 4; i++)
		child__end(pids[i]);
	unlink(with);
	unlink(without);
}

struct storm {
	int in;		   /* a byte on this pipe asks for one round of mappings */
	volatile int done; /* rounds */
};

/* All on one CPU. */
static void run_storm(int ready, void *arg)
{
	struct storm *storm = arg;
	cpu_set_t set;
	char path[128], byte;
	int fd;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	snprintf(path, sizeof(path), "%s/other.so", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (sched_setaffinity(0, sizeof(set), &set) || fd < 0 || write(ready, "", 1) != 1)
		return;
	while (read(storm->in, &byte, 1) == 1) {
		for (int i = 0; i < STORM; i++) {
			void *at = mmap(NULL, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

			if (at == MAP_FAILED)
				return;
			munmap(at, 0x1000);
		}
		storm->done++;
	}
}

static bool storm__round(struct storm *storm, int out)
{
	time_t end = time(NULL) + DEADLINE_S;
	int want = storm->done + 1;

	if (write(out, "", 1) != 1)
		return false;
	while (storm->done < want && time(NULL) < end)
		poll(NULL, 0, 10);
	return storm->done >= want;
}

/* A round is more than a ring holds.  That it did not fit is on record once there is room. */
static void test_lost(struct proc_events *w)
{
	static const struct mapping one = {"libR.so", PROT_READ | PROT_EXEC};
	struct storm *storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool lost = false;
	pid_t pid, after;
	int pipes[2];

	tap__bail_if(storm == MAP_FAILED || pipe2(pipes, O_CLOEXEC), "no pipe");
	storm->in = pipes[0];
	pid = child__start(run_storm, storm);
	for (int i = 0; i < 5 && pid > 0 && !lost; i++)
		lost = storm__round(storm, pipes[1]) && proc_events__read(w);
	tap__ok(lost, "what did not fit is told as lost");
	after = child__start(run_mapping, (void *)(uintptr_t)&one);
	tap__ok(after > 0 && wait_for(w, MAPPED, after), "what comes after is not");
	child__end(after);
	child__end(pid);
	close(pipes[0]);
	close(pipes[1]);
	munmap(storm, sizeof(*storm));
}

/* Without forks and exits. */
static void test_mapped_only(void)
{
	static const struct mapping one = {"libR.so", PROT_READ | PROT_EXEC};
	struct proc_events *w;
	const struct proc_events_sink sink = {
		.mapped = on_mapped, .program = on_program, .arg = &w};
	struct errmsg f = {""};
	pid_t pid;

	ntold = 0;
	if (!tap__ok(!proc_events__open(&w, &sink, &f), "only mappings: %s", f.text))
		return;
	pid = child__start(run_mapping, (void *)(uintptr_t)&one);
	tap__ok(pid > 0 && wait_for(w, MAPPED, pid), "a mapping");
	tap__ok(was_told(FORKED, pid) < 0, "without its fork");
	child__end(pid);
	proc_events__close(w);
	proc_events__close(NULL);
}

struct refusal {
	int err;
	struct errmsg f;
};

static void run_nobody(int ready, void *arg)
{
	const struct proc_events_sink sink = {.mapped = on_mapped};
	struct refusal *r = arg;
	struct proc_events *w;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return;
	r->err = proc_events__open(&w, &sink, &r->f);
	child__wait(ready);
}

static void test_rights(void)
{
	struct refusal *r;
	int paranoid = 0;
	FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (in && fscanf(in, "%d", &paranoid) != 1)
		paranoid = 0;
	if (in)
		fclose(in);
	if (paranoid < 1) {
		tap__skip("perf_event_paranoid allows it to everybody", "nobody may not");
		return;
	}
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tap__bail_if(r == MAP_FAILED, "no memory");
	child__end(child__start(run_nobody, r));
	tap__ok(r->err == -EACCES && strstr(r->f.text, "run as root"), "nobody may not: %s",
		r->f.text);
	munmap(r, sizeof(*r));
}

TEST(proc_events_kernel)
{
	struct proc_events *w;
	const struct proc_events_sink sink = {
		.mapped = on_mapped,
		.program = on_program,
		.forked = on_forked,
		.exited = on_exited,
		.arg = &w,
	};
	static const char *const files[] = {"libR.so", "libR.so.4", "other.so"};
	struct errmsg f = {""};
	char path[128];
	int err;

	err = proc_events__open(&w, &sink, &f);
	if (err == -EACCES || err == -EPERM) {
		tap__ok(strstr(f.text, "run as root") != NULL, "not allowed: %s", f.text);
		tap__skip("needs CAP_PERFMON", "the kernel's records of processes");
		return;
	}
	if (!tap__ok(!err, "open: %s", f.text))
		return;
	folder = tap__folder();
	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		child__file(path, false, true);
	}
	test_mappings(w);
	test_family(w);
	test_programs(w);
	test_lost(w);
	proc_events__close(w);
	test_mapped_only();
	test_rights();
	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
}
