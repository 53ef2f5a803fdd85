/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/verify_hidden.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "os/proc.h"

#define FIRST_NS   (50 * NS_PER_MS) /* a process' first sample may wait so long */
#define IDLE_LOOKS 3 /* of one that does not run: it will be the same the next time */

/* A file with R in it, and where its hidden variables should be, as offsets; 0: not found. */
struct hidden_file {
	struct hidden_file *next;
	char path[sizeof(((struct target *)0)->path)];
	char version[sizeof(((struct target *)0)->version)];
	uint64_t bc_body, bc_pc, gc, gc_count;
	enum lines_verdict bc_verdict, gc_verdict, count_verdict;
	bool lines_said, gc_said; /* that they cannot be had */
};

static uint64_t target__offset(const struct target *t, uint64_t addr)
{
	return addr ? addr - t->load_bias : 0;
}

/* The entry of @t's file; NULL: out of memory. */
static struct hidden_file *hidden_file__get(struct verify_hidden *v, const struct target *t)
{
	const struct xr_row *row = &t->row;
	struct hidden_file want = {
		.bc_body = target__offset(t, row->bc_body_at),
		.bc_pc = target__offset(t, row->bc_pc_at),
		.gc = target__offset(t, row->gc_at),
		.gc_count = target__offset(t, row->gc_count_at),
	};
	struct hidden_file *f;

	/* two files may have one path, in two containers: what was found in them differs then */
	for (f = v->files; f; f = f->next)
		if (!strcmp(f->path, t->path) && !strcmp(f->version, t->version) &&
		    f->bc_body == want.bc_body && f->bc_pc == want.bc_pc && f->gc == want.gc &&
		    f->gc_count == want.gc_count)
			return f;
	f = malloc(sizeof(*f));
	if (!f)
		return NULL;
	*f = want;
	memcpy(f->path, t->path, sizeof(f->path));
	memcpy(f->version, t->version, sizeof(f->version));
	f->next = v->files;
	v->files = f;
	return f;
}

static bool how__certain(const char *how)
{
	return how && (!strcmp(how, "symbol table") || !strcmp(how, "debug file"));
}

static void verify_hidden__no_innermost(struct verify_hidden *v, struct hidden_file *file,
					const struct target *t, const char *why)
{
	if (file->lines_said)
		return;
	file->lines_said = true;
	notes__user(v->notes,
		    "process %d (%s): the innermost line of byte-compiled functions is missing, "
		    "callers have theirs: %s in %s",
		    (int)t->pid, t->comm, why, t->path);
}

static void verify_hidden__no_gc(struct verify_hidden *v, struct hidden_file *file,
				 const struct target *t)
{
	if (file->gc_said)
		return;
	file->gc_said = true;
	notes__user(
		v->notes,
		"process %d (%s): %s: the flag that R's collector is running was not found in %s",
		(int)t->pid, t->comm,
		t->row.gc_begin ? "GC marks are missing where the collector calls another function"
				: "no GC marks",
		t->path);
}

/* The row as it would be if all were proven. */
static struct xr_row hidden_proof__supposed(const struct hidden_proof *h, const struct target *t)
{
	struct xr_row row = t->row;

	row.gc_at = h->gc_at;
	row.gc_count_at = h->gc_count_at;
	return row;
}

/* What was proven in one process is in all, and the other way round. */
static void verdict__share(enum lines_verdict *mine, enum lines_verdict *shared)
{
	if (*mine == HIDDEN_PROVEN)
		*shared = HIDDEN_PROVEN;
	else if (*shared == HIDDEN_PROVEN)
		*mine = HIDDEN_PROVEN;
}

/* Act on what was found out since the last time.  Returns whether the row changed. */
static bool verify_hidden__conclude(struct verify_hidden *v, struct hidden_proof *h,
				    struct target *t)
{
	struct xr_row *row = &t->row, supposed;
	struct hidden_file *file = h->file;
	struct hidden_check *check = &h->check;
	bool changed = false;

	verdict__share(&check->bc, &file->bc_verdict);
	verdict__share(&check->gc, &file->gc_verdict);
	verdict__share(&check->count, &file->count_verdict);
	if (check->bc == HIDDEN_PROVEN && !(row->flags & XR_ROW_BC) &&
	    (row->flags & XR_ROW_LINES)) {
		row->flags |= XR_ROW_BC;
		notes__debug(v->notes,
			     "process %d: R_BCbody is at 0x%llx and R_BCpc at 0x%llx of %s, says "
			     "the %s; %u looks at byte code agree, %u do not, %u contexts do",
			     (int)t->pid, (unsigned long long)file->bc_body,
			     (unsigned long long)file->bc_pc, t->path,
			     t->how_lines ? t->how_lines : "file", check->good, check->bad,
			     check->contexts);
		changed = true;
	} else if (check->bc == HIDDEN_REFUTED) {
		verify_hidden__no_innermost(v, file, t,
					    "R_BCbody and R_BCpc are not what they were taken for");
	}
	if (check->gc == HIDDEN_PROVEN && row->gc_at != h->gc_at) {
		row->gc_at = h->gc_at;
		changed = true;
	} else if (check->gc == HIDDEN_REFUTED) {
		verify_hidden__no_gc(v, file, t);
	}
	if (check->count == HIDDEN_PROVEN && row->gc_count_at != h->gc_count_at) {
		row->gc_count_at = h->gc_count_at;
		notes__debug(v->notes,
			     "process %d: the number of collections is at 0x%llx of %s: %d",
			     (int)t->pid, (unsigned long long)file->gc_count, t->path,
			     (int)check->last_count);
		changed = true;
	}
	supposed = hidden_proof__supposed(h, t);
	h->open = hidden_check__open(check, &supposed);
	return changed;
}

int verify_hidden__begin(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			 uint64_t now)
{
	struct xr_row *row = &t->row;

	*h = (struct hidden_proof){.opened_at = now};
	if (!(row->flags & (XR_ROW_LINES | XR_ROW_GC)))
		return 0;
	h->file = hidden_file__get(v, t);
	if (!h->file)
		return -ENOMEM;
	h->gc_at = row->gc_at;
	row->gc_at = 0;
	h->gc_count_at = row->gc_count_at;
	row->gc_count_at = 0;
	if (t->srcref && row->layout.srcref && t->srcref != row->layout.srcref &&
	    (row->flags & XR_ROW_LINES)) {
		row->flags &= ~XR_ROW_LINES;
		notes__user(v->notes,
			    "process %d (%s): no source lines: in %s, R %s, srcref is at %u, not "
			    "at %u as in the table of layouts",
			    (int)t->pid, t->comm, t->path, t->version, t->srcref,
			    row->layout.srcref);
	}
	if (row->flags & XR_ROW_LINES && row->in_bc) {
		if (!row->bc_body_at || !row->bc_pc_at)
			verify_hidden__no_innermost(v, h->file, t,
						    "R_BCbody and R_BCpc were not found");
		else if (how__certain(t->how_lines))
			h->check.bc = HIDDEN_PROVEN;
	}
	if (row->flags & XR_ROW_GC) {
		if (!h->gc_at)
			verify_hidden__no_gc(v, h->file, t);
		else if (how__certain(t->how_gc))
			h->check.gc = HIDDEN_PROVEN;
	}
	verify_hidden__conclude(v, h, t);
	return 0;
}

void verify_hidden__inherit(struct hidden_proof *h, const struct hidden_proof *parent, uint64_t now)
{
	*h = *parent;
	h->opened_at = h->looked_at = now;
	/* verdicts hold for both, but what was counted is of the parent alone */
	h->check = (struct hidden_check){
		.bc = parent->check.bc,
		.gc = parent->check.gc,
		.count = parent->check.count,
	};
}

bool verify_hidden__advance(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			    unsigned int looks, uint64_t now)
{
	struct mem_reader m = proc__reader(t->pid);
	struct xr_row supposed;
	bool changed;

	if (!h->open)
		return false;
	h->looked_at = now;
	changed = verify_hidden__conclude(v, h, t);
	supposed = hidden_proof__supposed(h, t);
	for (unsigned int i = 0; i < looks && h->open; i++)
		h->open = !hidden_check__look(&h->check, &supposed, &m) &&
			  hidden_check__open(&h->check, &supposed);
	changed |= verify_hidden__conclude(v, h, t);
	h->completed |= changed;
	return changed;
}

bool verify_hidden__worth_waiting(const struct hidden_proof *h, const struct target *t,
				  uint64_t now)
{
	struct proc p;

	if (!h->open || now - h->opened_at >= FIRST_NS)
		return false;
	return h->check.looks < IDLE_LOOKS || (!proc__read(t->pid, &p) && p.state == 'R');
}

void verify_hidden__free(struct verify_hidden *v)
{
	struct hidden_file *f;

	while ((f = v->files)) {
		v->files = f->next;
		free(f);
	}
}
