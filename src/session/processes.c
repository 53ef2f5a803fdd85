/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>

#include "base/clock.h"
#include "session/processes.h"

#define SAME_MS 1000

struct process *processes__add(struct processes *ps, uint32_t serial, uint32_t pid)
{
	struct process *p, **bucket;

	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	/* of those looked at: 31 bits go round only after years; 0 means none */
	if (!serial) {
		ps->last_serial = (ps->last_serial + 1) & 0x7fffffff;
		if (!ps->last_serial)
			ps->last_serial = 1;
		serial = ps->last_serial;
	}
	p->serial = serial;
	p->pid = pid;
	p->handle = PROC_HANDLE_NONE;
	bucket = &ps->bucket[serial % PROCESS_BUCKETS];
	p->next = *bucket;
	*bucket = p;
	ps->count++;
	return p;
}

struct process *processes__find(const struct processes *ps, uint32_t serial)
{
	struct process *p;

	for (p = ps->bucket[serial % PROCESS_BUCKETS]; p; p = p->next)
		if (p->serial == serial)
			return p;
	return NULL;
}

struct process *processes__find_pid(const struct processes *ps, uint32_t pid)
{
	struct process *p = NULL;

	while ((p = processes__next(ps, p)))
		if (p->pid == pid && p->state != PROCESS_ENDED)
			return p;
	return NULL;
}

void processes__remove(struct processes *ps, struct process *p)
{
	struct process **link = &ps->bucket[p->serial % PROCESS_BUCKETS];

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	ps->count--;
	process__release(p);
	verify_hidden__end(&p->hidden);
	reader__end(&p->reader);
	description__drop(p->described);
	free(p);
}

struct process *processes__next(const struct processes *ps, const struct process *p)
{
	uint32_t i = 0;

	if (p && p->next)
		return p->next;
	if (p)
		i = p->serial % PROCESS_BUCKETS + 1;
	while (i < PROCESS_BUCKETS && !ps->bucket[i])
		i++;
	return i < PROCESS_BUCKETS ? ps->bucket[i] : NULL;
}

void process__hold(struct process *p)
{
	if (!proc_handle__is_open(&p->handle))
		proc_handle__open(&p->handle, (pid_t)p->pid);
	/* between finding R and opening this, the pid may have gone to another process */
	if (proc_handle__is_open(&p->handle) && p->mine && !target__same(&p->target))
		process__release(p);
}

void process__release(struct process *p)
{
	proc_handle__close(&p->handle);
}

bool process__gone(struct process *p, uint64_t now)
{
	if (proc_handle__is_open(&p->handle))
		return proc_handle__ended(&p->handle);
	if (proc_handle__unused((pid_t)p->pid))
		return true;
	/* this reads a file */
	if (!p->mine || now - p->same_at < SAME_MS * NS_PER_MS)
		return false;
	p->same_at = now;
	return !target__same(&p->target);
}
