/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/linux/loop.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "os/os.h"

#define EACH_NS (500 * NS_PER_MS) /* for all threads of a process */

/*
 * The frames of a thread that waits in a system call, from where the kernel says it is.  False: it
 * runs, or did meanwhile.
 */
static bool other__waits(struct loop_target *t, struct remote_thread *o, struct remote_native *n,
			 const struct remote_state *before)
{
	struct remote_regs regs = {.pc_mask = remote_thread__pc_mask()};
	struct remote_state after;

	if (before->state == 'R' || remote_thread__waits(o, &regs.pc, &regs.sp))
		return false;
	regs.top = o->tid == t->pid ? t->stack_top : remote_thread__top(o->tid);
	remote_walk__other(t->base.walk, n, &regs);
	return !remote_thread__look(o, &after) && after.runs == before->runs;
}

/* Returns XR_F_* of the sample, as remote_report__other(). */
static uint32_t other__look(struct engine *e, struct loop_target *t, struct remote_thread *o,
			    struct remote_native *n, char state, bool waits)
{
	struct remote_regs regs;

	if (waits && !(remote_native__flags(n) & XR_F_NATIVE_CUT))
		return 0;
	if (state == 'D' && !waits)
		remote_walk__other(t->base.walk, n, NULL);
	if (state == 'D')
		return XR_F_DISK;
	if (!e->kind->stop(e, t, o->tid, &regs)) {
		remote_walk__other(t->base.walk, n, &regs);
		e->kind->go(e);
		return XR_F_STOPPED;
	}
	if (!waits)
		remote_walk__other(t->base.walk, n, NULL);
	return 0;
}

void remote_others__sample(struct engine *e, struct loop_target *t, pid_t tid)
{
	struct remote_native *native = e->kind->native ? remote_loop__native(e, t) : NULL;
	struct remote_state state;
	struct remote_thread o;
	uint32_t flags;
	bool waits;

	if (!native || remote_thread__of(&o, t->pid, tid))
		return;
	remote_loop__reads(e, t->pid);
	if (!remote_thread__look(&o, &state) && o.tid == tid) {
		waits = other__waits(t, &o, native, &state);
		flags = other__look(e, t, &o, native, state.state, waits);
		remote_report__other(&e->targets.report, t->base.walk, (uint32_t)t->pid,
				     (uint32_t)tid, flags);
	}
	remote_loop__has_read(e);
	remote_thread__close(&o);
}

void remote_others__each(struct engine *e, struct loop_target *t)
{
	const uint64_t end = os__now() + EACH_NS;
	struct dirent *entry;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	dir = opendir(path);
	while (dir && os__now() < end && (entry = readdir(dir))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != t->thread.tid)
			remote_others__sample(e, t, tid);
	}
	if (dir)
		closedir(dir);
}
