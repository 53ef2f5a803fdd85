/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/linux/children.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "engine/remote/linux/vm.h"
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
void remote_children__mark(struct remote_target *t)
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

/* Does @pid run the program that @t was found running?  Negative: it cannot be told. */
static int descendants__same_program(const struct remote_target *t, pid_t pid)
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

static bool descendants__ended(const struct remote_target *t)
{
	struct pollfd pfd = {.fd = t->pidfd, .events = POLLIN};
	struct proc p;

	if (t->pidfd >= 0)
		return poll(&pfd, 1, 0) == 1;
	return proc__read(t->pid, &p) || p.start_time != t->row.start_time || p.state == 'Z' ||
	       p.state == 'X';
}

enum xr_process_event remote_children__check(const struct remote_target *t)
{
	if (descendants__ended(t))
		return XR_PROCESS_EXIT;
	if (descendants__same_program(t, t->pid) == 0)
		return XR_PROCESS_EXEC;
	return 0;
}

/* The children of the thread that runs R, for R forks on no other. */
static bool descendants__list(struct remote_children *f, const struct remote_target *t)
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
static uint64_t descendants__new(struct remote_children *f, pid_t pid)
{
	uint64_t start = proc__start_time(pid);

	if (!start || map__get(&f->seen, (uint64_t)pid, start))
		return 0;
	if (f->seen.count >= SEEN_MAX)
		map__free(&f->seen);
	return map__put(&f->seen, (uint64_t)pid, start, f) ? 0 : start;
}

bool remote_children__child(struct remote_children *f, const struct remote_target *t,
			    struct xr_row *row)
{
	if (!(t->row.flags & XR_ROW_FOLLOW))
		return false;
	if (f->of != t->pid && !descendants__list(f, t)) {
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
		start = descendants__new(f, pid);
		if (!start || descendants__same_program(t, pid) != 1)
			continue;
		*row = t->row;
		row->pid = (uint32_t)pid;
		row->start_time = start;
		row->serial = 0x80000000u | ++f->serial;
		row->r_tid = 0;
		return true;
	}
	f->of = 0;
	return false;
}

void remote_children__tell(const struct xr_row *row, enum xr_process_event event,
			   const struct xr_row *parent, engine_sink sink, void *arg)
{
	struct xr_process p = {
		.head = {.type = XR_REC_PROCESS, .size = sizeof(p)},
		.time = os__now(),
		.event = event,
		.serial = row->serial,
		.pid = row->pid,
		.parent_serial = parent ? parent->serial : 0,
		.parent_pid = parent ? parent->pid : 0,
	};
	FILE *in = proc__fopen((pid_t)row->pid, "comm");

	if (in) {
		if (fgets(p.comm, sizeof(p.comm), in))
			p.comm[strcspn(p.comm, "\n")] = '\0';
		fclose(in);
	}
	sink(arg, &p, sizeof(p));
}
