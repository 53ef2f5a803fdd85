/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/descendants.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

struct descendants_event {
	uint64_t time;
	pid_t parent; /* 0: an exit */
	pid_t pid;
};

/* Members' times are kept as pointers, which must not be NULL. */
static int descendants__put(struct descendants *f, pid_t pid, uint64_t time)
{
	return map__put(&f->members, (uint64_t)pid, 0, (void *)(uintptr_t)(time | 1));
}

/* Is @pid, at @time, a member?  One of that pid that was forked later is another process. */
static bool descendants__member(const struct descendants *f, pid_t pid, uint64_t time)
{
	uint64_t since = (uintptr_t)map__get(&f->members, (uint64_t)pid, 0);

	return since && since <= (time | 1);
}

int descendants__add(struct descendants *f, pid_t pid)
{
	return descendants__put(f, pid, 1);
}

/* Children of members become members, until nothing changes. */
static void descendants__resolve(struct descendants *f)
{
	size_t left, before;

	do {
		before = f->nevents;
		left = 0;
		for (size_t i = 0; i < before; i++) {
			struct descendants_event e = f->events[i];

			if (!e.parent || !descendants__member(f, e.parent, e.time) ||
			    descendants__put(f, e.pid, e.time))
				f->events[left++] = e;
		}
		f->nevents = left;
	} while (left && left < before);
}

bool descendants__has(struct descendants *f, pid_t pid)
{
	descendants__resolve(f);
	return map__get(&f->members, (uint64_t)pid, 0);
}

static int descendants__postpone(struct descendants *f, struct descendants_event e)
{
	int err = array__room(&f->events, f->nevents, &f->room, sizeof(e));

	if (!err)
		f->events[f->nevents++] = e;
	return err;
}

int descendants__forked(struct descendants *f, uint64_t time, pid_t parent, pid_t child)
{
	if (descendants__member(f, parent, time))
		return descendants__put(f, child, time);
	return descendants__postpone(f, (struct descendants_event){time, parent, child});
}

int descendants__exited(struct descendants *f, uint64_t time, pid_t pid)
{
	/* the records of its forks may come only after this */
	return descendants__postpone(f, (struct descendants_event){time, 0, pid});
}

void descendants__settle(struct descendants *f)
{
	descendants__resolve(f);
	for (size_t i = 0; i < f->nevents; i++) {
		const struct descendants_event *e = &f->events[i];

		if (!e->parent && descendants__member(f, e->pid, e->time))
			map__remove(&f->members, (uint64_t)e->pid, 0);
	}
	f->nevents = 0;
}

void descendants__free(struct descendants *f)
{
	map__free(&f->members);
	free(f->events);
	*f = (struct descendants){0};
}
