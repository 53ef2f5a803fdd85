/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --all, --subprocesses, and the programs that a command starts: on Windows all processes are
 * looked at again and again.
 *
 * Rscript.exe and R.exe only start another program, Rterm.exe, which loads R.  So of `-- COMMAND`
 * the first process below it that has R in it is what is meant, also without --subprocesses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "os/proc.h"
#include "os/win32/proc_win32.h"

#define NS_PER_MS 1000000u

#define LOOK_MS	    500	  /* between two looks at all processes */
#define LOOK_NEW_MS 20	  /* for a command whose R was not found yet */
#define APPEAR_MS   10000 /* for R to be initialised, once its DLL is loaded */
#define DEPTH_MAX   64	  /* generations */

/* All processes of one moment. */
struct win32_snapshot {
	struct win32_process *list;
	size_t n, room;
};

static int snapshot__add(void *arg, const struct win32_process *p)
{
	struct win32_snapshot *all = arg;

	if (all->n == all->room) {
		size_t room = all->room ? all->room * 2 : 256;
		struct win32_process *list = realloc(all->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		all->list = list;
		all->room = room;
	}
	all->list[all->n++] = *p;
	return 0;
}

static uint32_t snapshot__parent(const struct win32_snapshot *all, uint32_t pid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].pid == pid)
			return all->list[i].parent;
	return 0;
}

/* Was @pid started by @ancestor, or by what that started?  A parent is older than its children. */
static bool snapshot__descends(const struct win32_snapshot *all, uint32_t pid, uint32_t ancestor)
{
	uint64_t time = proc__start_time((pid_t)pid), before;

	for (int i = 0; i < DEPTH_MAX; i++) {
		uint32_t parent = snapshot__parent(all, pid);

		if (!parent || parent == pid)
			return false;
		before = proc__start_time((pid_t)parent);
		if (before && time && before > time)
			return false; /* the parent has ended, and its pid came round again */
		if (parent == ancestor)
			return true;
		pid = parent;
		time = before;
	}
	return false;
}

static bool session__family(const struct session *s, const struct win32_snapshot *all, uint32_t pid)
{
	const struct config *o = s->config;

	if (s->command.pid && snapshot__descends(all, pid, (uint32_t)s->command.pid))
		return true;
	for (size_t i = 0; i < o->npids; i++)
		if (snapshot__descends(all, pid, (uint32_t)o->pids[i]))
			return true;
	return false;
}

/* A process that is to be profiled if it has R in it.  -ENOMEM; 1: no other need be looked at. */
static int on_seen(void *arg, pid_t pid)
{
	struct session *s = arg;
	const struct config *o = s->config;
	int err;

	if (processes__find_pid(&s->processes, (uint32_t)pid) || !filters__pass(&o->filters, pid))
		return 0;
	err = session__add_target(s, pid, false, APPEAR_MS);
	if (err == -ENOMEM)
		return err;
	if (err == -EACCES || err == -ENOTSUP || err == -EBADMSG)
		session__note(s, "%s", s->fault.text);
	else if (err && err != -ENOEXEC)
		session__debug(s, "%s", s->fault.text);
	/* without --subprocesses the first is enough */
	return !err && !o->all && !o->follow ? 1 : 0;
}

/* Descendants of the command, or of the processes named. */
static int session__look_below(struct session *s)
{
	struct win32_snapshot all = {0};
	int err = proc_win32__processes(snapshot__add, &all);

	for (size_t i = 0; i < all.n && !err; i++)
		if (session__family(s, &all, all.list[i].pid))
			err = on_seen(s, (pid_t)all.list[i].pid);
	free(all.list);
	return err;
}

/* Is there anything to be looked for?  Then how often, ms. */
static uint64_t session__interval(const struct session *s)
{
	if (s->config->command && !s->stats.processes)
		return LOOK_NEW_MS;
	return s->config->all || s->config->follow ? LOOK_MS : 0;
}

static void session__look(struct session *s)
{
	uint64_t now = session__now(), interval = session__interval(s);
	int err;

	if (s->err || !interval || now - s->watched < interval * NS_PER_MS)
		return;
	err = s->config->all ? target__scan(on_seen, s) : session__look_below(s);
	if (err < 0)
		s->err = errmsg__set(&s->fault, err, "cannot look for R in all processes: %s",
				     strerror(-err));
	s->watched = session__now();
}

int session__watch(struct session *s)
{
	session__look(s);
	return s->err;
}

void session__children(struct session *s, pid_t pid)
{
	(void)s;
	(void)pid;
}

int session__wait(struct session *s, int timeout_ms)
{
	uint64_t interval = session__interval(s);

	session__look(s);
	return interval && interval < (uint64_t)timeout_ms ? (int)interval : timeout_ms;
}

/* What a command starts comes while the command, which is waited for, lives. */
bool session__may_come(struct session *s)
{
	return s->config->all;
}

void session__unwatch(struct session *s)
{
	(void)s;
}
