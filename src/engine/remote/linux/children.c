/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/linux/loop.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc.h"

#define SEEN_MAX 65536u

void remote_children__free(struct remote_children *f)
{
	map__free(&f->seen);
	free(f->text);
}

/*
 * The kernel gives each program it starts 16 random bytes (AT_RANDOM of the auxiliary vector,
 * fs/binfmt_elf.c): they tell whether there was an exec, even of the same file at the same
 * addresses.  A forked child has its parent's.
 */
void remote_children__mark(struct loop_target *t)
{
	uint64_t entry[2];
	FILE *in = proc__fopen(t->pid, "auxv");

	t->random_at = 0;
	if (!in)
		return;
	while (fread(entry, sizeof(entry), 1, in) == 1 && entry[0] != AT_NULL)
		if (entry[0] == AT_RANDOM)
			t->random_at = entry[1];
	fclose(in);
	if (t->random_at && proc__memory(t->pid, t->random_at, t->random, sizeof(t->random)))
		t->random_at = 0;
}

/*
 * @child was forked by @parent: what tells its program is that of its parent.  Its own may be that
 * of another program by now.
 */
static void children__inherit(struct loop_target *child, const struct loop_target *parent)
{
	child->random_at = parent->random_at;
	memcpy(child->random, parent->random, sizeof(child->random));
}

/* Does @pid run the program that @t was found running?  Negative: unknown. */
static int children__same_program(const struct loop_target *t, pid_t pid)
{
	uint8_t random[sizeof(t->random)];
	int err;

	if (!t->random_at)
		return 1;
	err = proc__memory(pid, t->random_at, random, sizeof(random));
	if (err && err != -EFAULT)
		return err;
	return !err && !memcmp(random, t->random, sizeof(random));
}

static bool children__ended(const struct loop_target *t)
{
	struct pollfd pfd = {.fd = t->pidfd, .events = POLLIN};
	struct proc p;

	if (t->pidfd >= 0)
		return poll(&pfd, 1, 0) == 1;
	return proc__read(t->pid, &p) || p.start_time != t->base.row.start_time || p.state == 'Z' ||
	       p.state == 'X';
}

bool remote_children__stays(const struct loop_target *t)
{
	return !children__ended(t) && children__same_program(t, t->pid) == 1;
}

static void children__comm(pid_t pid, char comm[16])
{
	if (proc__text(pid, "comm", comm, 16) < 0)
		comm[0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
}

enum xr_process_event remote_children__check(struct engine *e, struct remote_target *base,
					     char comm[16])
{
	const struct loop_target *t = (struct loop_target *)base;
	enum xr_process_event event = 0;

	remote_loop__reads(e, t->pid);
	if (children__ended(t))
		event = XR_PROCESS_EXIT;
	else if (children__same_program(t, t->pid) == 0)
		event = XR_PROCESS_EXEC;
	remote_loop__has_read(e);
	if (event)
		children__comm(t->pid, comm);
	return event;
}

/* The children of the thread that runs R, for R forks on no other. */
static bool children__list(struct remote_children *f, const struct loop_target *t)
{
	char name[48];
	ssize_t len;
	FILE *in;

	f->of = t->pid;
	f->at = NULL;
	snprintf(name, sizeof(name), "task/%d/children", (int)t->thread.tid);
	in = proc__fopen(t->pid, name);
	if (!in)
		return false;
	len = getline(&f->text, &f->room, in);
	fclose(in);
	if (len > 0)
		f->at = f->text;
	return f->at;
}

/* A child that was not seen before: its start time, else 0. */
static uint64_t children__new(struct remote_children *f, pid_t pid)
{
	uint64_t start = proc__start_time(pid);

	if (!start || map__get(&f->seen, (uint64_t)pid, start))
		return 0;
	if (f->seen.count >= SEEN_MAX)
		map__free(&f->seen);
	return map__put(&f->seen, (uint64_t)pid, start, f) ? 0 : start;
}

/*
 * A child of @t not seen before that runs the same program, if children are to be followed: *@row
 * gets its row.  To be called until it returns false.
 */
static bool children__next(struct remote_children *f, const struct loop_target *t,
			   struct xr_row *row)
{
	if (!(t->base.row.flags & XR_ROW_FOLLOW))
		return false;
	if (f->of != t->pid && !children__list(f, t)) {
		f->of = 0;
		return false;
	}
	for (;;) {
		char *end;
		pid_t pid = (pid_t)strtoul(f->at, &end, 10);
		uint64_t start;

		if (end == f->at || pid <= 0)
			break;
		f->at = end;
		start = children__new(f, pid);
		if (!start || children__same_program(t, pid) != 1)
			continue;
		*row = t->base.row;
		row->pid = (uint32_t)pid;
		row->start_time = start;
		row->serial = 0x80000000u | ++f->serial;
		row->r_tid = 0;
		return true;
	}
	f->of = 0;
	return false;
}

void remote_children__follow(struct engine *e, struct remote_target *base)
{
	const struct loop_target *t = (struct loop_target *)base;
	struct remote_report *report = &e->targets.report;
	struct loop_target *child;
	struct xr_row row;
	char comm[16];
	int err;

	remote_loop__reads(e, t->pid);
	while (children__next(&e->children, t, &row)) {
		if (remote_targets__find(&e->targets, row.pid))
			continue;
		err = remote_loop__target(e, &row, &child, NULL);
		if (err == -E2BIG)
			report->counts[XR_ROWS_FULL]++;
		if (err)
			continue;
		children__inherit(child, t);
		children__comm(child->pid, comm);
		remote_report__process(report, &row, XR_PROCESS_FORK, &base->row, comm);
		remote_targets__put(&base->next, &child->base);
	}
	remote_loop__has_read(e);
}
