/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes of a session: their table, end, description, CPU time, sources, and failures. */
#define _GNU_SOURCE
#include "session/processes.h"

#include <time.h>

#include "base/clock.h"
#include "child.h"
#include "os/os.h"

TEST(processes)
{
	static struct processes ps;
	struct process *p, *next, *last = NULL;
	unsigned int n = 0;

	for (uint32_t i = 1; i <= 5000; i++) {
		p = processes__add(&ps, i % 2 ? 0 : 0x80000000u + i, i);
		tap__bail_if(!p, "no memory");
		last = p;
	}
	tap__ok(ps.count == 5000 && ps.last_serial == 2500, "serials of ours leave bit 31 alone");
	tap__ok(processes__find(&ps, 0x80000000u + 5000) == last && !processes__find(&ps, 2501),
		"found by serial");
	tap__ok(processes__find_pid(&ps, 5000) == last, "found by pid");
	last->state = PROCESS_ENDED;
	tap__ok(!processes__find_pid(&ps, 5000), "but not when it has ended");
	for (p = processes__next(&ps, NULL); p; p = next) {
		next = processes__next(&ps, p);
		processes__remove(&ps, p);
		n++;
	}
	tap__ok(n == 5000 && ps.count == 0, "each is met once, and can be removed on the way");
	ps.last_serial = 0x7fffffff;
	p = processes__add(&ps, 0, 1);
	tap__ok(p && p->serial == 1, "after 2^31 serials it starts again, not at 0");
}

TEST(symbols)
{
	static struct processes ps;
	struct process *p[4];

	for (uint32_t i = 0; i < 4; i++) {
		p[i] = processes__add(&ps, 0, i + 1);
		tap__bail_if(!p[i], "no memory");
		p[i]->target.file = (struct target_file){.dev = 8, .ino = i < 3 ? 100 : 101};
	}
	tap__ok(processes__symbols(&ps, p[0]), "the first of a file is asked");
	p[0]->labels_asked = true;
	tap__ok(!processes__symbols(&ps, p[1]) && !processes__symbols(&ps, p[2]),
		"those of the same file wait for its answer");
	tap__ok(processes__symbols(&ps, p[3]), "one of another file does not");
	p[0]->state = PROCESS_ENDED;
	tap__ok(processes__symbols(&ps, p[1]), "the wait ends with the process");
	p[0]->symbols_at = 0x1234;
	tap__ok(processes__symbols(&ps, p[2]) && p[2]->symbols_at == 0x1234 && !p[3]->symbols_at,
		"what it told holds for its file");
	memset(&p[2]->target.file, 0, sizeof(p[2]->target.file));
	p[3]->target.file = p[2]->target.file;
	tap__ok(processes__symbols(&ps, p[3]) && !p[3]->symbols_at,
		"a file that is not known is no other's");
}

TEST(labels_rest)
{
	static struct processes ps;
	struct process p = {0};

	tap__ok(processes__labels_rest(&ps, &p) == NS_PER_S, "first looks are a second apart");
	p.labels_looks = 40;
	tap__ok(processes__labels_rest(&ps, &p) == 5 * NS_PER_S, "later ones further");
	p.labels_looks = 100000;
	tap__ok(processes__labels_rest(&ps, &p) == 10 * NS_PER_S, "up to ten seconds");
	ps.count = 1280;
	tap__ok(processes__labels_rest(&ps, &p) == 20 * NS_PER_S, "and more for many processes");
}

static void waits(int ready, void *arg)
{
	child__wait(ready);
}

TEST(gone)
{
	static struct processes ps;
	const pid_t pid = child__start(waits, NULL);
	struct process *p = processes__add(&ps, 0, (uint32_t)pid);

	tap__bail_if(pid < 0 || !p, "no process");
	tap__ok(!process__gone(p, os__now()), "a process that waits is not gone");
	process__hold(p);
	tap__ok(proc_handle__is_open(&p->handle) && !process__gone(p, os__now()),
		"nor by a handle of it");
	kill(pid, SIGKILL);
	while (!process__gone(p, os__now()))
		usleep(1000);
	tap__ok(true, "one that ended is, before its parent has seen it");
	waitpid(pid, NULL, 0);
	tap__ok(process__gone(p, os__now()), "and when that has");
	process__release(p);
	process__hold(p);
	tap__ok(!proc_handle__is_open(&p->handle) && process__gone(p, os__now()),
		"of no process there is no handle");
}

TEST(description)
{
	static const char text[4096] = "R -f x\0service\0web\0env\0prod\0";
	struct description *d = description__new(text, sizeof(text));

	tap__ok(d && !strcmp(d->command, "R -f x") && d->nlabels == 2 &&
			!strcmp(d->labels[0].key, "service") &&
			!strcmp(d->labels[0].value, "web") && !strcmp(d->labels[1].key, "env") &&
			!strcmp(d->labels[1].value, "prod"),
		"the command and the labels");
	tap__ok(description__hold(d) == d && d->holders == 2, "it has two holders");
	description__drop(d);
	tap__ok(!strcmp(d->labels[1].value, "prod"), "one drops it, the other has it");
	description__drop(d);
	description__drop(NULL);
	tap__ok(!description__hold(NULL), "NULL can be held");
}

TEST(description_bad)
{
	static char full[4096], many[4096];
	static const char lone[] = "c\0key";
	struct description *d;
	size_t n = 0;

	memset(full, 'x', sizeof(full));
	d = description__new(full, sizeof(full));
	tap__ok(d && strlen(d->command) == sizeof(full) && !d->nlabels, "a text without an end");
	description__drop(d);
	d = description__new(lone, sizeof(lone) - 1);
	tap__ok(d && !strcmp(d->command, "c") && !d->nlabels, "a key without a value");
	description__drop(d);
	d = description__new("", 0);
	tap__ok(d && !*d->command && !d->nlabels, "nothing");
	description__drop(d);
	many[n++] = '\0';
	while (n + 5 < sizeof(many)) {
		memcpy(many + n, "k\0v\0", 4);
		n += 4;
	}
	d = description__new(many, sizeof(many));
	tap__ok(d && d->nlabels == DESCRIBE_LABELS + 1, "more labels than there can be: %zu",
		d ? d->nlabels : 0);
	description__drop(d);
}

static int in_root_folder(void)
{
	return chdir("/usr");
}

static int of_other_mounts(void)
{
	return unshare(CLONE_NEWNS);
}

static int of_other_root(void)
{
	return chroot("/usr") || chdir("/");
}

static void prepared(int ready, void *arg)
{
	int (*const *prepare)(void) = arg;

	if (!(*prepare)())
		child__wait(ready);
}

/* Of a child that has done @prepare; *@made: it could. */
static struct source_rights look(int (*prepare)(void), bool forked, bool *made)
{
	struct source_rights r = {0};
	pid_t pid = child__start(prepared, &prepare);

	*made = pid > 0;
	if (*made)
		source_rights__look(&r, pid, forked);
	child__end(pid);
	return r;
}

TEST(source_rights)
{
	static const struct {
		int (*prepare)(void);
		const char *what;
	} others[] = {
		{of_other_mounts, "one with other mounts sees other files"},
		{of_other_root, "and so does one with another root"},
	};
	struct source_rights r;
	bool made;

	r = look(in_root_folder, false, &made);
	tap__ok(r.directory && !strcmp(r.directory, "/usr") && r.uid == getuid(),
		"a process' folder and user are known");
	source_rights__look(&r, 0, false);
	tap__ok(r.directory, "and stay, when it has ended");
	r.uid++;
	source_rights__look(&r, getpid(), false);
	tap__ok(!r.directory, "one that changed its user counts for nothing");
	source_rights__look(&r, getpid(), false);
	tap__ok(!r.directory, "for good");
	source_rights__end(&r);

	r = look(in_root_folder, true, &made);
	tap__ok(geteuid() ? !!r.directory : !r.directory,
		"root's children count for nothing, others' do");
	source_rights__end(&r);

	for (size_t i = 0; i < COUNT(others); i++) {
		r = look(others[i].prepare, false, &made);
		if (made)
			tap__ok(!r.directory, "%s", others[i].what);
		else
			tap__skip("this takes root", "%s", others[i].what);
		source_rights__end(&r);
	}
}

TEST(cpu_use)
{
	struct cpu_use u = {0};
	struct cpu_use old;
	struct timespec used;
	uint64_t now = os__now();
	volatile uint64_t sum = 0;
	pid_t pid;

	cpu_use__look(&u, getpid(), now);
	tap__ok(u.since == now && !cpu_use__elapsed(&u) && !cpu_use__used(&u), "the first look");
	tap__ok(!cpu_use__due(&u, now + NS_PER_S / 2, 1) && cpu_use__due(&u, now + NS_PER_S, 1) &&
			!cpu_use__due(&u, now + NS_PER_S, 640),
		"once a second, and of many processes more seldom");
	old = (struct cpu_use){.since = NS_PER_S, .at = 41 * NS_PER_S};
	tap__ok(!cpu_use__due(&old, 45 * NS_PER_S, 1) && cpu_use__due(&old, 46 * NS_PER_S, 1),
		"one that was there for 40 seconds rests for five");
	old.at = 4000 * NS_PER_S;
	tap__ok(!cpu_use__due(&old, 4009 * NS_PER_S, 100) &&
			cpu_use__due(&old, 4010 * NS_PER_S, 100) &&
			!cpu_use__due(&old, 4010 * NS_PER_S, 1024),
		"ten at most, except with many processes");
	while (!cpu_use__used(&u)) {
		for (int i = 0; i < 1000000; i++)
			sum += (uint64_t)i;
		cpu_use__look(&u, getpid(), os__now());
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	tap__ok(cpu_use__used(&u) <= (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec,
		"%llu ns of CPU, which this process has used",
		(unsigned long long)cpu_use__used(&u));
	now = u.at;
	cpu_use__look(&u, -1, os__now());
	tap__ok(u.at == now, "of one that has ended the last look stays");
	pid = fork();
	if (!pid)
		raise(SIGSTOP);
	waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WSTOPPED | WNOWAIT);
	memset(&old, 0, sizeof(old));
	cpu_use__look(&old, pid, os__now());
	tap__ok(old.stopped && !u.stopped, "one that is stopped");
}

struct row {
	int err;
	enum process_origin origin;
	const char *comm;
	bool told;
	uint64_t waited_ms;
	enum outcome want;
	const char *what;
};

static const struct row rows[] = {
	{-ESRCH, PROCESS_NAMED, "R", false, 0, OUTCOME_GONE, "ended"},
	{-EAGAIN, PROCESS_NAMED, "R", false, 4999, OUTCOME_NOT_YET, "named, R starts"},
	{-EAGAIN, PROCESS_NAMED, "R", false, 5000, OUTCOME_NEVER, "named, R does not start"},
	{-EAGAIN, PROCESS_WORKLOAD, "x", false, 9999999, OUTCOME_NOT_YET, "workload, R starts"},
	{-EAGAIN, PROCESS_SEEN, "x", true, 9999999, OUTCOME_NOT_YET, "seen, R starts late"},
	{-ENOEXEC, PROCESS_NAMED, "sleep", false, 0, OUTCOME_NEVER, "named, not R"},
	{-ENOEXEC, PROCESS_NAMED, "R", false, 0, OUTCOME_NOT_YET, "named, R's shell script"},
	{-ENOEXEC, PROCESS_NAMED, "Rscript", false, 4999, OUTCOME_NOT_YET, "named, Rscript"},
	{-ENOEXEC, PROCESS_NAMED, "Rscript", false, 5000, OUTCOME_NEVER, "named, an odd Rscript"},
	{-ENOEXEC, PROCESS_WORKLOAD, "make", false, 9999999, OUTCOME_NOT_YET,
	 "workload, not R yet"},
	{-ENOEXEC, PROCESS_SEEN, "x", true, 1999, OUTCOME_NOT_YET, "seen, its exec goes on"},
	{-ENOEXEC, PROCESS_SEEN, "x", true, 2000, OUTCOME_NEVER, "seen, and settled"},
	{-ENOEXEC, PROCESS_SEEN, "x", false, 9999, OUTCOME_NOT_YET, "scanned, R may appear"},
	{-ENOEXEC, PROCESS_SEEN, "x", false, 10000, OUTCOME_NEVER, "scanned, and settled"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", true, 0, OUTCOME_NEVER,
	 "replaced: the kernel will report R"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", false, 1999, OUTCOME_NOT_YET,
	 "replaced, without reports"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", false, 2000, OUTCOME_NEVER, "replaced by another"},
	{-ENOEXEC, PROCESS_REPLACED, "R", false, 9999, OUTCOME_NOT_YET, "replaced by R's script"},
	{-ENOEXEC, PROCESS_REPLACED, "R", false, 10000, OUTCOME_NEVER, "replaced by an odd R"},
	{-EBADMSG, PROCESS_NAMED, "R", false, 1999, OUTCOME_NOT_YET, "named, being mapped"},
	{-EBADMSG, PROCESS_NAMED, "R", false, 2000, OUTCOME_NEVER, "named, damaged"},
	{-EBADMSG, PROCESS_SEEN, "R", true, 2000, OUTCOME_NEVER, "seen, damaged"},
	{-EACCES, PROCESS_NAMED, "R", true, 0, OUTCOME_NEVER, "named, not allowed"},
	{-EACCES, PROCESS_SEEN, "R", true, 199, OUTCOME_NOT_YET, "seen, not allowed in its exec"},
	{-EACCES, PROCESS_SEEN, "R", true, 200, OUTCOME_NEVER, "seen, not allowed"},
	{-EPERM, PROCESS_WORKLOAD, "R", true, 200, OUTCOME_NEVER, "the workload, not permitted"},
	{-EMFILE, PROCESS_NAMED, "R", true, 1999, OUTCOME_NOT_YET, "named, no descriptors"},
	{-EMFILE, PROCESS_NAMED, "R", true, 2000, OUTCOME_NEVER, "named, none for long"},
	{-ENFILE, PROCESS_SEEN, "R", true, 0, OUTCOME_NOT_YET, "seen, no descriptors"},
	{-ENOMEM, PROCESS_SEEN, "R", true, 0, OUTCOME_NOT_YET, "seen, no memory"},
	{-EBUSY, PROCESS_SEEN, "R", true, 999999, OUTCOME_NOT_YET,
	 "not asked, its user has too many"},
	{-ETIMEDOUT, PROCESS_SEEN, "R", true, 999999, OUTCOME_NOT_YET, "no answer"},
	{-ETIMEDOUT, PROCESS_WORKLOAD, "R", true, 999999, OUTCOME_NOT_YET,
	 "no answer of the workload"},
	{-ETIMEDOUT, PROCESS_NAMED, "R", true, 0, OUTCOME_NEVER, "no answer of one that was named"},
	{-ENOTSUP, PROCESS_NAMED, "R", false, 0, OUTCOME_NEVER, "32-bit"},
	{-EEXIST, PROCESS_SEEN, "R", true, 0, OUTCOME_NEVER, "the engine has it"},
	{-ENOEXEC, PROCESS_FORKED, "R", true, 0, OUTCOME_NEVER, "forked, not R"},
};

/* Where others are profiled, too. */
static const struct row followed[] = {
	{-ENOEXEC, PROCESS_NAMED, "sh", false, 9999999, OUTCOME_NOT_YET, "named, R may be below"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", false, 9999, OUTCOME_NOT_YET,
	 "replaced, R may be below"},
};

static void test_rows(const struct row *all, size_t n, bool follow)
{
	for (const struct row *r = all; r < all + n; r++) {
		struct process p = {.origin = r->origin, .since = 1, .failing = 1};

		snprintf(p.target.comm, sizeof(p.target.comm), "%s", r->comm);
		tap__ok(process__outcome(&p, r->err, r->told, follow,
					 1 + r->waited_ms * NS_PER_MS) == r->want,
			"%s", r->what);
	}
}

TEST(outcome)
{
	struct process p = {.origin = PROCESS_WORKLOAD, .since = 1};
	const uint64_t exec = 60 * NS_PER_S;

	tap__ok(process__outcome(&p, -EBADMSG, true, true, exec) == OUTCOME_NOT_YET &&
			process__outcome(&p, -EBADMSG, true, true, exec + 2 * NS_PER_S) ==
				OUTCOME_NEVER,
		"R's script ran for a minute: R has two seconds for itself");
	process__outcome(&p, -EAGAIN, true, true, exec);
	tap__ok(process__outcome(&p, -EBADMSG, true, true, exec + 2 * NS_PER_S) == OUTCOME_NOT_YET,
		"and again after another program");
	p = (struct process){.origin = PROCESS_REPLACED, .since = 1, .hinted = true};
	tap__ok(process__outcome(&p, -ENOEXEC, true, false, exec) == OUTCOME_NOT_YET,
		"R was seen during the look that did not find it");
	test_rows(rows, COUNT(rows), false);
	test_rows(followed, COUNT(followed), true);
	tap__ok(!outcome__matters(-ESRCH) && !outcome__matters(-ENOEXEC) &&
			!outcome__matters(-EEXIST) && !outcome__matters(-E2BIG),
		"ordinary failures are not printed");
	tap__ok(outcome__matters(-EACCES) && outcome__matters(-EBADMSG) &&
			outcome__matters(-ENOTSUP) && outcome__matters(-ETIMEDOUT),
		"other failures are");
	tap__ok(outcome__is_full(-E2BIG) && outcome__is_full(-EMFILE) &&
			outcome__is_full(-ENFILE) && !outcome__is_full(-ENOMEM) &&
			!outcome__matters(-EMFILE),
		"a full table is printed once");
}
