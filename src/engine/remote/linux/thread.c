/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/linux/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/proc.h"
#include "os/rights.h"

static int thread__file(pid_t pid, pid_t tid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

static ssize_t fd__text(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	text[n] = '\0';
	return n;
}

static ssize_t thread__text(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	int fd = thread__file(pid, tid, name);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = fd__text(fd, text, size);
	close(fd);
	return n;
}

static void thread__close_files(struct remote_thread *t)
{
	if (t->stat_fd >= 0)
		close(t->stat_fd);
	if (t->runs_fd >= 0)
		close(t->runs_fd);
	if (t->cpu_fd >= 0)
		close(t->cpu_fd);
	alarm__close(&t->alarm);
	t->stat_fd = t->runs_fd = t->cpu_fd = -1;
	t->cpu_err = 0;
}

/*
 * Times a thread was put on a CPU: the third number of schedstat (kernel/sched/stats.h,
 * sched_info_arrive()), which is "0 0 0" in kernels that do not count; else its context switches.
 */
static int thread__open_files(struct remote_thread *t)
{
	char text[128];

	alarm__init(&t->alarm, t->pid, t->tid);
	t->stat_fd = thread__file(t->pid, t->tid, "stat");
	if (t->stat_fd < 0)
		return t->stat_fd;
	t->runs_sum = false;
	t->runs_fd = thread__file(t->pid, t->tid, "schedstat");
	if (t->runs_fd >= 0 && fd__text(t->runs_fd, text, sizeof(text)) > 0 &&
	    strncmp(text, "0 0 0", 5))
		return 0;
	if (t->runs_fd >= 0)
		close(t->runs_fd);
	t->runs_sum = true;
	t->runs_fd = thread__file(t->pid, t->tid, "status");
	if (t->runs_fd < 0) {
		int err = t->runs_fd;

		thread__close_files(t);
		return err;
	}
	return 0;
}

/* The first thread is taken to be R's until another is proven to be. */
static int thread__suppose(struct remote_thread *t)
{
	thread__close_files(t);
	t->tid = t->pid;
	t->proven = false;
	t->low = 0;
	t->high = 1;
	return thread__open_files(t);
}

int remote_thread__open(struct remote_thread *t, pid_t pid)
{
	*t = (struct remote_thread){.pid = pid, .stat_fd = -1, .runs_fd = -1, .cpu_fd = -1};
	alarm__init(&t->alarm, pid, pid);
	return thread__suppose(t);
}

int remote_thread__of(struct remote_thread *t, pid_t pid, pid_t tid)
{
	*t = (struct remote_thread){
		.pid = pid, .tid = tid, .stat_fd = -1, .runs_fd = -1, .cpu_fd = -1};
	return thread__open_files(t);
}

void remote_thread__close(struct remote_thread *t)
{
	thread__close_files(t);
}

static int thread__runs(const struct remote_thread *t, uint64_t *runs)
{
	char text[PROC_STATUS_MAX], *at;
	ssize_t n = fd__text(t->runs_fd, text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (t->runs_sum) {
		*runs = proc__status(text, "\nvoluntary_ctxt_switches:", 10, 0) +
			proc__status(text, "\nnonvoluntary_ctxt_switches:", 10, 0);
		return 0;
	}
	strtoull(text, &at, 10);
	strtoull(at, &at, 10);
	*runs = strtoull(at, NULL, 10);
	return 0;
}

static int thread__look(const struct remote_thread *t, struct remote_state *look)
{
	char text[512];
	struct proc p;
	ssize_t n;
	int err;

	/* runs first: if it stays the same, a thread seen off the CPU later has not run since */
	err = thread__runs(t, &look->runs);
	if (err)
		return err;
	n = fd__text(t->stat_fd, text, sizeof(text));
	if (n < 0)
		return (int)n;
	if (proc__parse_stat(text, (size_t)n, &p))
		return -ESRCH;
	look->state = p.state;
	look->threads = p.threads;
	return 0;
}

int remote_thread__look(struct remote_thread *t, struct remote_state *look)
{
	int err = thread__look(t, look);

	if (err && t->tid != t->pid && !thread__suppose(t))
		err = thread__look(t, look);
	if (err)
		return err;
	if (look->threads == 1 && t->tid == t->pid) {
		t->proven = true;
		t->low = t->high = 0;
	} else if (!t->high) {
		t->proven = false;
		t->high = 1;
	}
	return 0;
}

bool remote_thread__ending(const struct remote_thread *t)
{
	char text[512];
	struct proc p;
	ssize_t n = fd__text(t->stat_fd, text, sizeof(text));

	return n < 0 || proc__parse_stat(text, (size_t)n, &p) || p.ending;
}

/*
 * What /proc says of CPU time is some milliseconds old while a thread runs; a software event is
 * brought up to date when it is read (kernel/events/core.c, task_clock_event_read()).  It counts
 * time in the kernel, too, whatever is excluded: that is for samples, and for leave to open it.
 */
static int thread__count_cpu_time(struct remote_thread *t)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t raised = rights__raise(RIGHTS_TARGET | RIGHTS_EVENTS);

	t->cpu_fd = (int)syscall(SYS_perf_event_open, &attr, t->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	t->cpu_err = t->cpu_fd < 0 ? -errno : 0;
	rights__lower(raised);
	return t->cpu_err;
}

int remote_thread__cpu_time(struct remote_thread *t, uint64_t *ns)
{
	int err = t->cpu_err;

	if (!err && t->cpu_fd < 0)
		err = thread__count_cpu_time(t);
	if (!err && read(t->cpu_fd, ns, sizeof(*ns)) != sizeof(*ns))
		err = -EIO;
	return err;
}

pid_t remote_thread__tracer(pid_t pid, pid_t tid)
{
	char text[4096];

	if (thread__text(pid, tid, "status", text, sizeof(text)) < 0)
		return 0;
	return (pid_t)proc__status(text, "\nTracerPid:", 10, 0);
}

#define AREAS_MAX   64u
#define THREADS_MAX 16384u

/* The mapping [start, end) that holds `key`, and whether it is the first thread's stack. */
struct area {
	uint64_t start, end, key;
	bool main_stack;
};

/* The mappings that hold any of @keys. */
static uint32_t thread__areas(pid_t pid, const uint64_t *keys, uint32_t n, struct area *areas)
{
	char path[32], line[512];
	uint32_t found = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	in = fopen(path, "re");
	if (!in)
		return 0;
	while (found < AREAS_MAX && fgets(line, sizeof(line), in)) {
		struct area a = {.main_stack = strstr(line, "[stack]") != NULL};
		char *at;

		a.start = strtoull(line, &at, 16);
		if (*at != '-')
			continue;
		a.end = strtoull(at + 1, NULL, 16);
		for (uint32_t i = 0; i < n; i++) {
			if (keys[i] >= a.start && keys[i] < a.end) {
				a.key = keys[i];
				areas[found++] = a;
				break;
			}
		}
	}
	fclose(in);
	return found;
}

/*
 * The stack pointer of a thread that waits in a system call, and its next instruction: the last two
 * numbers of its syscall file (fs/proc/base.c, proc_pid_syscall()); "running" or no number: not
 * known.
 */
static uint64_t thread__sp(pid_t pid, pid_t tid, uint64_t *pc)
{
	char text[256], *at, *before = NULL, *last = NULL;

	if (thread__text(pid, tid, "syscall", text, sizeof(text)) < 0)
		return 0;
	for (at = strtok(text, " \n"); at; at = strtok(NULL, " \n")) {
		before = last;
		last = at;
	}
	*pc = before ? strtoull(last, NULL, 16) : 0;
	return before ? strtoull(before, NULL, 16) : 0;
}

int remote_thread__waits(const struct remote_thread *t, uint64_t *pc, uint64_t *sp)
{
	*sp = thread__sp(t->pid, t->tid, pc);
	return *sp && *pc ? 0 : -ESRCH;
}

uint64_t remote_thread__pc_mask(void)
{
#ifdef __aarch64__
	/* as for the kernel (engine/bpf/programs.c): those beyond may be a signature */
	return (UINT64_C(1) << 48) - 1;
#else
	return UINT64_MAX;
#endif
}

/*
 * Where the stack of thread @tid ends: the C library keeps the thread's own block at its top, with
 * the list of robust locks in it (glibc nptl/pthread_create.c), whose address the kernel knows.  0:
 * not known; musl sets it with the first such lock.
 */
uint64_t remote_thread__top(pid_t tid)
{
	uint64_t head = 0;
	size_t len;

	return syscall(SYS_get_robust_list, tid, &head, &len) ? 0 : head;
}

/* What is known of the stack that holds area.key. */
struct found {
	pid_t tid;
	uint64_t low, high;
};

/* Is it the stack of thread @tid?  The next one above the key is. */
static void area__try(const struct area *a, pid_t pid, pid_t tid, uint64_t top, uint64_t sp,
		      struct found *f)
{
	if (a->main_stack && tid == pid)
		top = a->end;
	if (top > a->start && top <= a->key && top > f->low)
		f->low = top; /* another's, below */
	if (top > a->key && top <= a->end && (!f->tid || top < f->high)) {
		f->tid = tid;
		f->high = top;
	} else if (!f->tid && sp >= a->start && sp < a->end) {
		f->tid = tid;
		f->high = a->end;
	}
}

void remote_thread__prove(struct remote_thread *t, const uint64_t *keys, uint32_t n)
{
	struct area areas[AREAS_MAX];
	struct found found[AREAS_MAX] = {0};
	uint32_t nareas = thread__areas(t->pid, keys, n, areas), left = THREADS_MAX;
	struct dirent *entry;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	dir = nareas ? opendir(path) : NULL;
	while (dir && left-- && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		uint64_t top = tid > 0 ? remote_thread__top(tid) : 0, sp = 0, pc;

		if (tid > 0 && !top)
			sp = thread__sp(t->pid, tid, &pc);
		for (uint32_t i = 0; i < nareas && tid > 0; i++)
			area__try(&areas[i], t->pid, tid, top, sp, &found[i]);
	}
	if (dir)
		closedir(dir);
	t->proven = false;
	for (uint32_t i = 0; i < nareas && !t->proven; i++) {
		if (!found[i].tid)
			continue;
		if (found[i].tid != t->tid) {
			thread__close_files(t);
			t->tid = found[i].tid;
			if (thread__open_files(t))
				break;
		}
		t->proven = true;
		t->low = found[i].low ? found[i].low : areas[i].start;
		t->high = found[i].high;
	}
}
