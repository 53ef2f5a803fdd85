/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --lines and --gc need variables that R does not export.  Addresses from a symbol table are
 * right; those read from machine code are used only after they were seen to be (hidden_check.h),
 * once for each file with R in it.  Until then samples are taken without them.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/session.h"
#include "os/proc.h"

#define NS_PER_MS 1000000ull

#define FIRST_MS    50	 /* a process is looked at for so long before it is sampled */
#define FIRST_ALL   1000 /* and all of them together */
#define IDLE_LOOKS  3	 /* of a process that does not run: it will be the same the next time */
#define AGAIN_MS    20
#define AGAIN_LOOKS 8

/* The variables lie at these places of the file. */
struct proof {
	struct proof *next;
	char path[256], version[16];
	uint64_t bc_body, bc_pc, gc; /* 0: not proven */
};

static bool proof__is_of(const struct proof *f, const struct process *p)
{
	return !strcmp(f->path, p->target.path) && !strcmp(f->version, p->target.version);
}

static bool session__proven(const struct session *s, const struct process *p, bool gc)
{
	const struct target *t = &p->target;

	for (const struct proof *f = s->proofs; f; f = f->next) {
		if (!proof__is_of(f, p))
			continue;
		if (gc ? f->gc && f->gc == p->gc_at - t->load_bias
		       : f->bc_body && f->bc_body == t->row.bc_body_at - t->load_bias &&
				    f->bc_pc == t->row.bc_pc_at - t->load_bias)
			return true;
	}
	return false;
}

static void session__remember(struct session *s, const struct process *p, bool gc)
{
	const struct target *t = &p->target;
	struct proof *f;

	if (session__proven(s, p, gc))
		return;
	f = calloc(1, sizeof(*f));
	if (!f)
		return; /* then it is proven anew for each process */
	memcpy(f->path, t->path, sizeof(f->path));
	memcpy(f->version, t->version, sizeof(f->version));
	if (gc) {
		f->gc = p->gc_at - t->load_bias;
	} else {
		f->bc_body = t->row.bc_body_at - t->load_bias;
		f->bc_pc = t->row.bc_pc_at - t->load_bias;
	}
	f->next = s->proofs;
	s->proofs = f;
}

static bool how__certain(const char *how)
{
	return how && (!strcmp(how, "symbol table") || !strcmp(how, "debug file"));
}

static void session__no_innermost(struct session *s, const struct process *p, const char *why)
{
	if (s->lines_said)
		return;
	s->lines_said = true;
	session__note(
		s,
		"process %u (%s): where in a compiled function R is cannot be told, only where "
		"functions were called: %s in %s",
		p->pid, p->comm, why, p->target.path);
}

static void session__no_gc(struct session *s, const struct process *p)
{
	if (s->gc_said)
		return;
	s->gc_said = true;
	session__note(s,
		      "process %u (%s): %s: R's flag for a running collector was not found in %s",
		      p->pid, p->comm,
		      p->target.row.gc_begin
			      ? "a GC mark is missing where the collector called another function"
			      : "no GC marks",
		      p->target.path);
}

/* The row as it would be if all were proven. */
static struct xr_row process__supposed(const struct process *p)
{
	struct xr_row row = p->target.row;

	row.gc_at = p->gc_at;
	row.gc_count_at = p->gc_count_at;
	return row;
}

/* Act on what was found out since the last time.  Returns whether the row changed. */
static bool session__conclude(struct session *s, struct process *p)
{
	struct xr_row *row = &p->target.row, full;
	bool changed = false;

	if (p->check.bc == HIDDEN_PROVEN && !(row->flags & XR_ROW_BC) &&
	    (row->flags & XR_ROW_LINES)) {
		row->flags |= XR_ROW_BC;
		session__remember(s, p, false);
		session__debug(s,
			       "process %u: R_BCbody is at 0x%llx and R_BCpc at 0x%llx of %s, says "
			       "the %s; %u looks at byte code agree, %u do not, %u contexts do",
			       p->pid, (unsigned long long)(row->bc_body_at - p->target.load_bias),
			       (unsigned long long)(row->bc_pc_at - p->target.load_bias),
			       p->target.path, p->target.how_lines, p->check.good, p->check.bad,
			       p->check.contexts);
		changed = true;
	} else if (p->check.bc == HIDDEN_REFUTED) {
		session__no_innermost(s, p, "R_BCbody and R_BCpc are not what they were taken for");
	}
	if (p->check.gc == HIDDEN_PROVEN && !row->gc_at) {
		row->gc_at = p->gc_at;
		session__remember(s, p, true);
		changed = true;
	} else if (p->check.gc == HIDDEN_REFUTED) {
		session__no_gc(s, p);
	}
	if (p->check.count == HIDDEN_PROVEN && !row->gc_count_at) {
		row->gc_count_at = p->gc_count_at;
		session__debug(s, "process %u: the number of collections is at 0x%llx of %s: %d",
			       p->pid, (unsigned long long)(p->gc_count_at - p->target.load_bias),
			       p->target.path, (int)p->check.last_count);
		changed = true;
	}
	full = process__supposed(p);
	p->checking = hidden_check__open(&p->check, &full);
	return changed;
}

static void process__look(struct process *p)
{
	struct mem_reader m = proc__reader((pid_t)p->pid);
	struct xr_row full = process__supposed(p);

	if (hidden_check__look(&p->check, &full, &m))
		p->checking = false; /* it is gone */
	else
		p->checking = hidden_check__open(&p->check, &full);
}

static bool process__runs(const struct process *p)
{
	struct proc now;

	return !proc__read((pid_t)p->pid, &now) && now.state == 'R';
}

void session__lines(struct session *s, struct process *p)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	struct target *t = &p->target;
	struct xr_row *row = &t->row;
	uint64_t began, end;

	p->check = (struct hidden_check){0};
	p->gc_at = row->gc_at;
	row->gc_at = 0;
	p->gc_count_at = row->gc_count_at;
	row->gc_count_at = 0;
	if (t->srcref && row->layout.srcref && t->srcref != row->layout.srcref &&
	    (row->flags & XR_ROW_LINES)) {
		row->flags &= ~XR_ROW_LINES;
		session__note(
			s,
			"process %u (%s): no source lines: %s, R %s, keeps them elsewhere (%u) "
			"than known (%u)",
			p->pid, p->comm, t->path, t->version, t->srcref, row->layout.srcref);
	}
	if (row->flags & XR_ROW_LINES && row->in_bc) {
		if (!row->bc_body_at || !row->bc_pc_at)
			session__no_innermost(s, p, "R_BCbody and R_BCpc were not found");
		else if (how__certain(t->how_lines) || session__proven(s, p, false))
			p->check.bc = HIDDEN_PROVEN;
	}
	if (row->flags & XR_ROW_GC) {
		if (!p->gc_at)
			session__no_gc(s, p);
		else if (p->gc_at && (how__certain(t->how_gc) || session__proven(s, p, true)))
			p->check.gc = HIDDEN_PROVEN;
	}
	session__conclude(s, p);
	began = session__now();
	end = began + FIRST_MS * NS_PER_MS;
	while (p->checking && session__now() < end && s->checking_ns < FIRST_ALL * NS_PER_MS) {
		process__look(p);
		if (p->checking && p->check.looks >= IDLE_LOOKS && !process__runs(p))
			break;
		if (p->checking)
			nanosleep(&pause, NULL);
	}
	s->checking_ns += session__now() - began;
	session__conclude(s, p);
	p->checked_at = session__now();
}

/* Forked children whose rows are copies of @p's from before: they need the same. */
static void session__update_children(struct session *s, const struct process *p)
{
	struct process *child = NULL;
	const struct process *up;

	while ((child = processes__next(&s->processes, child))) {
		struct xr_row row = p->target.row;

		if (child->mine || child->state != PROCESS_SAMPLED)
			continue;
		for (up = child; up && !up->mine && up->parent_serial;)
			up = processes__find(&s->processes, up->parent_serial);
		if (up != p)
			continue;
		row.serial = child->serial;
		row.pid = child->pid;
		row.start_time = proc__start_time((pid_t)child->pid);
		if (row.start_time)
			s->ops->update(s->engine, &row);
	}
}

void session__lines_again(struct session *s, struct process *p, uint64_t now)
{
	if (now - p->checked_at < AGAIN_MS * NS_PER_MS)
		return;
	p->checked_at = now;
	for (int i = 0; i < AGAIN_LOOKS && p->checking; i++)
		process__look(p);
	if (session__conclude(s, p)) {
		s->ops->update(s->engine, &p->target.row);
		session__update_children(s, p);
	}
}

void session__lines_free(struct session *s)
{
	struct proof *f;

	while ((f = s->proofs)) {
		s->proofs = f->next;
		free(f);
	}
}
