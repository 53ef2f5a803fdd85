/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery on running processes: R, programs that are not R, and made-up ones that map a small
 * file called libR.so (elf_fixture.h), which can be in any state R can be in.
 */
#define _GNU_SOURCE

#include <grp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "child.h"
#include "target/layouts.h"
#include "tap.h"
#include "scan_all.h"
#include "target/target.h"
#include "os/proc.h"

#define NOBODY 65534

static const char *folder; /* for files that children map */
static bool in_exec;	   /* as the kernel says, of all processes */

/* In the place of proc__read() (the linker sees to it): in the middle of an exec there is no stack.
 */
int __real_proc__read(pid_t pid, struct proc *p);
int __wrap_proc__read(pid_t pid, struct proc *p);

int __wrap_proc__read(pid_t pid, struct proc *p)
{
	int err = __real_proc__read(pid, p);

	if (in_exec)
		p->stack = 0;
	return err;
}

static bool find__says(pid_t pid, int want, const char *text, const char *what)
{
	struct errmsg f = {""};
	struct target t;
	int err = target__find(pid, 0, &t, &f);

	if (err == want && strstr(f.text, text) && !strchr(f.text, '\n'))
		return tap__ok(true, "%s: %s", what, f.text);
	tap__diag("wanted %d and \"%s\", got %d: %s", want, text, err, f.text);
	return tap__ok(false, "%s", what);
}

/* What a made-up process looks like. */
struct fake {
	const char *minor, *year; /* of the version; "2.2" and "2022" when NULL */
	const char *name;	  /* of the file, "libR.so" when NULL */
	size_t change;		  /* offset of a byte to change, 0: none */
	uint8_t to;		  /* what to change it to */
	bool starting;		  /* R_GlobalContext is NULL */
	bool half;		  /* a symbol is still NULL */
	bool deleted;
	bool elsewhere; /* on a file system of its own mount namespace */
};

static void fake__path(const struct fake *fake, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", folder, fake->name ? fake->name : "libR.so");
}

static int fake__map(const struct fake *fake, const char *path)
{
	static uint8_t data[FIXTURE_SIZE];
	uint8_t *base;
	uint64_t *var;
	int fd;

	fixture__make(data, fake->minor ? fake->minor : "2.2", fake->year ? fake->year : "2022");
	if (fake->change)
		data[fake->change] = fake->to;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, data, sizeof(data)) != sizeof(data))
		return -1;
	base = mmap(NULL, FIXTURE_SPAN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED ||
	    mmap(base, 0x1000, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED ||
	    mmap(base + FIXTURE_CODE_ADDR, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		 fd, FIXTURE_CODE) == MAP_FAILED ||
	    mmap(base + FIXTURE_DATA_ADDR, 0x1000, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return -1;
	close(fd);
	var = (uint64_t *)(base + FIXTURE_DATA_ADDR);
	for (size_t i = 0; i < FIXTURE_NAMES; i++)
		var[i] = 0x10000 * (i + 1);
	if (fake->starting)
		var[0] = 0;
	if (fake->half)
		var[4] = 0;
	return 0;
}

static void fake__run(int ready, void *arg)
{
	const struct fake *fake = arg;
	char path[128];

	fake__path(fake, path, sizeof(path));
	if (fake->elsewhere && !child__mount(folder, NULL))
		return;
	if (fake__map(fake, path) || (fake->deleted && unlink(path)))
		return;
	child__wait(ready);
}

static pid_t fake__start(const struct fake *fake)
{
	pid_t pid = child__start(fake__run, (void *)(uintptr_t)fake);

	if (pid < 0)
		tap__diag("a process with a made-up libR.so could not be started");
	return pid;
}

static void fake__end(const struct fake *fake, pid_t pid)
{
	char path[128];

	child__end(pid);
	fake__path(fake, path, sizeof(path));
	unlink(path);
}

/* Is the fake at @pid found, with everything where it is? */
static void fake__found(pid_t pid, const char *version, bool known, const char *what)
{
	struct errmsg f = {""};
	struct target t;
	int err = pid > 0 ? target__find(pid, XR_ROW_LINES | XR_ROW_GC, &t, &f) : -ECHILD;
	const struct xr_row *row = &t.row;

	if (err) {
		tap__ok(false, "%s: %s", what, f.text);
		return;
	}
	tap__ok(row->head_at == t.load_bias + FIXTURE_DATA_ADDR && row->nil == 0x20000 &&
			row->sym_colon2 == 0x30000 && row->sym_colon3 == 0x40000 &&
			row->sym_dollar == 0x50000 && row->sym_item == 0x60000 &&
			row->sym_srcfile == 0x70000 && row->in_bc == 0x80000 &&
			row->srcref_at == row->head_at + 64 && row->pid == (uint32_t)pid &&
			row->start_time && t.load == TARGET_LIBR && !strcmp(t.version, version) &&
			t.version_known == known && row->layout.call,
		"%s: R %s", what, t.version);
}

/* The version that DESCRIPTION of package base tells, where the library's constants do not. */
static void test_base(void)
{
	static const char *const folders[] = {"lib", "library", "library/base"};
	static const struct fake odd = {.name = "lib/libR.so", .minor = "odd", .year = "2029"};
	static const struct fake gone = {
		.name = "lib/libR.so", .minor = "odd", .year = "2029", .deleted = true};
	char path[128];
	pid_t pid;
	FILE *out;

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
		tap__bail_if(mkdir(path, 0755), "cannot make %s", path);
	}
	pid = fake__start(&odd);
	fake__found(pid, "", false, "no file with a version");
	snprintf(path, sizeof(path), "%s/library/base/DESCRIPTION", folder);
	out = fopen(path, "w");
	tap__bail_if(
		!out ||
			fputs("Package: base\nVersion: odd\nVersion: 4.1.3\r\nVersion: 4.0.0\n",
			      out) < 0 ||
			fclose(out),
		"cannot write %s", path);
	fake__found(pid, "4.1.3", true, "the version of package base");
	fake__end(&odd, pid);
	if (!geteuid()) {
		pid = fake__start(&gone);
		fake__found(pid, "", false, "not that of another R that replaced it");
		fake__end(&gone, pid);
	}
	unlink(path);
	for (size_t i = 3; i--;) {
		snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
		rmdir(path);
	}
}

static void mount__run(int ready, __attribute__((unused)) void *arg)
{
	if (child__mount(folder, NULL))
		child__wait(ready);
}

static void test_fakes(void)
{
	static const struct {
		struct fake fake;
		int err; /* 0: found */
		const char *version, *text, *what;
	} cases[] = {
		{{.minor = NULL}, 0, "4.2.2", "", "libR.so loaded away from its file offsets"},
		{{.name = "libR.so.4.2.2"},
		 0,
		 "4.2.2",
		 "",
		 "a library with its version in the name"},
		{{.deleted = true}, 0, "4.2.2", "", "a library deleted since"},
		{{.elsewhere = true}, 0, "4.2.2", "", "a library in another mount namespace"},
		{{.elsewhere = true, .deleted = true}, 0, "4.2.2", "", "and deleted there"},
		{{.starting = true},
		 -EAGAIN,
		 NULL,
		 "not finished starting",
		 "R_GlobalContext is NULL"},
		{{.half = true}, -EAGAIN, NULL, "not finished starting", "a symbol is NULL yet"},
		{{.minor = "15.3", .year = "2013"},
		 -ENOTSUP,
		 NULL,
		 "R 2.15.3, which is too old",
		 "an old R"},
		{{.change = EI_CLASS, .to = ELFCLASS32}, -ENOTSUP, NULL, "32-bit", "a 32-bit R"},
		{{.change = EI_MAG1, .to = 0},
		 -EBADMSG,
		 NULL,
		 "damaged",
		 "a file that is no ELF file"},
		{{.change = FIXTURE_STRINGS + 3, .to = 0},
		 -EBADMSG,
		 NULL,
		 "does not export",
		 "a file without R_GlobalContext"},
	};
	static const struct fake future = {.minor = "9.1", .year = "2029"};
	static const struct fake odd = {.minor = "odd", .year = "2029"};
	pid_t pid = child__start(mount__run, NULL);
	const bool mounts = pid > 0;

	child__end(pid);
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].fake.elsewhere && !mounts) {
			tap__skip("no mounts of its own: not root, or in a chroot", "%s",
				  cases[i].what);
			continue;
		}
		if (cases[i].fake.deleted && geteuid()) {
			tap__skip("opening a deleted file needs root", "%s", cases[i].what);
			continue;
		}
		pid = fake__start(&cases[i].fake);
		if (cases[i].err)
			find__says(pid, cases[i].err, cases[i].text, cases[i].what);
		else
			fake__found(pid, cases[i].version, true, cases[i].what);
		in_exec = cases[i].err == -EBADMSG;
		if (in_exec)
			find__says(pid, -EAGAIN, "not finished starting", "likewise, in an exec");
		in_exec = false;
		fake__end(&cases[i].fake, pid);
	}
	pid = fake__start(&future);
	fake__found(pid, "4.9.1", false, "an R that is newer than the table, with the last layout");
	fake__end(&future, pid);
	pid = fake__start(&odd);
	fake__found(pid, "", false, "an R that does not tell its version");
	fake__end(&odd, pid);
	test_base();
}

/* Variables of an R linked without libR.so: this very program.  Hidden: they are not to
 * stand in for libR.so's. */
#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN void *R_GlobalContext, *R_NilValue;

static void static__run(int ready, void *arg)
{
	R_GlobalContext = arg;
	R_NilValue = arg;
	child__wait(ready);
}

static void test_static(void)
{
	struct errmsg f = {""};
	struct target t;
	char home[256] = "", path[4096] = "";
	pid_t pid = child__start(static__run, NULL);
	bool deleted;

	if (proc__exe(pid, path, sizeof(path), &deleted) || !strstr(path, "/tests/unit/")) {
		tap__skip("this program is run by another (valgrind)", "an R in the executable");
		child__end(pid);
		return;
	}

	find__says(pid, -EAGAIN, "not finished starting",
		   "an R in the executable, before its start");
	child__end(pid);
	pid = child__start(static__run, home);
	if (tap__ok(!target__find(pid, 0, &t, &f), "and after: %s", f.text))
		tap__ok(t.load == TARGET_STATIC &&
				t.row.head_at == (uint64_t)(uintptr_t)&R_GlobalContext &&
				t.row.nil == (uint64_t)(uintptr_t)home && !t.row.in_bc &&
				t.row.layout.call,
			"its variables are where the child has them");
	tap__ok(target__same(&t), "it is still the same process");
	child__end(pid);
	tap__ok(!target__same(&t), "and when it is gone, no more");
}

static void *thread__run(void *tid)
{
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	if (write(((int *)tid)[1], "", 1) == 1)
		for (;;)
			pause();
	return NULL;
}

static void test_not_r(void)
{
	int state[2], pipes[2];
	pthread_t thread;
	char byte, text[64], comm[16] = "";
	pid_t pid;
	FILE *in;

	find__says(1 << 22, -ESRCH, "no process 4194304", "a pid beyond the largest");
	find__says(0, -ESRCH, "no process 0", "pid 0");
	find__says(-1, -ESRCH, "no process -1", "pid -1");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < 1000 && strcmp(comm, "sleep"); i++) {
		struct proc p;

		usleep(10000);
		if (!proc__read(pid, &p))
			memcpy(comm, p.comm, sizeof(comm));
	}
	find__says(pid, -ENOEXEC, "(sleep) has no R in it", "a program that is not R");
	child__end(pid);
	find__says(pid, -ESRCH, "no process", "a process that has ended");
	pid = fork();
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	find__says(pid, -ESRCH, "has ended already", "a zombie");
	child__end(pid);
	in = fopen("/proc/2/comm", "r");
	if (in && fgets(comm, sizeof(comm), in) && !strcmp(comm, "kthreadd\n"))
		find__says(2, -ENOEXEC, "it is a kernel thread", "a kernel thread");
	else
		tap__skip("a container shows no kernel threads", "a kernel thread");
	if (in)
		fclose(in);
	tap__bail_if(pipe(pipes), "no pipe");
	state[1] = pipes[1];
	tap__bail_if(pthread_create(&thread, NULL, thread__run, state) ||
			     read(pipes[0], &byte, 1) != 1,
		     "no thread");
	snprintf(text, sizeof(text), "is a thread of process %d", (int)getpid());
	find__says(state[0], -EINVAL, text, "a thread's id");
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	close(pipes[0]);
	close(pipes[1]);
}

/* As a user who is not root, on another process of that user's. */
static void nobody__run(int ready, void *arg)
{
	struct fake *fake = arg;
	bool ok = fake != NULL;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, 1))
		return;
	if (ok)
		fake__run(ready, fake);
	child__wait(ready);
}

struct errand {
	pid_t pid;
	int err;
	struct errmsg fault;
};

static void errand__run(int ready, void *arg)
{
	struct errand *errand = arg;
	struct target t;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return;
	errand->err = target__find(errand->pid, 0, &t, &errand->fault);
	child__wait(ready);
}

/* Find @pid as nobody. */
static void errand__do(struct errand *errand, pid_t pid)
{
	memset(errand, 0, sizeof(*errand));
	errand->pid = pid;
	errand->err = 1;
	child__end(child__start(errand__run, errand));
}

static void test_rights(void)
{
	static struct fake plain, deleted = {.deleted = true};
	struct errand *errand;
	pid_t pid;

	if (geteuid()) {
		find__says(1, -EACCES, "not allowed", "a process of root's");
		tap__skip("changing the user needs root", "a user's own processes");
		return;
	}
	errand = mmap(NULL, sizeof(*errand), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	tap__bail_if(errand == MAP_FAILED || chmod(folder, 0777), "no memory");
	errand__do(errand, getpid());
	tap__ok(errand->err == -EACCES && strstr(errand->fault.text, "run as root"),
		"another user's process: %s", errand->fault.text);
	pid = child__start(nobody__run, &plain);
	errand__do(errand, pid);
	tap__ok(!errand->err, "one's own, whose file is opened by its name%s", errand->fault.text);
	fake__end(&plain, pid);
	pid = child__start(nobody__run, &deleted);
	errand__do(errand, pid);
	tap__ok(errand->err == -EACCES && strstr(errand->fault.text, "run as root"),
		"one's own, whose file is gone: %s", errand->fault.text);
	fake__end(&deleted, pid);
	munmap(errand, sizeof(*errand));
}

static int scan__seen(void *arg, pid_t pid)
{
	pid_t *wanted = arg;

	for (int i = 0; i < 2; i++)
		if (wanted[i] == pid)
			wanted[i] = 0;
	return pid == wanted[2] ? -EEXIST : 0;
}

static int scan__stop(void *arg, pid_t pid)
{
	(void)pid;
	return ++*(int *)arg;
}

static void test_scan(void)
{
	static const struct fake one = {.name = "libR.so"}, two = {.name = "libR.so.4"},
				 other = {.name = "libRx.so"};
	pid_t pids[3] = {fake__start(&one), fake__start(&two), fake__start(&other)};
	pid_t wanted[3] = {pids[0], pids[1], pids[2]};
	int calls = 0;

	tap__ok(!scan_all(scan__seen, wanted) && !wanted[0] && !wanted[1],
		"the scan sees what has libR.so mapped, and not what has not");
	tap__ok(scan_all(scan__stop, &calls) == 1 && calls == 1, "it stops when told to");
	fake__end(&one, pids[0]);
	fake__end(&two, pids[1]);
	fake__end(&other, pids[2]);
}

TEST(find)
{
	/* not $TMPDIR: nobody, the user, must get there */
	folder = tap__folder();
	test_not_r();
	test_fakes();
	test_static();
	test_rights();
	test_scan();
}
