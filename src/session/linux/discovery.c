/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --all and --subprocesses: processes that nobody named.  Those there at the start are found by
 * going through /proc once; those that come later are told by the watch, or where it is not allowed
 * found by going through /proc again and again.
 *
 * A process can be come upon twice, by us and by the kernel's copying of a row at fork.  Whichever
 * row is in the map first stands: the engine's add refuses a second (-EEXIST).  So the row of a
 * process goes in before its children are looked at: a child forked earlier is found by that, one
 * forked later has its row from the kernel.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "target/linux/proc_events.h"
#include "os/proc.h"

#define NS_PER_MS 1000000ull

#define APPEAR_MS 10000 /* for R's program to be mapped, where only its name is known */
#define REST_MS	  5	/* at least, between two looks at the watch: execs come in crowds */
#define RESCAN_MS 500	/* between two looks through /proc, where there is no watch */
#define SWEEP_MS  1000	/* between two looks at whether the sampler lost events */
#define NO_FD_MS  20	/* an engine that cannot wake us is asked this often */
#define DEPTH_MAX 64	/* generations looked at to find a process' ancestor */

/* R was seen in @pid, by whatever means. */
static void session__seen(struct session *s, pid_t pid)
{
	int err;

	if (s->err || processes__find_pid(&s->processes, (uint32_t)pid))
		return;
	if (!filters__pass(&s->config->filters, pid))
		return;
	err = session__add_target(s, pid, false, APPEAR_MS);
	s->seen_at = session__now();
	if (err == -ENOMEM)
		s->err = err;
	else if (err == -EACCES || err == -EPERM || err == -ENOTSUP || err == -EBADMSG)
		session__note(s, "%s", s->fault.text);
	else if (err && err != -EEXIST && err != -E2BIG)
		session__debug(s, "%s", s->fault.text);
}

/* Is @pid, or was it started by, a process of the family?  By the parents /proc knows. */
static bool session__descends(struct session *s, pid_t pid)
{
	struct proc p;

	for (int i = 0; i < DEPTH_MAX && pid > 1; i++) {
		if (descendants__has(&s->family, pid))
			return true;
		if (proc__read(pid, &p))
			return false;
		pid = p.ppid;
	}
	return false;
}

static int on_scanned(void *arg, pid_t pid)
{
	struct session *s = arg;

	if (s->config->all || descendants__has(&s->family, pid))
		session__seen(s, pid);
	return s->err;
}

/* All processes that descend from the family belong to it, whether R is in them or not. */
static void session__scan_family(struct session *s)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && !s->err && (entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && session__descends(s, pid) && descendants__add(&s->family, pid))
			s->err = errmsg__set(&s->fault, -ENOMEM, "out of memory");
	}
	if (proc)
		closedir(proc);
}

static void session__scan(struct session *s)
{
	int err;

	if (!s->config->all)
		session__scan_family(s);
	err = target__scan(on_scanned, s);
	if (err && !s->err)
		s->err = errmsg__set(&s->fault, err, "cannot look for R in /proc: %s",
				     strerror(-err));
}

static void on_mapped(void *arg, pid_t pid)
{
	struct session *s = arg;

	if (s->config->all || descendants__has(&s->family, pid))
		session__seen(s, pid);
}

static void on_forked(void *arg, uint64_t time, pid_t parent, pid_t child)
{
	struct session *s = arg;

	if (descendants__forked(&s->family, time, parent, child) && !s->err)
		s->err = errmsg__set(&s->fault, -ENOMEM, "out of memory");
}

static void on_exited(void *arg, uint64_t time, pid_t pid)
{
	struct session *s = arg;

	if (descendants__exited(&s->family, time, pid) && !s->err)
		s->err = errmsg__set(&s->fault, -ENOMEM, "out of memory");
}

int session__watch(struct session *s)
{
	struct proc_events_sink sink = {.mapped = on_mapped, .arg = s};
	const struct config *o = s->config;
	int err;

	if (!o->all && !o->follow)
		return 0;
	if (!o->all) {
		sink.forked = on_forked;
		sink.exited = on_exited;
		for (size_t i = 0; i < o->npids; i++)
			if (descendants__add(&s->family, o->pids[i]))
				return errmsg__set(&s->fault, -ENOMEM, "out of memory");
		if (o->command && descendants__add(&s->family, s->command.pid))
			return errmsg__set(&s->fault, -ENOMEM, "out of memory");
	}
	err = proc_events__open(&s->watch, &sink, &s->fault);
	if (err == -EACCES || err == -EPERM || err == -ENOSYS) {
		s->watch = NULL;
		s->rescan = true;
		s->rescanned = session__now();
		session__note(s, "new R processes are looked for twice a second, because %s",
			      s->fault.text);
	} else if (err) {
		return err;
	}
	session__scan(s);
	session__debug(s, "watching for R to appear; found so far: %u", s->live);
	return s->err;
}

void session__children(struct session *s, pid_t pid)
{
	char *line = NULL, *at = NULL, *end;
	char name[32];
	size_t room = 0;
	FILE *in;

	if (!s->watch)
		return;
	/* the children of the main thread: R forks on no other */
	snprintf(name, sizeof(name), "task/%d/children", (int)pid);
	in = proc__fopen(pid, name);
	if (!in) /* a kernel without CONFIG_PROC_CHILDREN */
		return;
	if (getline(&line, &room, in) > 0)
		at = line;
	fclose(in);
	for (; at && *at; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at || child <= 0)
			break;
		session__seen(s, (pid_t)child);
	}
	free(line);
}

/* Rows whose fork, exec or exit was lost on its way: what the engine no longer has is over. */
static void session__sweep(struct session *s, uint64_t now)
{
	uint64_t counts[XR_COUNTERS];
	struct process *p = NULL;

	if (now - s->swept < SWEEP_MS * NS_PER_MS)
		return;
	s->swept = now;
	if (s->ops->counters(s->engine, counts))
		return;
	if (counts[XR_ROWS_FULL] && !s->rows_full)
		session__note(s, "too many R processes at once: some are not profiled");
	if (counts[XR_ROWS_FULL] != s->rows_full)
		s->crowd = s->live;
	s->rows_full = counts[XR_ROWS_FULL];
	/* there is room again: who did not get in before? */
	if (s->crowd && s->live < s->crowd / 8 * 7) {
		s->crowd = 0;
		session__scan(s);
	}
	if (counts[XR_EVENTS_LOST] == s->events_lost || !s->ops->holds)
		return;
	s->events_lost = counts[XR_EVENTS_LOST];
	session__debug(s, "records of forks, execs or exits were lost: looking at all processes");
	while ((p = processes__next(&s->processes, p)))
		if (p->state == PROCESS_SAMPLED && !s->ops->holds(s->engine, p->pid, p->serial))
			p->execed = true;
	session__scan(s);
}

int session__wait(struct session *s, int timeout_ms)
{
	struct pollfd fds[2];
	uint64_t now = session__now(), rested;
	int n = 0;

	if (s->rescan && now - s->rescanned >= RESCAN_MS * NS_PER_MS) {
		s->rescanned = now;
		session__scan(s);
	}
	if (!s->watch)
		return timeout_ms;
	session__sweep(s, now);
	fds[n++] = (struct pollfd){
		.fd = s->ops->fd ? s->ops->fd(s->engine) : -1,
		.events = POLLIN,
	};
	if (!s->ops->fd && timeout_ms > NO_FD_MS)
		timeout_ms = NO_FD_MS;
	rested = s->watched + REST_MS * NS_PER_MS;
	if (now >= rested)
		fds[n++] = (struct pollfd){.fd = proc_events__fd(s->watch), .events = POLLIN};
	else if (timeout_ms > REST_MS)
		timeout_ms = REST_MS;
	poll(fds, (nfds_t)n, timeout_ms);
	if (n == 2 && !fds[1].revents)
		return 0;
	now = session__now();
	if (now < rested)
		return 0;
	s->watched = now;
	if (proc_events__read(s->watch)) {
		session__debug(s, "records of new processes were lost: looking at all");
		session__scan(s);
	}
	descendants__settle(&s->family);
	return 0;
}

/*
 * With --subprocesses, an R may become a shell that starts another R; but it may also leave a
 * program behind that never will.
 */
bool session__may_come(struct session *s)
{
	uint64_t now = session__now();

	if (s->config->all)
		return true;
	if (!s->watch || !s->family.members.count)
		return false;
	/* one that is sampled in between begins the time anew */
	if (!s->lonely || s->seen_at > s->lonely)
		s->lonely = now;
	return now - s->lonely < APPEAR_MS * NS_PER_MS;
}

void session__unwatch(struct session *s)
{
	proc_events__close(s->watch);
	descendants__free(&s->family);
}
