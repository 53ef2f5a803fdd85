/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/open_waits_read.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/bpf/slabs.h"
#include "engine/remote/linux/thread.h"
#include "engine/remote/remote_walk.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"

#define KEYS 64u /* by which R's thread is found */

struct reading {
	struct remote_native *native; /* NULL: no memory for it */
	uint64_t sample_ns;
	int to, err;
};

static void on_record(void *arg, const void *record, size_t size)
{
	struct reading *r = arg;

	if (!r->err)
		r->err = helper__send(r->to, record, size, -1, 0);
}

/* As task__syscall() of bpf/task.h: fs/proc/base.c, proc_pid_syscall(). */
static uint16_t thread__syscall(uint32_t pid, uint32_t tid)
{
	char name[64], text[128];
	long nr = -1;

	snprintf(name, sizeof(name), "task/%u/syscall", tid);
	if (proc__text((pid_t)pid, name, text, sizeof(text)) <= 0 || sscanf(text, "%ld", &nr) != 1)
		nr = -1;
	return nr >= 0 && nr < (long)XR_SYSCALLS_MAX ? (uint16_t)(nr + 1) : 0;
}

/* Is it R's thread?  As sample__is_r() of bpf/sample.h. */
static bool wait__is_r(const struct open_wait *w, struct remote_thread *t,
		       const struct remote_walk *rw)
{
	uint64_t keys[KEYS];

	if (remote_walk__elsewhere(rw))
		remote_thread__prove(t, keys, remote_walk__keys(rw, keys, KEYS));
	if (!t->proven && w->row.r_tid)
		return w->row.r_tid == w->tid;
	return (uint32_t)t->tid == w->tid;
}

/* Where it is the kernel says; the other registers are not known, and mostly not needed. */
static void wait__native(struct reading *r, const struct open_wait *w, struct remote_walk *rw)
{
	struct remote_thread t = {.pid = (pid_t)w->row.pid, .tid = (pid_t)w->tid};
	struct remote_regs regs = {.pc_mask = remote_thread__pc_mask()};
	struct proc proc;

	if (!(w->row.flags & XR_ROW_NATIVE) || !w->row.space_stamp)
		return;
	if (r->native && w->tid == w->row.pid && !remote_thread__waits(&t, &regs.pc, &regs.sp) &&
	    !proc__read(t.pid, &proc) && proc.stack) {
		regs.top = proc.stack;
		remote_walk__finish_native(rw, r->native, &regs);
	}
	if (!remote_walk__native(rw))
		remote_walk__no_native(rw);
}

static int wait__read(struct reading *r, const struct open_wait *w)
{
	struct mem_reader reader = proc__reader((pid_t)w->row.pid);
	struct xr_sample like = {
		.weight = 1,
		.unit = XR_UNIT_NS,
		.event = XR_EVENT_SWITCH,
		.flags = w->wait.flags | XR_F_KERNEL,
		.pid = w->row.pid,
		.tid = w->tid,
	};
	struct remote_state state;
	struct remote_thread t;
	struct remote_walk *rw = NULL;
	int result;

	if (remote_thread__open(&t, (pid_t)w->row.pid))
		return -XR_EXITING;
	result = remote_thread__look(&t, &state) ? -XR_EXITING : 0;
	if (result)
		goto cleanup;
	result = remote_walk__new(&rw, &w->row, &reader, os__now) ? -XR_LOST : 0;
	if (result)
		goto cleanup;
	remote_walk__limit(rw, r->sample_ns);
	remote_walk__sink(rw, on_record, r);
	remote_walk__stack(rw, t.low, t.high);
	result = remote_walk__ahead(rw);
	if (result >= 0 && !wait__is_r(w, &t, rw)) {
		like.flags |= XR_F_OTHER_THREAD;
		result = w->row.flags & XR_ROW_IDLE ? 0 : -XR_NO_R_FRAMES;
	} else if (result >= 0) {
		wait__native(r, w, rw);
		result = remote_walk__finish(rw);
		if (result == -XR_NO_R_FRAMES && w->row.flags & XR_ROW_IDLE)
			result = 0;
	}
	if (result >= 0) {
		if (result > 0)
			like.flags |= XR_F_TRUNCATED;
		like.detail = thread__syscall(w->row.pid, w->tid);
		remote_walk__send(rw, &like);
	}

cleanup:
	remote_walk__free(rw);
	remote_thread__close(&t);
	return result;
}

static void reading__slab(struct reading *r, uint32_t slab, int fd)
{
	uint64_t *words = r->native ? bpf_slabs__map(fd) : NULL;

	if (words)
		remote_native__lend(r->native, slab, words);
	close(fd);
}

static void open_waits_read__run(int fd, const void *arg)
{
	struct open_wait_done done = {.head = {.size = sizeof(done)}};
	struct reading r = {.to = fd};
	struct open_wait_question q;
	int slab;

	(void)arg;
	remote_native__new(&r.native);
	rights__raise(RIGHTS_TARGET);
	while (!r.err && helper__receive(fd, &q, sizeof(q), &slab, 0) == sizeof(q)) {
		if (slab >= 0) {
			reading__slab(&r, q.slab, slab);
			continue;
		}
		r.sample_ns = q.sample_ns;
		done.result = wait__read(&r, &q.wait);
		on_record(&r, &done, sizeof(done));
	}
	remote_native__free(r.native);
}

const struct helper_job open_waits_read__job = {
	.name = "xrprof-waits",
	.flags = HELPER_LIMITED,
	.rights = RIGHTS_TARGET,
	.run = open_waits_read__run,
};
