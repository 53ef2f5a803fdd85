/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery on running processes: R, programs that are not R, and made-up ones that map a small
 * file called libR.so (elf_fixture.h), which can be in any state R can be in.
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "child.h"
#include "target/layouts.h"
#include "tap.h"
#include "target/linux/scan.h"
#include "target/target.h"
#include "os/proc.h"

#define OTHER_USER 65534

static bool in_exec;	      /* as the kernel says, of all processes */
static unsigned int executes; /* how many more times */
static unsigned int looks;    /* at processes */

/* In the place of proc__read() (the linker sees to it): in the middle of an exec there is no stack.
 */
int __real_proc__read(pid_t pid, struct proc *p);
int __wrap_proc__read(pid_t pid, struct proc *p);

int __wrap_proc__read(pid_t pid, struct proc *p)
{
	int err = __real_proc__read(pid, p);

	looks++;
	if (in_exec)
		p->stack = 0;
	if (executes)
		p->stack += executes--;
	return err;
}

static bool nothing_mapped; /* but the stack: what an exec maps first */

FILE *__real_proc__fopen(pid_t pid, const char *name);
FILE *__wrap_proc__fopen(pid_t pid, const char *name);

FILE *__wrap_proc__fopen(pid_t pid, const char *name)
{
	static char stack[] = "7ffc0000-7ffd0000 rw-p 00000000 00:00 0 [stack]\n";

	if (nothing_mapped && !strcmp(name, "maps"))
		return fmemopen(stack, sizeof(stack) - 1, "r");
	return __real_proc__fopen(pid, name);
}

static const char late[] = "not finished starting", no_r[] = "does not run R";

static bool find__says(pid_t pid, int want, const char *text, const char *what)
{
	struct errmsg f = {""};
	struct target t;
	int err = target__find(pid, 0, &t, &f);

	if (err != want || !strstr(f.text, text) || strchr(f.text, '\n'))
		tap__diag("wanted %d and \"%s\", got %d", want, text, err);
	return tap__ok(err == want && strstr(f.text, text) && !strchr(f.text, '\n'), "%s: %s", what,
		       f.text);
}

/* What a made-up process looks like, and what is found. */
struct fake {
	const char *what;
	const char *minor, *year; /* of the version; "2.2" and "2022" when NULL */
	const char *name;	  /* of the file, "libR.so" when NULL */
	size_t change;		  /* offset of a byte to change, 0: none */
	uint8_t to;		  /* what to change it to */
	bool starting;		  /* R_GlobalContext is NULL */
	bool half;		  /* a symbol is still NULL */
	bool deleted;
	bool elsewhere;	  /* on a file system of a private mount namespace */
	int err;	  /* of looking for it */
	const char *says; /* then its words; else the version */
	bool unknown;	  /* the table has not that version */
};

static const char *fake__path(const struct fake *fake)
{
	return tap__path(fake->name ? fake->name : "libR.so");
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
	const char *path = fake__path(fake);

	if (fake->elsewhere && !child__mount(tap__folder(), NULL))
		return;
	if (fake__map(fake, path) || (fake->deleted && unlink(path)))
		return;
	child__wait(ready);
}

static pid_t fake__start(const struct fake *fake)
{
	return child__start(fake__run, (void *)(uintptr_t)fake);
}

static void fake__end(const struct fake *fake, pid_t pid)
{
	child__end(pid);
	unlink(fake__path(fake));
}

#ifdef __aarch64__
#define ARCH LAYOUTS_AARCH64_LINUX
#else
#define ARCH LAYOUTS_X86_64_LINUX
#endif

/* Is the fake at @pid found, with everything where it is?  @version: of it; NULL: as it says. */
static void fake__found(const struct fake *fake, pid_t pid, const char *version)
{
	struct errmsg f = {""};
	struct target t = {.pid = 0};
	int err = pid > 0 ? target__find(pid, XR_ROW_LINES | XR_ROW_GC, &t, &f) : -ECHILD;
	const struct xr_row *row = &t.row;
	const struct xr_layout *layout = t.version_known
						 ? layouts__find(ARCH, layouts__parse(t.version))
						 : layouts__last(ARCH);

	tap__ok(!err && row->head_at == t.load_bias + FIXTURE_DATA_ADDR && row->nil == 0x20000 &&
			row->sym_colon2 == 0x30000 && row->sym_colon3 == 0x40000 &&
			row->sym_dollar == 0x50000 && row->sym_item == 0x60000 &&
			row->sym_srcfile == 0x70000 && row->in_bc == 0x80000 &&
			row->srcref_at == row->head_at + 64 && row->pid == (uint32_t)pid &&
			row->start_time && t.load == TARGET_LIBR && layout &&
			!memcmp(&row->layout, layout, sizeof(*layout)) &&
			!strcmp(t.version, version ? version : fake->says) &&
			t.version_known == (version || !fake->unknown),
		"%s: R %s %s", fake->what, t.version, f.text);
}

/* The version that DESCRIPTION of package base tells, where the library's constants do not. */
TEST(base)
{
	static const char *const folders[] = {"lib", "library", "library/base"};
	static const char text[] =
		"Package: base\nVersion: odd\nVersion: 4.1.3\r\nVersion: 4.0.0\n";
	static const struct fake odd = {"no file with a version, or that of package base",
					.name = "lib/libR.so",
					.minor = "odd",
					.year = "2029",
					.says = "",
					.unknown = true};
	struct fake gone = odd;
	pid_t pid;

	for (size_t i = 0; i < 3; i++)
		tap__bail_if(mkdir(tap__path(folders[i]), 0755), "cannot make %s", folders[i]);
	pid = fake__start(&odd);
	fake__found(&odd, pid, NULL);
	tap__write(tap__path("library/base/DESCRIPTION"), text, sizeof(text) - 1);
	fake__found(&odd, pid, "4.1.3");
	fake__end(&odd, pid);
	if (tap__root()) {
		gone.what = "not that of another R that replaced it";
		gone.deleted = true;
		pid = fake__start(&gone);
		fake__found(&gone, pid, NULL);
		fake__end(&gone, pid);
	}
}

static void mount__run(int ready, __attribute__((unused)) void *arg)
{
	if (child__mount(tap__folder(), NULL))
		child__wait(ready);
}

TEST(found)
{
	static const struct fake cases[] = {
		{"libR.so loaded away from its file offsets", .says = "4.2.2"},
		{"a version in the name", .name = "libR.so.4.2.2", .says = "4.2.2"},
		{"a library deleted since", .deleted = true, .says = "4.2.2"},
		{"in another mount namespace", .elsewhere = true, .says = "4.2.2"},
		{"and deleted there", .elsewhere = true, .deleted = true, .says = "4.2.2"},
		{"R_GlobalContext is NULL", .starting = true, .err = -EAGAIN, .says = late},
		{"a symbol is NULL yet", .half = true, .err = -EAGAIN, .says = late},
		{"an old R", .minor = "15.3", .year = "2013", .err = -ENOTSUP,
		 .says = "R 2.15.3, which is too old"},
		{"a 32-bit R", .change = EI_CLASS, .to = ELFCLASS32, .err = -ENOTSUP,
		 .says = "32-bit"},
		{"no ELF file", .change = EI_MAG1, .to = 0, .err = -EBADMSG, .says = "damaged"},
		{"a file without R_GlobalContext", .change = FIXTURE_STRINGS + 3, .err = -EBADMSG,
		 .says = "does not export"},
		{"an R that is newer than the table, with the last layout", .minor = "9.1",
		 .year = "2029", .says = "4.9.1", .unknown = true},
		{"an R that does not tell its version", .minor = "odd", .year = "2029", .says = "",
		 .unknown = true},
	};
	pid_t pid = child__start(mount__run, NULL);
	const bool mounts = pid > 0;
	unsigned int once;

	child__end(pid);
	for (const struct fake *c = cases; c < cases + COUNT(cases); c++) {
		if (c->elsewhere && !mounts) {
			tap__skip("no private mounts: not root, or in a chroot", "%s", c->what);
			continue;
		}
		if (c->deleted && !tap__root()) {
			tap__skip("opening a deleted file needs root", "%s", c->what);
			continue;
		}
		pid = fake__start(c);
		if (c->err)
			find__says(pid, c->err, c->says, c->what);
		else
			fake__found(c, pid, NULL);
		if (c == cases) {
			looks = 0;
			fake__found(c, pid, NULL);
			once = looks;
			executes = 2;
			fake__found(c, pid, NULL);
			tap__ok(looks > once, "what executes another program is read again");
			executes = 1000;
			find__says(pid, -EAGAIN, "keeps executing new programs",
				   "what is of two programs each time is not used");
			executes = 0;
		}
		in_exec = c->err == -EBADMSG;
		if (in_exec)
			find__says(pid, -EAGAIN, late, "the same in an exec");
		in_exec = false;
		fake__end(c, pid);
	}
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

TEST(executable)
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
	find__says(pid, -EAGAIN, late, "an R in the executable, before its start");
	child__end(pid);
	pid = child__start(static__run, home);
	tap__ok(!target__find(pid, 0, &t, &f) && t.load == TARGET_STATIC &&
			t.row.head_at == (uint64_t)(uintptr_t)&R_GlobalContext &&
			t.row.nil == (uint64_t)(uintptr_t)home && !t.row.in_bc && t.row.layout.call,
		"and after: its variables are where the child has them%s", f.text);
	tap__ok(target__same(&t) && !target__replaced(&t), "it is still the same process");
	executes = 1;
	tap__ok(target__replaced(&t), "one that executed another program is seen to");
	child__end(pid);
	tap__ok(!target__same(&t), "and when it is gone, no more");
}

/* Programs: does R seem to be in one, and is it; also between its exec and its first mapping. */
TEST(programs)
{
	static const struct {
		const char *name;
		bool named; /* it has R's variables */
		bool seems;
		int err, early; /* early: nothing is mapped yet */
	} rows[] = {
		{"with", true, true, -EAGAIN, -ENOEXEC},
		{"without", false, false, -ENOEXEC, -ENOEXEC},
		{"R", false, true, -ENOEXEC, -EAGAIN},
	};
	struct programs known = {0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *name = rows[i].name, *path = tap__path(name);
		pid_t pid;

		child__file(path, true, rows[i].named);
		pid = child__exec(path, NULL);
		tap__ok(target__seems(pid, &known) == rows[i].seems, "%s: seems to be R or not",
			name);
		tap__ok(programs__holds_r(&known, pid) == rows[i].named,
			"%s: its program holds R or not", name);
		find__says(pid, rows[i].err, rows[i].err == -EAGAIN ? late : no_r, name);
		nothing_mapped = true;
		find__says(pid, rows[i].early, rows[i].early == -EAGAIN ? late : no_r, name);
		nothing_mapped = false;
		child__end(pid);
		tap__ok(programs__holds_r(&known, pid) == -ENOENT, "%s: it has ended", name);
	}
	programs__free(&known);
}

static pid_t thread; /* a second one of this process */
static pthread_barrier_t started;

static void *thread__run(void *arg)
{
	thread = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&started);
	for (;;)
		pause();
	return NULL;
}

TEST(not_r)
{
	const char *comm = tap__read("/proc/2/comm", NULL);
	pthread_t id;
	char text[64];
	pid_t pid;

	if (comm && !strcmp(comm, "kthreadd\n"))
		find__says(2, -ENOEXEC, "it is a kernel thread", "a kernel thread");
	else
		tap__skip("a container shows no kernel threads", "a kernel thread");
	find__says(1 << 22, -ESRCH, "no process 4194304", "a pid beyond the largest");
	find__says(0, -ESRCH, "no process 0", "pid 0");
	find__says(-1, -ESRCH, "no process -1", "pid -1");
	pid = fork();
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	find__says(pid, -ESRCH, "has ended already", "a zombie");
	child__end(pid);
	find__says(pid, -ESRCH, "no process", "and when it is gone");
	tap__bail_if(pthread_barrier_init(&started, NULL, 2) ||
			     pthread_create(&id, NULL, thread__run, NULL),
		     "no thread");
	pthread_barrier_wait(&started);
	snprintf(text, sizeof(text), "is a thread of process %d", (int)getpid());
	find__says(thread, -EINVAL, text, "a thread's id");
}

/* As a user who is not root, on another process of that user's. */
static void other_user__run(int ready, void *arg)
{
	if (child__user(OTHER_USER) && !prctl(PR_SET_DUMPABLE, 1))
		fake__run(ready, arg);
}

static struct {
	pid_t pid;
	int err;
} errand;

/* Is errand.err what an ordinary user gets who looks for R in errand.pid? */
static bool errand__holds(void)
{
	struct errmsg f = {""};
	struct target t;

	return child__user(OTHER_USER) && target__find(errand.pid, 0, &t, &f) == errand.err &&
	       (!errand.err || strstr(f.text, "run as root"));
}

static void errand__do(pid_t pid, int err, const char *what)
{
	errand.pid = pid;
	errand.err = err;
	tap__ok(child__holds(errand__holds), "%s", what);
}

TEST(rights)
{
	static struct fake plain, deleted = {.deleted = true};
	pid_t pid;

	if (!tap__root()) {
		find__says(1, -EACCES, "not allowed", "a process of root's");
		tap__skip("changing the user needs root", "a user's own processes");
		return;
	}
	tap__bail_if(chmod(tap__folder(), 0777), "no folder for all");
	errand__do(getpid(), -EACCES, "another user's process");
	pid = child__start(other_user__run, &plain);
	errand__do(pid, 0, "one's own, whose file is opened by its name");
	fake__end(&plain, pid);
	pid = child__start(other_user__run, &deleted);
	errand__do(pid, -EACCES, "one's own, whose file is gone");
	fake__end(&deleted, pid);
}

static int each__is(void *arg, pid_t pid)
{
	return pid == *(pid_t *)arg;
}

static int each__counts(void *arg, pid_t pid)
{
	return ++*(int *)arg;
}

TEST(seems)
{
	static const struct fake fakes[] = {
		{.name = "libR.so"}, {.name = "libR.so.4"}, {.name = "libRx.so"}};
	struct programs known = {0};
	int calls = 0;
	pid_t pid;

	tap__ok(target__each(each__counts, &calls) == 1 && calls == 1, "the scan may stop");
	for (size_t i = 0; i < COUNT(fakes); i++) {
		pid = fake__start(&fakes[i]);
		tap__ok(target__seems(pid, &known) == (i < 2), "%s is mapped", fakes[i].name);
		tap__ok(target__each(each__is, &pid) == 1, "the scan comes to it");
		fake__end(&fakes[i], pid);
		tap__ok(!target__each(each__is, &pid), "it has ended: the scan comes to its end");
	}
	programs__free(&known);
}
