/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On Windows all processes are looked at again and again.
 *
 * Rscript.exe and R.exe only start another program, Rterm.exe, which loads R.  So of a workload the
 * first process below it that has R in it is what is meant, also without --subprocesses.
 */
#include "base/array.h"
#include "session/discovery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/win32/proc_win32.h"
#include "target/target.h"

#define SCAN_MS	    500 /* between two looks at all processes */
#define SCAN_NEW_MS 20	/* for a workload whose R was not found yet */
#define DEPTH_MAX   64	/* generations */

struct discovery {
	const struct session_config *config;
	struct pids *found;
	uint32_t workload; /* a pid; 0: none */
	bool profiled;
	uint64_t scanned_at; /* ns, CLOCK_MONOTONIC */
};

/* All processes of one moment. */
struct win32_snapshot {
	struct win32_process *list;
	size_t n, room;
};

static int snapshot__add(void *arg, const struct win32_process *p)
{
	struct win32_snapshot *all = arg;
	int err = array__room(&all->list, all->n, &all->room, sizeof(*all->list));

	if (!err)
		all->list[all->n++] = *p;
	return err;
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

static bool discovery__descends(const struct discovery *d, const struct win32_snapshot *all,
				uint32_t pid)
{
	if (d->workload && snapshot__descends(all, pid, d->workload))
		return true;
	for (size_t i = 0; i < d->config->npids; i++)
		if (snapshot__descends(all, pid, (uint32_t)d->config->pids[i]))
			return true;
	return false;
}

static int on_seen(void *arg, pid_t pid)
{
	struct discovery *d = arg;

	return pids__put(d->found, pid);
}

/* Descendants of the workload, or of the processes named. */
static int discovery__scan_descendants(struct discovery *d)
{
	struct win32_snapshot all = {0};
	int err = proc_win32__processes(snapshot__add, &all);

	for (size_t i = 0; i < all.n && !err; i++)
		if (discovery__descends(d, &all, all.list[i].pid))
			err = on_seen(d, (pid_t)all.list[i].pid);
	free(all.list);
	return err;
}

/* Is there anything to be looked for?  Then how often, ms. */
static int discovery__interval(const struct discovery *d)
{
	if (d->workload && !d->profiled)
		return SCAN_NEW_MS;
	return d->config->all || d->config->follow ? SCAN_MS : 0;
}

int discovery__scan(struct discovery *d, struct errmsg *f)
{
	int err = 0;

	if (d->config->all)
		err = target__scan(on_seen, d);
	else if (discovery__interval(d))
		err = discovery__scan_descendants(d);
	d->scanned_at = os__now();
	if (err < 0)
		return errmsg__set(f, err, "cannot scan the processes for R: %s", strerror(-err));
	return 0;
}

int discovery__open(struct discovery **out, const struct session_config *config, struct pids *found,
		    struct asker *asker, struct errmsg *f)
{
	struct discovery *d = calloc(1, sizeof(*d));
	int err;

	(void)asker;
	if (!d)
		return errmsg__set(f, -ENOMEM, "out of memory");
	d->config = config;
	d->found = found;
	err = discovery__scan(d, f);
	if (err)
		discovery__close(d);
	else
		*out = d;
	return err;
}

int discovery__add_root(struct discovery *d, pid_t pid, struct errmsg *f)
{
	(void)f;
	d->workload = (uint32_t)pid;
	return 0;
}

bool discovery__tells(const struct discovery *d)
{
	(void)d;
	return false;
}

int discovery__wait(struct discovery *d, int engine_fd, bool engine_waits, int timeout_ms,
		    struct errmsg *f)
{
	int interval = discovery__interval(d), err = 0;

	(void)engine_fd;
	(void)engine_waits;
	if (interval && os__now() - d->scanned_at >= (uint64_t)interval * NS_PER_MS)
		err = discovery__scan(d, f);
	if (err)
		return err;
	return interval && interval < timeout_ms ? interval : timeout_ms;
}

int discovery__children(struct discovery *d, pid_t pid, struct errmsg *f)
{
	(void)d;
	(void)pid;
	(void)f;
	return 0;
}

/* What a workload starts comes while the workload, which is waited for, lives. */
bool discovery__may_come(struct discovery *d, uint64_t added_at)
{
	(void)added_at;
	return d->config->all;
}

void discovery__profiled(struct discovery *d)
{
	d->profiled = true;
}

void discovery__close(struct discovery *d)
{
	free(d);
}

/* It asks nothing. */
void discovery__answered(struct discovery *d, const struct ask *answer)
{
	(void)d;
	(void)answer;
}

void discovery__rest(struct discovery *d)
{
	(void)d;
}
