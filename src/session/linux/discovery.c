/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that are there at the start are found by going through /proc once; those that come
 * later are reported by the kernel (target/linux/proc_events.h), or where that is not allowed found
 * by going through /proc again and again.
 *
 * A process can be come upon twice, by us and by the kernel's copying of a row at fork.  Whichever
 * row is in the map first stands: the engine's add refuses a second (-EEXIST).  So the row of a
 * process goes in before its children are looked at: a child forked earlier is found by that, one
 * forked later has its row from the kernel.
 */
#include "session/discovery.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "os/linux/priority.h"
#include "os/os.h"
#include "os/proc.h"
#include "target/descendants.h"
#include "target/linux/proc_events.h"
#include "target/linux/scan.h"

#define APPEAR_MS 10000 /* for R to appear in what one that is profiled left behind */
#define REST_MS	  5	/* at least, between two readings of events: execs come in crowds */
#define RESCAN_MS 500	/* between two looks through /proc, where there are no events, */
#define QUICK_MS  20	/* and at children, as long as no R was found, */
#define QUICK_MAX 64	/* processes */
#define POLLED_MS 20	/* an engine that cannot wake us is asked this often */
#define SLICE_MS  50	/* in one poll, for looking for descendants in /proc */
#define DEPTH_MAX 64	/* generations looked at to find a process' ancestor */

/* Times are ns, CLOCK_MONOTONIC. */
struct discovery {
	const struct session_config *config;
	struct pids *found;
	struct asker *asker;
	uint32_t scanning;		/* processes of the last scan that have not answered yet */
	bool scan_again;		/* when that is over: something was lost meanwhile */
	DIR *proc;			/* /proc, looked through in part; NULL: it is not */
	bool raised;			/* the priority, see discovery__rest() */
	struct proc_events *events;	/* NULL: none, or not allowed */
	struct descendants descendants; /* without --all: of the processes named, and these */
	bool rescan;			/* there are no events: go through /proc instead */
	bool no_memory;			/* in a callback */
	uint64_t read_at;		/* when the events were last read */
	uint64_t scanned_at, quick_at;
	bool profiled;	 /* an R was found */
	uint64_t lonely; /* since when nothing of the descendants is profiled; 0: not so */
};

static void discovery__found(struct discovery *d, pid_t pid)
{
	if (d->config->all || descendants__has(&d->descendants, pid))
		d->no_memory |= pids__put(d->found, pid) != 0;
}

static int discovery__no_memory(const struct discovery *d, struct errmsg *f)
{
	return d->no_memory ? errmsg__set(f, -ENOMEM, "out of memory") : 0;
}

/* Is @pid a descendant?  By the parents /proc knows. */
static bool discovery__descends(struct discovery *d, pid_t pid)
{
	char text[1024];
	struct proc p;
	ssize_t len;

	for (int i = 0; i < DEPTH_MAX && pid > 1; i++) {
		if (descendants__has(&d->descendants, pid))
			return true;
		len = proc__text(pid, "stat", text, sizeof(text));
		if (len < 0 || proc__parse_stat(text, (size_t)len, &p))
			return false;
		pid = p.ppid;
	}
	return false;
}

static int discovery__ask(struct discovery *d, enum ask_kind kind, pid_t pid, uint64_t tag)
{
	const struct ask q = {.kind = kind, .pid = pid, .tag = tag};
	int err = asker__ask(d->asker, &q);

	d->no_memory |= err != 0;
	return err;
}

static int on_process(void *arg, pid_t pid)
{
	struct discovery *d = arg;
	int err;

	if (!d->config->all && !descendants__has(&d->descendants, pid))
		return 0;
	err = discovery__ask(d, ASK_SEEMS, pid, 0);
	d->scanning += !err;
	return err;
}

void discovery__answered(struct discovery *d, const struct ask *a)
{
	/* nothing is printed of a process that has ended meanwhile, or may not be looked at, or is
	 * a stranger */
	bool silent = (a->err == -ETIMEDOUT || a->err == -EBUSY || a->err == -EIO) &&
		      (d->config->all || descendants__has(&d->descendants, a->pid));

	if (a->kind == ASK_PROGRAM && d->events && !a->err)
		proc_events__learn(d->events, a->tag, a->yes);
	d->scanning -= a->kind == ASK_SEEMS;
	/* who did not answer is looked at again, later */
	if (a->yes || a->err == -ETIMEDOUT || a->err == -EBUSY)
		discovery__found(d, a->pid);
	if (silent && !a->quiet)
		notes__user(&d->config->notes, "%s", a->why.text);
}

/* Ask each process whether R is in it. */
static int discovery__scan_for_r(struct discovery *d, struct errmsg *f)
{
	int err;

	d->scanned_at = os__now();
	d->scan_again = d->scanning;
	err = d->scanning ? 0 : target__each(on_process, d);
	if (err < 0 && !d->no_memory)
		return errmsg__set(f, err, "cannot scan /proc for R: %s", strerror(-err));
	return discovery__no_memory(d, f);
}

/*
 * Look for descendants of the processes named, whether R is in them or not, then for R in these.
 * That takes several files for each process of the machine, so it ends after SLICE_MS and goes on
 * in the next poll.
 */
static int discovery__scan_on(struct discovery *d, struct errmsg *f)
{
	const uint64_t end = os__now() + SLICE_MS * NS_PER_MS;
	struct dirent *entry;

	while (d->proc && !d->no_memory && os__now() < end) {
		pid_t pid;

		entry = readdir(d->proc);
		if (!entry) {
			closedir(d->proc);
			d->proc = NULL;
			return discovery__scan_for_r(d, f);
		}
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && discovery__descends(d, pid))
			d->no_memory |= descendants__add(&d->descendants, pid) != 0;
	}
	return discovery__no_memory(d, f);
}

int discovery__scan(struct discovery *d, struct errmsg *f)
{
	if (!d->events && !d->rescan)
		return 0;
	if (d->config->all)
		return discovery__scan_for_r(d, f);
	if (d->proc)
		rewinddir(d->proc);
	else
		d->proc = opendir("/proc");
	return d->proc ? discovery__scan_on(d, f) : discovery__scan_for_r(d, f);
}

/*
 * Queue the children of the main thread of @pid: R forks on no other.  None are known where the
 * kernel has no CONFIG_PROC_CHILDREN.
 */
static void children__put(struct discovery *d, pid_t pid, struct pids *queue)
{
	char *line = NULL, *at = NULL, *end;
	char name[32];
	size_t room = 0;
	FILE *in;

	snprintf(name, sizeof(name), "task/%d/children", (int)pid);
	in = proc__fopen(pid, name);
	if (!in)
		return;
	if (getline(&line, &room, in) > 0)
		at = line;
	fclose(in);
	for (; at && *at; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at || child <= 0)
			break;
		d->no_memory |= pids__put(queue, (pid_t)child) != 0;
	}
	free(line);
}

/* Between two scans, before the first R was found: it may be short. */
static void discovery__scan_quick(struct discovery *d)
{
	const struct map *members = &d->descendants.members;
	struct pids queue = {0};
	pid_t pid;

	d->quick_at = os__now();
	for (size_t i = 0; i < members->cap; i++)
		if (members->entries[i].value)
			d->no_memory |= pids__put(&queue, (pid_t)members->entries[i].a) != 0;
	for (int i = 0; i < QUICK_MAX && pids__take(&queue, &pid); i++) {
		children__put(d, pid, &queue);
		d->no_memory |= descendants__add(&d->descendants, pid) != 0;
		d->scanning += !discovery__ask(d, ASK_SEEMS, pid, 0);
	}
	pids__free(&queue);
}

/* Is a look at children due, and in how many ms at most is the next? */
static bool discovery__quick(const struct discovery *d, int *timeout_ms)
{
	if (!d->rescan || d->profiled || d->config->all)
		return false;
	if (*timeout_ms > QUICK_MS)
		*timeout_ms = QUICK_MS;
	return !d->scanning && os__now() - d->quick_at >= QUICK_MS * NS_PER_MS;
}

static void on_mapped(void *arg, pid_t pid)
{
	discovery__found(arg, pid);
}

static void on_program(void *arg, pid_t pid, uint64_t file)
{
	discovery__ask(arg, ASK_PROGRAM, pid, file);
}

static void on_forked(void *arg, uint64_t time, pid_t parent, pid_t child)
{
	struct discovery *d = arg;

	d->no_memory |= descendants__forked(&d->descendants, time, parent, child) != 0;
}

static void on_exited(void *arg, uint64_t time, pid_t pid)
{
	struct discovery *d = arg;

	d->no_memory |= descendants__exited(&d->descendants, time, pid) != 0;
}

static int discovery__open_events(struct discovery *d, struct errmsg *f)
{
	struct proc_events_sink sink = {.mapped = on_mapped, .program = on_program, .arg = d};
	int err;

	if (!d->config->all) {
		sink.forked = on_forked;
		sink.exited = on_exited;
	}
	err = proc_events__open(&d->events, &sink, f);
	if (err == -EACCES || err == -EPERM || err == -ENOSYS) {
		d->events = NULL;
		d->rescan = true;
		/* below a command it goes without saying */
		(d->config->all || d->config->npids ? notes__user : notes__debug)(
			&d->config->notes,
			"/proc is scanned for new R processes twice a second, because %s", f->text);
		return 0;
	}
	return err;
}

int discovery__open(struct discovery **out, const struct session_config *config, struct pids *found,
		    struct asker *asker, struct errmsg *f)
{
	struct discovery *d = calloc(1, sizeof(*d));
	int err = 0;

	if (!d)
		return errmsg__set(f, -ENOMEM, "out of memory");
	d->config = config;
	d->found = found;
	d->asker = asker;
	if (config->all || config->follow) {
		for (size_t i = 0; !config->all && !err && i < config->npids; i++)
			err = discovery__add_root(d, config->pids[i], f);
		if (!err)
			err = discovery__open_events(d, f);
		if (!err)
			err = discovery__scan(d, f);
	}
	if (err)
		discovery__close(d);
	else
		*out = d;
	return err;
}

int discovery__add_root(struct discovery *d, pid_t pid, struct errmsg *f)
{
	d->no_memory |= descendants__add(&d->descendants, pid) != 0;
	return discovery__no_memory(d, f);
}

bool discovery__tells(const struct discovery *d)
{
	return d->events;
}

/* Returns whether there are events to be read, after waiting for them, an answer, or the engine. */
static bool discovery__poll(struct discovery *d, int engine_fd, int timeout_ms)
{
	struct pollfd fds[4] = {
		{.fd = engine_fd, .events = POLLIN},
		{.fd = asker__fd(d->asker), .events = POLLIN},
		{.fd = d->config->wake_fd ? d->config->wake_fd : -1, .events = POLLIN},
		{.fd = d->events ? proc_events__fd(d->events) : -1, .events = POLLIN},
	};
	const uint64_t rested = d->read_at + REST_MS * NS_PER_MS, now = os__now();

	if (d->events && now < rested) {
		int rest_ms = (int)((rested - now + NS_PER_MS - 1) / NS_PER_MS);

		if (rest_ms > timeout_ms)
			rest_ms = timeout_ms;
		if (poll(fds, 3, rest_ms))
			return false;
		timeout_ms -= rest_ms;
		if (os__now() < rested)
			return false;
	}
	poll(fds, 4, timeout_ms);
	return fds[3].revents != 0;
}

int discovery__wait(struct discovery *d, int engine_fd, bool engine_waits, int timeout_ms,
		    struct errmsg *f)
{
	bool lost = false;
	int err = 0;

	if (d->proc)
		err = discovery__scan_on(d, f);
	else if ((d->rescan && os__now() - d->scanned_at >= RESCAN_MS * NS_PER_MS) ||
		 (d->scan_again && !d->scanning))
		err = discovery__scan(d, f);
	else if (discovery__quick(d, &timeout_ms))
		discovery__scan_quick(d);
	if (err)
		return err;
	if (d->proc)
		timeout_ms = 0;
	if (!d->events && !asker__busy(d->asker) && (!d->config->wake_fd || engine_waits))
		return timeout_ms;
	if (engine_waits && timeout_ms > POLLED_MS)
		timeout_ms = POLLED_MS;
	d->raised = priority__raise();
	if (discovery__poll(d, engine_fd, timeout_ms)) {
		d->read_at = os__now();
		lost = proc_events__read(d->events);
		descendants__settle(&d->descendants);
	}
	if (lost) {
		notes__debug(&d->config->notes,
			     "records of new processes were lost: scanning all processes");
		err = discovery__scan(d, f);
	}
	return err ? err : discovery__no_memory(d, f);
}

void discovery__rest(struct discovery *d)
{
	if (d->raised)
		priority__lower();
	d->raised = false;
}

int discovery__children(struct discovery *d, pid_t pid, struct errmsg *f)
{
	if (d->events)
		children__put(d, pid, d->found);
	return discovery__no_memory(d, f);
}

/*
 * With --subprocesses, an R may become a shell that starts another R; but it may also leave a
 * program behind that never will.
 */
bool discovery__may_come(struct discovery *d, uint64_t added_at)
{
	uint64_t now = os__now();

	if (d->config->all)
		return true;
	if (!d->events || !d->descendants.members.count)
		return false;
	/* a process that is looked at in between restarts the time */
	if (!d->lonely || added_at > d->lonely)
		d->lonely = now;
	return now - d->lonely < APPEAR_MS * NS_PER_MS;
}

void discovery__profiled(struct discovery *d)
{
	d->profiled = true;
}

void discovery__close(struct discovery *d)
{
	if (!d)
		return;
	if (d->proc)
		closedir(d->proc);
	proc_events__close(d->events);
	descendants__free(&d->descendants);
	free(d);
}
