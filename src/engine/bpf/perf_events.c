/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/parse.h"
#include "os/linux/cpus.h"
#include "os/linux/refusal.h"
#include "os/linux/rights.h"
#include "os/proc.h"
#include "engine/bpf/perf_events.h"

#define FILES_SPARE 32u	  /* descriptors that are left for all else */
#define THREADS_MAX 1024u /* events on threads: opening that many takes some 20 ms */
#define LIMIT_TRIES 8	  /* the limit may become lower still meanwhile */

/* One event: of a thread (cpu is -1) or of a CPU (tid is -1). */
struct event {
	int fd;
	pid_t tid;
	int cpu;
	uint64_t switches; /* of the thread, when it was last looked at; 0: it was not */
};

struct perf_events {
	struct perf_event_attr attr;
	int prog_fd;
	struct event *events;
	size_t n, room;
	int64_t clocks; /* of cpus__slept() */
};

static int sys__perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	rights__lower(raised);
	return fd < 0 ? -errno : fd;
}

uint32_t perf_events__limit(void)
{
	uint64_t limit = 0;
	char line[32];

	if (proc__line("/proc/sys/kernel/perf_event_max_sample_rate", line, sizeof(line)) ||
	    parse__u64(line, UINT32_MAX, &limit))
		return 0;
	return (uint32_t)limit;
}

/*
 * Open an event, at the rate that the kernel allows when it is less than what was asked for.  The
 * kernel lowers the limit while it runs, whenever events take long (perf_sample_event_took(),
 * kernel/events/core.c; never below one in a jiffy): a CPU that comes back online must not end the
 * session for that.  The attribute keeps the lower rate.
 */
static int event__open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = sys__perf_event_open(attr, pid, cpu);

	for (int tries = 0; fd == -EINVAL && tries < LIMIT_TRIES; tries++) {
		uint32_t limit = perf_events__limit();

		if (!attr->freq || !limit || attr->sample_freq <= limit)
			break;
		attr->sample_freq = limit;
		fd = sys__perf_event_open(attr, pid, cpu);
	}
	if (fd == -EINVAL && attr->remove_on_exec) { /* Linux 5.13 */
		attr->remove_on_exec = 0;
		fd = sys__perf_event_open(attr, pid, cpu);
	}
	return fd;
}

/* Say what perf_event_open's @err means for the user. */
static int open_fault(struct errmsg *f, int err, const struct perf_event_attr *attr)
{
	struct errmsg why;

	if (refusal__is(REFUSAL_EVENTS, err))
		return errmsg__set(f, err, "perf_event_open: %s",
				   refusal__call(REFUSAL_EVENTS, &why));
	switch (-err) {
	case ENOSYS:
		return errmsg__set(
			f, err, "perf_event_open: missing from this kernel; use --engine ptrace");
	case EMFILE:
		return errmsg__set(
			f, err,
			"perf_event_open: too many open files; raise the hard limit (ulimit -n)");
	case ENFILE:
		return errmsg__set(f, err,
				   "perf_event_open: the system has too many open files; raise "
				   "fs.file-max");
	case EBUSY:
		return errmsg__set(f, err,
				   "perf_event_open: another program uses the hardware counters; "
				   "end it and try again");
	case EINVAL:
		if (!attr->freq)
			return errmsg__set(f, err, "perf_event_open: %s", strerror(-err));
		return errmsg__set(
			f, err,
			"perf_event_open: %llu samples a second were refused; lower --freq, or "
			"raise the limit in /proc/sys/kernel/perf_event_max_sample_rate",
			(unsigned long long)attr->sample_freq);
	default:
		return errmsg__set(f, err, "perf_event_open: %s", strerror(-err));
	}
}

/* Would thread @tid (0: the caller) get such an event?  0, or a negative errno. */
static int event__try(struct perf_event_attr *attr, pid_t tid)
{
	int fd;

	attr->disabled = 1;
	fd = event__open(attr, tid, -1);
	attr->disabled = 0;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int perf_events__make(struct perf_events **out, const struct perf_event_attr *attr,
			     int prog_fd, struct errmsg *f)
{
	struct perf_events *p = calloc(1, sizeof(*p));

	if (!p)
		return errmsg__set(f, -ENOMEM, "out of memory");
	p->attr = *attr;
	p->prog_fd = prog_fd;
	*out = p;
	return 0;
}

int perf_events__new(struct perf_events **out, uint32_t freq, int prog_fd, const char **why,
		     struct errmsg *f)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = freq,
	};
	int err = event__try(&attr, 0);

	*why = NULL;
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV) {
		*why = err == -ENOENT ? "this machine offers no cycles event"
				      : "the cycles event cannot be sampled on this machine";
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		err = event__try(&attr, 0);
	}
	return err ? open_fault(f, err, &attr) : perf_events__make(out, &attr, prog_fd, f);
}

/* The kernel has different errors for no driver and for a driver without this event. */
static int event__fault(struct errmsg *f, int err, const struct perf_event_attr *attr,
			const struct event_name *event)
{
	struct errmsg why;

	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -ENXIO ||
	    (err == -EINVAL && !attr->freq))
		return errmsg__set(f, -ENOENT,
				   "--event %s: not available on this machine, or not for sampling "
				   "(virtual machines often have no hardware events); `info` lists "
				   "the available events",
				   event->text);
	open_fault(&why, err, attr);
	return errmsg__set(f, err, "--event %s: %s", event->text, why.text);
}

bool perf_events__bursts(const struct event_name *event)
{
	return event->type == PERF_TYPE_SOFTWARE && event->unit == XR_UNIT_COUNT;
}

int perf_events__of(struct perf_events **out, const struct event_name *event, uint32_t freq,
		    uint32_t period, int prog_fd, struct errmsg *f)
{
	const uint64_t each = period || !perf_events__bursts(event) ? period : 1;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.freq = !each,
		.sample_freq = each ? each : freq,
	};
	int err = event__try(&attr, 0);

	return err ? event__fault(f, err, &attr, event) : perf_events__make(out, &attr, prog_fd, f);
}

/*
 * Another program has something else at that address.  On x86 alone: on arm64 the program would run
 * before the write, and before Linux 6.6 again and again (commit d11a69873d9a, in stable releases,
 * too).
 */
static struct perf_event_attr watch__attr(uint64_t at, uint32_t len)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = at,
		.bp_len = len,
		.sample_period = 1,
		.exclude_kernel = 1,
		.remove_on_exec = 1,
	};
}

int perf_events__watch(struct perf_events **out, uint64_t at, uint32_t len, int prog_fd,
		       struct errmsg *f)
{
	const struct perf_event_attr attr = watch__attr(at, len);

	return perf_events__make(out, &attr, prog_fd, f);
}

int perf_events__try_watch(pid_t tid, uint64_t at, uint32_t len)
{
#ifdef __x86_64__
	struct perf_event_attr attr = watch__attr(at, len);

	return event__try(&attr, tid);
#else
	(void)tid, (void)at, (void)len;
	return -EOPNOTSUPP;
#endif
}

int perf_events__prove_watch(void)
{
#ifdef __x86_64__
	volatile uint64_t here = 0;
	struct perf_event_attr attr = watch__attr((uintptr_t)&here, sizeof(here));
	int fd = event__open(&attr, 0, -1);
	uint64_t hits = 0;

	if (fd < 0)
		return fd;
	here = 1;
	if (read(fd, &hits, sizeof(hits)) != sizeof(hits))
		hits = 0;
	close(fd);
	return hits ? 0 : -ENODEV;
#else
	return -EOPNOTSUPP;
#endif
}

const char *perf_events__name(const struct perf_events *p)
{
	return p->attr.type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock";
}

uint32_t perf_events__freq(const struct perf_events *p)
{
	return (uint32_t)p->attr.sample_freq;
}

static bool has(const struct perf_events *p, pid_t tid, int cpu)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->events[i].tid == tid && p->events[i].cpu == cpu)
			return true;
	return false;
}

/* May @n descriptors from @fd on be used for events? */
static bool files__suffice(int fd, size_t n)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)fd + n + FILES_SPARE <= limit.rlim_cur;
}

/* Open an event and put the program on it.  Returns its descriptor. */
static int event__start(struct perf_events *p, pid_t tid, int cpu)
{
	int fd, err;

	p->attr.inherit = cpu < 0;
	fd = event__open(&p->attr, tid, cpu);
	if (fd < 0)
		return fd;
	if (!files__suffice(fd, 1)) {
		close(fd);
		return -EMFILE;
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, p->prog_fd)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int add(struct perf_events *p, pid_t tid, int cpu)
{
	int fd;

	if (cpu < 0 && p->n >= THREADS_MAX)
		return -EMFILE;
	if (array__room(&p->events, p->n, &p->room, sizeof(*p->events)))
		return -ENOMEM;
	fd = event__start(p, tid, cpu);
	if (fd < 0)
		return fd;
	p->events[p->n++] = (struct event){.fd = fd, .tid = tid, .cpu = cpu};
	return 0;
}

/* Close the events from number @n on. */
static void truncate_to(struct perf_events *p, size_t n)
{
	while (p->n > n)
		close(p->events[--p->n].fd); /* and what was inherited */
}

bool perf_events__threads_fit(size_t threads, size_t events)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0); /* the lowest that is free */

	if (fd < 0)
		return errno != EMFILE && errno != ENFILE;
	close(fd);
	return threads <= THREADS_MAX && files__suffice(fd, threads * events);
}

/*
 * A thread that starts between the listing and its parent's event is not covered by inheritance;
 * so list until a whole pass finds none that is new.
 */
int perf_events__add_process(struct perf_events *p, pid_t pid, struct errmsg *f)
{
	const size_t before = p->n;
	char path[64];
	bool found, any = false;
	int err = 0, passes = 0;

	if (p->n && p->events[0].cpu >= 0) /* those of CPUs tick for it */
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	do {
		uint64_t raised = rights__raise(RIGHTS_TARGET);
		DIR *dir = opendir(path);
		struct dirent *entry;

		rights__lower(raised);
		found = false;
		if (!dir) {
			truncate_to(p, before);
			return errmsg__set(f, -ESRCH, "process %d has ended", pid);
		}
		while ((entry = readdir(dir))) {
			pid_t tid = atoi(entry->d_name);

			if (tid <= 0)
				continue;
			if (has(p, tid, -1)) { /* since before an exec, perhaps */
				any = true;
				continue;
			}
			err = add(p, tid, -1);
			if (err == -ESRCH) /* that thread has ended */
				continue;
			if (err)
				break;
			found = any = true;
		}
		closedir(dir);
		if (err && err != -ESRCH) {
			truncate_to(p, before);
			return err == -ENOMEM ? errmsg__set(f, err, "out of memory")
					      : open_fault(f, err, &p->attr);
		}
		err = 0;
	} while (found && ++passes < 64);
	return any ? 0 : errmsg__set(f, -ESRCH, "process %d has ended", pid);
}

/* Close the events of CPUs that are not @online; NULL: those of all CPUs, or of @threads. */
static void drop(struct perf_events *p, const bool *online, bool threads)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		const int cpu = p->events[i].cpu;

		if (online ? cpu >= 0 && !online[cpu] : (cpu < 0) == threads)
			close(p->events[i].fd); /* and what was inherited */
		else
			p->events[kept++] = p->events[i];
	}
	p->n = kept;
}

int perf_events__renew_cpus(struct perf_events *p, struct errmsg *f)
{
	int n = libbpf_num_possible_cpus(), opened = 0, err = 0;
	bool *online;

	if (n < 0)
		return errmsg__set(f, n, "cannot find out the number of CPUs: %s", strerror(-n));
	online = calloc((size_t)n, sizeof(*online));
	if (!online)
		return errmsg__set(f, -ENOMEM, "out of memory");
	if (cpus__online(online, (size_t)n)) /* then perf_event_open() tells */
		memset(online, true, (size_t)n * sizeof(*online));
	/* of CPUs that are, or were, offline: they never fire again */
	drop(p, cpus__slept(&p->clocks) ? NULL : online, false);
	for (int cpu = 0; cpu < n; cpu++) {
		if (!online[cpu])
			continue;
		err = has(p, -1, cpu) ? 0 : add(p, -1, cpu);
		if (err == -ENODEV) /* it went offline just now */
			continue;
		if (err) {
			open_fault(f, err, &p->attr);
			goto cleanup;
		}
		opened++;
	}
	err = opened ? 0 : errmsg__set(f, -ENODEV, "perf_event_open: no CPU is online");
cleanup:
	free(online);
	return err;
}

/* "time on a CPU, time it waited for one, how often it got one"; 0: unknown */
static uint64_t thread__switches(pid_t tid)
{
	unsigned long long n;
	char text[96];

	if (proc__text(tid, "schedstat", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*u %*u %llu", &n) != 1)
		return 0;
	return n;
}

uint64_t perf_events__switches(struct perf_events *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct event *event = &p->events[i];
		uint64_t now = event->cpu < 0 ? thread__switches(event->tid) : 0;

		if (event->switches && now > event->switches)
			sum += now - event->switches;
		event->switches = now;
	}
	return sum;
}

size_t perf_events__count(const struct perf_events *p)
{
	return p->n;
}

int perf_events__widen(struct perf_events *p, struct errmsg *f)
{
	const size_t threads = p->n;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int err = perf_events__renew_cpus(p, f);

	/* are the descriptors of the threads enough? */
	if ((err == -EMFILE || err == -ENFILE) && cpus > 0 && threads >= (size_t)cpus &&
	    files__suffice(p->events[0].fd, (size_t)cpus)) {
		truncate_to(p, 0);
		err = perf_events__renew_cpus(p, f);
	}
	drop(p, NULL, !err);
	return err;
}

/*
 * Have @event tick at the rate of @p's attribute.  One of the CPU clock has a period, which the
 * kernel made of the rate (perf_swevent_init_hrtimer(), kernel/events/core.c).
 */
static int event__set_freq(const struct perf_events *p, const struct event *event)
{
	uint64_t value = p->attr.sample_freq;

	if (p->attr.type == PERF_TYPE_SOFTWARE)
		value = NS_PER_S / value;
	return ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &value) ? -errno : 0;
}

int perf_events__set_freq(struct perf_events *p, uint32_t freq, struct errmsg *f)
{
	uint32_t limit = perf_events__limit();
	int err, result = 0;

	p->attr.sample_freq = limit && freq > limit ? limit : freq;
	for (size_t i = 0; i < p->n; i++) {
		struct event *event = &p->events[i];

		err = event->cpu < 0 ? -EOPNOTSUPP : event__set_freq(p, event);
		if (err && err != -ENODEV && !result) /* -ENODEV: a CPU went off */
			result = errmsg__set(f, err, "the rate cannot be changed: %s",
					     strerror(-err));
	}
	return result;
}

void perf_events__stop(struct perf_events *p)
{
	for (size_t i = 0; i < p->n; i++)
		ioctl(p->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void perf_events__free(struct perf_events *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		close(p->events[i].fd);
	free(p->events);
	free(p);
}
