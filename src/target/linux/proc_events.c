/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "os/linux/cpus.h"
#include "os/linux/refusal.h"
#include "base/map.h"
#include "os/linux/proc_maps.h"
#include "os/proc.h"
#include "target/linux/proc_events.h"
#include "os/linux/rights.h"

#define RING_PAGES  64u	   /* a power of two; an exec makes some ten records of 150 bytes */
#define RECORD_MAX  65536u /* the size field has 16 bits */
#define FILES_MAX   8192u  /* files remembered */
#define PENDING_MAX 4096u  /* mappings of one call */
#define ROUNDS_MAX  16	   /* of one call; more only when processes start without a pause */

/* Bodies of records without sample_id_all: perf_event_open(2), include/uapi/linux/perf_event.h. */
struct record_mmap2 {
	struct perf_event_header head;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct record_task { /* FORK and EXIT */
	struct perf_event_header head;
	uint32_t pid, ppid;
	uint32_t tid, ptid;
	uint64_t time;
};

struct ring {
	int fd; /* -1: the CPU is offline */
	struct perf_event_mmap_page *page;
	uint8_t *data;
};

struct proc_events {
	struct proc_events_sink sink;
	struct ring *rings; /* by CPU */
	size_t nrings;
	size_t ring_bytes, map_bytes;
	int epoll;
	int timer;	/* expires when it is time to look which CPUs are online */
	int64_t clocks; /* of cpus__slept() */
	bool lost;
	/* files other than libR.so that were mapped: by a hash of device, inode and generation */
	struct map files;
	/* what was mapped, until all forks are known */
	pid_t *pending;
	size_t npending;
	uint64_t record[RECORD_MAX / 8]; /* one that wraps round, put together */
};

/* What is remembered of a file: the values of `files`. */
static char file_plain, file_holds_r;

void proc_events__learn(struct proc_events *e, uint64_t file, bool holds_r)
{
	if (e->files.count >= FILES_MAX)
		map__free(&e->files);
	/* without memory the file is asked about again the next time */
	map__put(&e->files, file, 0, holds_r ? &file_holds_r : &file_plain);
}

static const char *path__name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A file that is not libR.so: R is in it when it is the program that runs and has R's variables.
 * Each file is asked about once; the files of programs are not for this process to open.  The
 * answer is about what the process runs by then, which any user could choose: that there is no R in
 * a file called R is not believed the next time.
 */
static bool file__holds_r(struct proc_events *e, const struct record_mmap2 *r)
{
	uint64_t file = map__hash(
		(uint64_t)r->maj << 52 ^ (uint64_t)r->min << 32 ^ r->ino_generation, r->ino);
	void *known = map__get(&e->files, file, 0);
	char exe[4096];
	bool deleted;

	if (known && (known == &file_holds_r || strcmp(path__name(r->filename), "R")))
		return known == &file_holds_r;
	if (proc__exe((pid_t)r->pid, exe, sizeof(exe), &deleted))
		return false;
	/* as the two see them, the paths differ when the process has another root */
	if (!strcmp(path__name(exe), path__name(r->filename)))
		e->sink.program(e->sink.arg, (pid_t)r->pid, file);
	else if (strstr(path__name(r->filename), ".so")) /* a program may map another: valgrind */
		proc_events__learn(e, file, false);
	return false;
}

static void proc_events__mapped(struct proc_events *e, const struct record_mmap2 *r)
{
	pid_t pid = (pid_t)r->pid;

	if (pid <= 0 || !(r->prot & PROT_EXEC) || !r->ino)
		return;
	if (!proc_maps__is_libr(r->filename) && !file__holds_r(e, r))
		return;
	if (e->npending == PENDING_MAX)
		e->lost = true;
	else
		e->pending[e->npending++] = pid;
}

static void proc_events__task(struct proc_events *e, const struct record_task *r)
{
	pid_t pid = (pid_t)r->pid, parent = (pid_t)r->ppid;

	if (r->head.type == PERF_RECORD_FORK) {
		if (e->sink.forked && pid > 0 && parent > 0 && pid != parent)
			e->sink.forked(e->sink.arg, r->time, parent, pid);
	} else if (e->sink.exited && pid > 0 && r->pid == r->tid) {
		e->sink.exited(e->sink.arg, r->time, pid);
	}
}

/* @size: of the record, at least its head. */
static void proc_events__record(struct proc_events *e, const struct perf_event_header *head,
				size_t size)
{
	const struct record_mmap2 *m = (const void *)head;

	switch (head->type) {
	case PERF_RECORD_MMAP2:
		if (size > sizeof(*m) && memchr(m->filename, '\0', size - sizeof(*m)))
			proc_events__mapped(e, m);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (size >= sizeof(struct record_task))
			proc_events__task(e, (const void *)head);
		break;
	case PERF_RECORD_LOST:
		e->lost = true;
		break;
	}
}

/* Everything that is in one ring.  The kernel moves data_head, we data_tail. */
static void ring__read(struct proc_events *e, struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;

	while (tail < head) {
		size_t at = tail & (e->ring_bytes - 1), size, first;
		const struct perf_event_header *h = (const void *)(r->data + at);

		/* records are multiples of 8, so a head never wraps */
		size = h->size;
		if (size < sizeof(*h) || size > head - tail) {
			e->lost = true;
			tail = head;
			break;
		}
		first = e->ring_bytes - at;
		if (first < size) {
			memcpy(e->record, r->data + at, first);
			memcpy((uint8_t *)e->record + first, r->data, size - first);
			h = (const void *)e->record;
		}
		proc_events__record(e, h, size);
		tail += size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

static void proc_events__rings(struct proc_events *e)
{
	for (size_t i = 0; i < e->nrings; i++)
		if (e->rings[i].fd >= 0)
			ring__read(e, &e->rings[i]);
}

static int ring__open_raised(struct proc_events *e, struct ring *r, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.mmap = 1, /* of executable code only */
		.mmap2 = 1,
		.task = e->sink.forked || e->sink.exited,
		.watermark = 1,
		.wakeup_watermark = 1, /* each record wakes */
	};
	struct epoll_event event = {.events = EPOLLIN};
	int fd, err;

	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	r->page = mmap(NULL, e->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->page == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	r->data = (uint8_t *)r->page + (e->map_bytes - e->ring_bytes);
	if (epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &event)) {
		err = -errno;
		munmap(r->page, e->map_bytes);
		close(fd);
		return err;
	}
	r->fd = fd;
	return 0;
}

static int ring__open(struct proc_events *e, struct ring *r, int cpu)
{
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	int err = ring__open_raised(e, r, cpu);

	rights__lower(raised);
	return err;
}

static void ring__close(struct proc_events *e, struct ring *r)
{
	if (r->fd < 0)
		return;
	munmap(r->page, e->map_bytes);
	close(r->fd);
	r->fd = -1;
}

/*
 * Rings for CPUs that came online, none for those that went.  What happened on a CPU before it had
 * a ring counts as lost.  A ring that cannot be opened now is tried again the next time.
 */
static void proc_events__renew_cpus(struct proc_events *e)
{
	bool *online = calloc(e->nrings, sizeof(*online)), slept;

	if (!online)
		return;
	if (cpus__online(online, e->nrings)) {
		free(online);
		return;
	}
	slept = cpus__slept(&e->clocks);
	for (size_t cpu = 0; cpu < e->nrings; cpu++) {
		if (!online[cpu] || slept)
			ring__close(e, &e->rings[cpu]);
		if (online[cpu] && e->rings[cpu].fd < 0 && !ring__open(e, &e->rings[cpu], (int)cpu))
			e->lost = true;
	}
	free(online);
}

bool proc_events__read(struct proc_events *e)
{
	uint64_t expirations;
	size_t told;
	bool lost;

	proc_events__rings(e);
	if (read(e->timer, &expirations, sizeof(expirations)) == sizeof(expirations))
		proc_events__renew_cpus(e);
	for (int round = 0; e->npending && round < ROUNDS_MAX; round++) {
		told = e->npending;
		/*
		 * A child maps nothing before its fork is on record, but perhaps in a ring that was
		 * read before this one: so go round again.
		 */
		if (e->sink.forked)
			proc_events__rings(e);
		for (size_t i = 0; i < told; i++)
			e->sink.mapped(e->sink.arg, e->pending[i]);
		e->npending -= told;
		memmove(e->pending, e->pending + told, e->npending * sizeof(*e->pending));
	}
	lost = e->lost || e->npending;
	e->lost = false;
	return lost;
}

int proc_events__fd(const struct proc_events *e)
{
	return e->epoll;
}

static int open_fault(struct errmsg *f, int err)
{
	struct errmsg why;

	if (refusal__is(REFUSAL_EVENTS, err))
		return errmsg__set(f, err, "cannot receive process events: %s",
				   refusal__call(REFUSAL_EVENTS, &why));
	return errmsg__set(f, err, "cannot receive process events: %s", strerror(-err));
}

static int timer__open(struct proc_events *e)
{
	const struct timespec period = {.tv_sec = CPUS_CHECK_MS / 1000,
					.tv_nsec = CPUS_CHECK_MS % 1000 * 1000000L};
	struct itimerspec spec = {.it_interval = period, .it_value = period};
	struct epoll_event event = {.events = EPOLLIN};

	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (e->timer < 0 || timerfd_settime(e->timer, 0, &spec, NULL) ||
	    epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->timer, &event))
		return -errno;
	return 0;
}

int proc_events__open(struct proc_events **out, const struct proc_events_sink *sink,
		      struct errmsg *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int cpus = libbpf_num_possible_cpus(), err = 0;
	struct proc_events *e = calloc(1, sizeof(*e));

	if (!e)
		return errmsg__set(f, -ENOMEM, "out of memory");
	e->epoll = e->timer = -1;
	e->sink = *sink;
	e->ring_bytes = RING_PAGES * page;
	e->map_bytes = e->ring_bytes + page;
	cpus__slept(&e->clocks);
	if (cpus < 1) {
		err = errmsg__set(f, -ENODEV, "cannot find out how many CPUs there are");
		goto cleanup;
	}
	e->rings = calloc((size_t)cpus, sizeof(*e->rings));
	for (int cpu = 0; e->rings && cpu < cpus; cpu++)
		e->rings[cpu].fd = -1;
	e->nrings = e->rings ? (size_t)cpus : 0;
	e->pending = calloc(PENDING_MAX, sizeof(*e->pending));
	if (!e->rings || !e->pending) {
		err = errmsg__set(f, -ENOMEM, "out of memory");
		goto cleanup;
	}
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (e->epoll < 0) {
		err = open_fault(f, -errno);
		goto cleanup;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		err = ring__open(e, &e->rings[cpu], cpu);
		if (err && err != -ENODEV) { /* ENODEV: offline */
			open_fault(f, err);
			goto cleanup;
		}
	}
	err = timer__open(e);
	if (err) {
		open_fault(f, err);
		goto cleanup;
	}
	*out = e;
	return 0;

cleanup:
	proc_events__close(e);
	return err;
}

void proc_events__close(struct proc_events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->nrings; i++)
		ring__close(e, &e->rings[i]);
	if (e->timer >= 0)
		close(e->timer);
	if (e->epoll >= 0)
		close(e->epoll);
	map__free(&e->files);
	free(e->pending);
	free(e->rings);
	free(e);
}
