/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of mappings, forks and exits out of rings that this program fills itself, as the kernel
 * would: across the end of the ring, cut off, lost, in two rings.  The source is included, its
 * calls of the kernel come here: no right is needed.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include <bpf/libbpf.h>

#include "os/linux/cpus.h"
#include "os/proc.h"
#include "tap.h"

#define CPUS 3 /* the last one is offline at first */

static int fake_error;			     /* of perf_event_open() */
static int fake_epoll_error;		     /* of epoll_ctl() */
static int fake_timer_error;		     /* of timerfd_create() */
static int fake_cpus = CPUS;		     /* libbpf_num_possible_cpus() */
static int fake_memory[CPUS] = {-1, -1, -1}; /* what stands for a CPU's ring; -1: none */
static bool fake_online[CPUS];
static int fake_no_list; /* of cpus__online() */
static uint64_t fake_expirations;
static bool fake_wants_tasks;

#include <linux/perf_event.h>

static long fake_perf_event_open(const struct perf_event_attr *attr, int cpu)
{
	if (fake_error) {
		errno = fake_error;
		return -1;
	}
	if (!fake_online[cpu]) {
		errno = ENODEV;
		return -1;
	}
	fake_wants_tasks = attr->task;
	fake_memory[cpu] = memfd_create("ring", 0);
	if (ftruncate(fake_memory[cpu], 65 * sysconf(_SC_PAGESIZE)))
		return -1;
	return dup(fake_memory[cpu]);
}

static int fake_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	errno = fake_epoll_error;
	return fake_epoll_error ? -1 : 0;
}

static int fake_timerfd_create(int clock, int flags)
{
	errno = fake_timer_error;
	return fake_timer_error ? -1 : timerfd_create(clock, flags);
}

static int fake_cpus_online(bool *online, size_t n)
{
	memcpy(online, fake_online, n * sizeof(*online));
	return fake_no_list;
}

static ssize_t fake_read(int fd, void *data, size_t size)
{
	if (!fake_expirations || size != sizeof(fake_expirations))
		return -1;
	memcpy(data, &fake_expirations, sizeof(fake_expirations));
	fake_expirations = 0;
	return sizeof(fake_expirations);
}

static const char *fake_program; /* what each process runs; NULL: what it does run */

static int fake_exe(pid_t pid, char *path, size_t size, bool *deleted)
{
	if (!fake_program)
		return proc__exe(pid, path, size, deleted);
	snprintf(path, size, "%s", fake_program);
	return 0;
}

#define proc__exe				      fake_exe
#define syscall(number, attr, pid, cpu, group, flags) fake_perf_event_open(attr, cpu)
#define epoll_ctl				      fake_epoll_ctl
#define timerfd_create				      fake_timerfd_create
#define libbpf_num_possible_cpus()		      fake_cpus
#define cpus__online				      fake_cpus_online
#define read					      fake_read
/* the other tests of this room have the real ones */
#define proc_events__open  fake__open
#define proc_events__fd	   fake__fd
#define proc_events__read  fake__read
#define proc_events__learn fake__learn
#define proc_events__close fake__close
#include "target/linux/proc_events.c" /* NOLINT(bugprone-suspicious-include) */
#undef proc__exe
#undef read
#undef syscall

/* --- what the sink gets --- */

static bool quiet;   /* it only counts */
static bool holds_r; /* what is found out about each program */
static unsigned int mapped_count;
static void (*when_forked)(void); /* what happens while a fork is being told */

static void on_mapped(void *arg, pid_t pid)
{
	mapped_count++;
	if (!quiet)
		tap__say("mapped:%d ", (int)pid);
}

/* The session asks a separate process; here the answer comes at once. */
static void on_program(void *arg, pid_t pid, uint64_t file)
{
	tap__say("asked ");
	proc_events__learn(*(struct proc_events **)arg, file, holds_r);
}

static void on_forked(void *arg, uint64_t time, pid_t parent, pid_t child)
{
	if (when_forked)
		when_forked();
	else
		tap__say("forked:%d:%d@%d ", (int)parent, (int)child, (int)time);
}

static void on_exited(void *arg, uint64_t time, pid_t pid)
{
	tap__say("exited:%d@%d ", (int)pid, (int)time);
}

/* --- rings, as the kernel sees them --- */

static struct proc_events *w;

static void *page_of(int cpu)
{
	return w->rings[cpu].page;
}

/* Append @size bytes to the ring of @cpu. */
static void put(int cpu, const void *bytes, size_t size)
{
	struct perf_event_mmap_page *page = page_of(cpu);
	uint8_t *data = (uint8_t *)page + sysconf(_SC_PAGESIZE);
	uint64_t head = page->data_head;

	for (size_t i = 0; i < size; i++)
		data[(head + i) % w->ring_bytes] = ((const uint8_t *)bytes)[i];
	page->data_head = head + size;
}

/* Move both ends of an empty ring, so that the next record lies @before bytes before its end. */
static void put_near_end(int cpu, size_t before)
{
	struct perf_event_mmap_page *page = page_of(cpu);

	page->data_head = page->data_tail = 7 * w->ring_bytes - before;
}

/* What is mapped of a file: code; data; or code, the file's name having no end. */
enum mapped { CODE, DATA, UNTERMINATED };

static void put_mapping(int cpu, int pid, const char *file, uint64_t inode, enum mapped what)
{
	uint64_t room[64] = {0};
	struct record_mmap2 *r = (void *)room;
	size_t len = strlen(file) + 1, size = sizeof(*r) + ((len + 7) & ~(size_t)7);

	r->head.type = PERF_RECORD_MMAP2;
	r->head.size = (uint16_t)size;
	r->pid = r->tid = (uint32_t)pid;
	r->ino = inode;
	r->prot = what == DATA ? PROT_READ : PROT_READ | PROT_EXEC;
	memcpy(r->filename, file, len);
	if (what == UNTERMINATED)
		memset(r->filename, 'x', size - sizeof(*r));
	put(cpu, r, size);
}

static void put_libr(int cpu, int pid)
{
	put_mapping(cpu, pid, "/usr/lib/R/lib/libR.so", 12, CODE);
}

static void put_task(int cpu, int type, int pid, int parent, int tid, int time)
{
	struct record_task r = {
		.head = {.type = (uint32_t)type, .size = sizeof(r)},
		.pid = (uint32_t)pid,
		.ppid = (uint32_t)parent,
		.tid = (uint32_t)tid,
		.time = (uint64_t)time,
	};

	put(cpu, &r, sizeof(r));
}

static void put_head(int cpu, uint32_t type, uint16_t size)
{
	put(cpu, &(struct perf_event_header){.type = type, .size = size},
	    sizeof(struct perf_event_header));
}

/* Read: the sink gets @want, and @lost is whether records were lost. */
static void reads(bool lost, const char *want, const char *name)
{
	tap__say("%s", proc_events__read(w) == lost ? "" : lost ? "not lost" : "lost");
	tap__said(want, "%s", name);
}

static int start(bool tasks, struct errmsg *f)
{
	struct proc_events_sink sink = {
		.mapped = on_mapped,
		.program = on_program,
		.arg = &w,
		.forked = tasks ? on_forked : NULL,
		.exited = tasks ? on_exited : NULL,
	};

	fake_online[0] = fake_online[1] = true;
	fake_online[2] = false;
	w = NULL;
	return proc_events__open(&w, &sink, f);
}

static void stop(void)
{
	proc_events__close(w);
	w = NULL;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		if (fake_memory[cpu] >= 0)
			close(fake_memory[cpu]);
		fake_memory[cpu] = -1;
	}
}

/* --- tests --- */

BEFORE()
{
	tap__bail_if(start(true, NULL), "it does not open");
}

AFTER()
{
	stop();
}

TEST(records)
{
	const int me = (int)getpid();
	char exe[4096], want[64];
	const char *program; /* of this process */
	bool deleted;

	tap__bail_if(proc__exe(me, exe, sizeof(exe), &deleted), "no program");
	program = strrchr(exe, '/');
	tap__ok(proc_events__fd(w) >= 0 && fake_wants_tasks,
		"it opens on the CPUs that are online");
	reads(false, "", "nothing there");
	put_libr(0, 100);
	put_libr(1, 200);
	reads(false, "mapped:100 mapped:200 ", "libR.so in two processes");
	put_mapping(0, 100, "/data/libR.so", 12, DATA);
	put_mapping(0, 100, "/data/libR.so", 0, CODE);
	put_mapping(0, -1, "/data/libR.so", 12, CODE);
	put_mapping(0, 100, "/data/libR.so", 12, UNTERMINATED);
	reads(false, "", "not code, no file, no process of ours, a name without its end");
	put_mapping(0, 0x7ffffff0, "/usr/bin/true", 13, CODE);
	reads(false, "", "another file, of a process that is gone");
	put_mapping(0, me, "/usr/lib/libc.so.6", 14, CODE);
	put_mapping(0, me, "/usr/lib/libc.so.6", 14, CODE);
	put_mapping(0, me, program, 15, CODE);
	put_mapping(0, me, program, 15, CODE);
	reads(false, "asked ", "a library, and a program without R, which is asked about once");
	tap__ok(w->files.count == 2, "each file is remembered once");
	holds_r = true;
	put_mapping(0, me, "/usr/lib/R/bin/exec/R", 16, CODE);
	reads(false, "", "a program that another one maps, as valgrind does");
	put_mapping(0, me, program, 16, CODE);
	put_mapping(0, me, program, 16, CODE);
	snprintf(want, sizeof(want), "asked mapped:%d ", me);
	reads(false, want, "a program with R, which is known from then on");
	holds_r = false;
	fake_program = "/usr/lib/R/bin/exec/R";
	put_mapping(0, me, fake_program, 17, CODE);
	reads(false, "asked ", "a program called R, which another one was executed instead of");
	holds_r = true;
	put_mapping(0, me, fake_program, 17, CODE);
	put_mapping(0, me, fake_program, 17, CODE);
	snprintf(want, sizeof(want), "asked mapped:%d ", me);
	reads(false, want, "it is asked about again, and then known");
	fake_program = NULL;
	for (uint64_t inode = 100; inode < 100 + FILES_MAX + 10; inode++) {
		put_mapping(0, me, "/x.so", inode, CODE);
		if (inode % 1000 == 0)
			proc_events__read(w);
	}
	proc_events__read(w);
	tap__ok(w->files.count > 0 && w->files.count <= FILES_MAX,
		"the number of remembered files is limited");

	put_task(0, PERF_RECORD_FORK, 301, 300, 301, 5);
	put_task(0, PERF_RECORD_FORK, 300, 300, 302, 6); /* a thread */
	put_task(0, PERF_RECORD_FORK, 0, 300, 0, 6);	 /* not of our pid namespace */
	put_task(0, PERF_RECORD_EXIT, 300, 1, 302, 7);	 /* a thread */
	put_task(0, PERF_RECORD_EXIT, 301, 1, 301, 8);
	put_task(0, PERF_RECORD_EXIT, 0, 0, 0, 9);
	reads(false, "forked:300:301@5 exited:301@8 ", "processes, not threads, nor strangers");
	put_head(0, PERF_RECORD_FORK, sizeof(struct perf_event_header));
	put_head(0, PERF_RECORD_COMM, sizeof(struct perf_event_header));
	reads(false, "", "a record that is too short, and one of another kind");
	put_head(0, PERF_RECORD_LOST, sizeof(struct perf_event_header));
	reads(true, "", "the kernel lost records: lost");
	reads(false, "", "and that is reported once");
}

TEST(order)
{
	put_near_end(0, 40);
	put_libr(0, 400);
	put_libr(0, 401);
	reads(false, "mapped:400 mapped:401 ", "a record across the end of the ring");
	put_near_end(0, sizeof(struct perf_event_header));
	put_libr(0, 402);
	reads(false, "mapped:402 ", "only its head before the end");
	put_libr(0, 500);
	put_task(1, PERF_RECORD_FORK, 500, 499, 500, 1);
	reads(false, "forked:499:500@1 mapped:500 ",
	      "an earlier fork in another ring is reported first");
	put_libr(0, 600);
	put_head(0, PERF_RECORD_FORK, 4);
	put_libr(0, 601);
	reads(true, "mapped:600 ", "a size that cannot be: the rest of the ring is lost");
	put_libr(0, 602);
	reads(false, "mapped:602 ", "what comes later is not");
	put_head(0, PERF_RECORD_FORK, 4096);
	reads(true, "", "a record longer than what is there: lost");
}

static int later; /* how many processes start while the rings are read */

static void one_more(void)
{
	if (later-- <= 0)
		return;
	put_libr(1, 700 + later);
	put_task(0, PERF_RECORD_FORK, 700, 699, 700, 1);
}

TEST(flood)
{
	when_forked = one_more;
	later = 3;
	put_task(0, PERF_RECORD_FORK, 700, 699, 700, 1);
	reads(false, "mapped:702 mapped:701 mapped:700 ",
	      "records that arrive while the rings are read are reported");
	quiet = true;
	later = 1000000;
	put_task(0, PERF_RECORD_FORK, 700, 699, 700, 1);
	mapped_count = 0;
	tap__ok(proc_events__read(w) && mapped_count >= ROUNDS_MAX && mapped_count < ROUNDS_MAX * 2,
		"without an end of it the caller has a turn after %d rounds, and knows",
		ROUNDS_MAX);
	later = 0;
	proc_events__read(w);
	when_forked = NULL;
	quiet = false;
	reads(false, "", "the next read reports the rest");
	quiet = true;
	/* more than is kept: from both rings, each of which has room for some */
	mapped_count = 0;
	for (unsigned int i = 0; i < PENDING_MAX + 5; i++) {
		put_libr(0, 1000 + (int)i);
		if (i % 1000 == 999)
			ring__read(w, &w->rings[0]);
	}
	tap__ok(proc_events__read(w) && mapped_count == PENDING_MAX,
		"more mappings than are kept: lost, and %u told", PENDING_MAX);
}

TEST(cpus)
{
	fake_online[2] = true;
	reads(false, "", "a CPU came, and it is not time to look");
	fake_expirations = 1;
	reads(true, "", "it gets a ring; what happened before is lost");
	put_libr(2, 800);
	reads(false, "mapped:800 ", "records of it are read");
	fake_online[1] = false;
	fake_expirations = 1;
	reads(false, "", "a CPU went");
	tap__ok(w->rings[1].fd < 0 && w->rings[2].fd >= 0, "its ring is closed, others are not");
	fake_no_list = -ENOENT;
	fake_online[0] = false;
	fake_expirations = 1;
	reads(false, "", "the list of online CPUs cannot be read");
	tap__ok(w->rings[0].fd >= 0, "then all stay");
}

TEST(open)
{
	static const struct {
		int *error, value, want;
		const char *text, *what;
	} rows[] = {
		{&fake_error, EACCES, -EACCES, "permission denied", "not allowed"},
		{&fake_error, EPERM, -EPERM, "permission denied", "not permitted"},
		{&fake_error, EMFILE, -EMFILE, "Too many open files", "no descriptor"},
		{&fake_epoll_error, ENOSPC, -ENOSPC, "No space", "it cannot be waited for"},
		{&fake_timer_error, ENFILE, -ENFILE, "Too many open files", "no timer"},
		{&fake_cpus, -EINVAL, -ENODEV, "how many CPUs", "no CPUs"},
	};

	stop();
	tap__ok(!start(false, NULL) && !fake_wants_tasks, "forks and exits only on request");
	put_task(0, PERF_RECORD_FORK, 301, 300, 301, 5);
	put_task(0, PERF_RECORD_EXIT, 301, 300, 301, 5);
	put_libr(0, 900);
	reads(false, "mapped:900 ", "mappings alone");
	stop();
	proc_events__close(NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const int before = *rows[i].error;
		struct errmsg f = {""};
		int err;

		*rows[i].error = rows[i].value;
		err = start(false, &f);
		tap__ok(err == rows[i].want && !w && strstr(f.text, rows[i].text), "%s: %d, %s",
			rows[i].what, err, f.text);
		stop();
		*rows[i].error = before;
	}
}
