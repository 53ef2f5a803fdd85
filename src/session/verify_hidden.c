/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/verify_hidden.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "os/proc.h"

#define FIRST_NS   (50 * NS_PER_MS) /* a process' first sample may wait so long */
#define IDLE_LOOKS 3 /* of one that does not run: it will be the same the next time */

/* Between two turns of looks: of a process just found or forked, as long as it lived, within these;
 * each turn that tells nothing doubles it, up to a second or so. */
#define TURN_MIN_NS  (1 * NS_PER_MS)
#define TURN_NS	     (20 * NS_PER_MS)
#define IDLE_MAX     6u
#define IDLE_RUNNING 2u /* of one that has samples */

/* Looks in TURN_NS: at all processes together, and at those of one family. */
#define LOOKS_MAX	 64u
#define FAMILY_LOOKS_MAX 32u

#define FILES_MAX 256u /* are kept when no process of theirs is left */

/*
 * A file with R in it, as the processes of one user have it: what one process shows holds for the
 * others, and is not for another user to decide.  Where its hidden variables should be, as offsets;
 * 0: not found.
 */
struct hidden_file {
	struct hidden_file *next;
	uint32_t users; /* families */
	uint32_t uid;
	struct target_file file;
	char path[sizeof(((struct target *)0)->path)];
	char version[sizeof(((struct target *)0)->version)];
	uint64_t bc_body, bc_pc, gc, gc_count;
	struct hidden_memory memory;
	bool bc_proven, gc_proven, count_proven, memory_proven;
	bool no_dups;		      /* memory.dups is wrong */
	uint32_t said[HIDDEN_THINGS]; /* processes of which it was printed that they are missing */
};

/* A process and those forked from it. */
struct hidden_family {
	uint32_t users; /* processes */
	struct hidden_file *file;
	struct hidden_tally tally;
	enum lines_verdict bc, gc, count, memory;
	uint64_t window_at; /* as in struct verify_hidden */
	uint32_t looks;
};

static uint64_t target__offset(const struct target *t, uint64_t addr)
{
	return addr ? addr - t->load_bias : 0;
}

/* Where it is not known which file it is (target.h), its name and R's version must do. */
static bool hidden_file__same(const struct hidden_file *a, const struct hidden_file *b)
{
	if (a->uid != b->uid || memcmp(&a->file, &b->file, sizeof(a->file)) ||
	    a->bc_body != b->bc_body || a->bc_pc != b->bc_pc || a->gc != b->gc ||
	    a->gc_count != b->gc_count || memcmp(&a->memory, &b->memory, sizeof(a->memory)))
		return false;
	return a->file.ino || (!strcmp(a->path, b->path) && !strcmp(a->version, b->version));
}

/* Forget the one that was not in use for longest, if there are too many. */
static void hidden_files__trim(struct verify_hidden *v)
{
	struct hidden_file **at, **oldest = NULL, *f;

	if (v->nfiles < FILES_MAX)
		return;
	for (at = &v->files; *at; at = &(*at)->next)
		if (!(*at)->users)
			oldest = at;
	if (!oldest)
		return;
	f = *oldest;
	*oldest = f->next;
	v->nfiles--;
	free(f);
}

/* The entry of @t's file; NULL: out of memory. */
static struct hidden_file *hidden_file__get(struct verify_hidden *v, const struct target *t)
{
	const struct xr_row *row = &t->row;
	struct hidden_file want = {
		.uid = t->uid,
		.file = t->file,
		.bc_body = target__offset(t, row->bc_body_at),
		.bc_pc = target__offset(t, row->bc_pc_at),
		.gc = target__offset(t, row->gc_at),
		.gc_count = target__offset(t, row->gc_count_at),
		.memory = {target__offset(t, row->small_at), target__offset(t, row->large_at),
			   target__offset(t, row->nodes_at), target__offset(t, row->dups_at)},
	};
	struct hidden_file *f;

	memcpy(want.path, t->path, sizeof(want.path));
	memcpy(want.version, t->version, sizeof(want.version));
	for (f = v->files; f; f = f->next)
		if (hidden_file__same(f, &want))
			return f;
	hidden_files__trim(v);
	f = malloc(sizeof(*f));
	if (!f)
		return NULL;
	*f = want;
	f->next = v->files;
	v->files = f;
	v->nfiles++;
	return f;
}

static struct hidden_family *hidden_family__new(struct hidden_file *file)
{
	struct hidden_family *f = file ? calloc(1, sizeof(*f)) : NULL;

	if (!f)
		return NULL;
	f->users = 1;
	f->file = file;
	file->users++;
	return f;
}

static bool how__certain(const char *how)
{
	return how && (!strcmp(how, "symbol table") || !strcmp(how, "debug file"));
}

static void row__set_memory(struct xr_row *row, const struct hidden_memory *m)
{
	row->small_at = m->small;
	row->large_at = m->large;
	row->nodes_at = m->nodes;
	row->dups_at = m->dups;
}

/* The row as it would be if all were proven. */
static struct xr_row hidden_proof__supposed(const struct hidden_proof *h, const struct target *t)
{
	struct xr_row row = t->row;

	row.gc_at = h->gc_at;
	row.gc_count_at = h->gc_count_at;
	row__set_memory(&row, &h->memory);
	return row;
}

/*
 * What one process saw, its family and its file know, and the other way round: @mine of the
 * process,
 * @ours of its family, @proven of its file.  Returns whether this is a new proof.
 */
static bool verdict__share(enum lines_verdict *mine, enum lines_verdict *ours, bool *proven)
{
	bool had = *proven;

	if (*ours == HIDDEN_OPEN)
		*ours = *mine;
	if (*ours == HIDDEN_OPEN && *proven)
		*ours = HIDDEN_PROVEN;
	*mine = *ours;
	*proven |= *ours == HIDDEN_PROVEN;
	return *proven && !had;
}

static bool verify_hidden__conclude_bc(struct verify_hidden *v, const struct hidden_proof *h,
				       struct target *t)
{
	const struct hidden_tally *tally = &h->family->tally;
	struct hidden_file *file = h->family->file;
	struct xr_row *row = &t->row;

	if (h->check.bc != HIDDEN_PROVEN || row->flags & XR_ROW_BC || !(row->flags & XR_ROW_LINES))
		return false;
	row->flags |= XR_ROW_BC;
	notes__debug(v->notes,
		     "process %d: R_BCbody is at 0x%llx and R_BCpc at 0x%llx of %s (source: %s); "
		     "%u checks of byte code agree, %u do not, %u contexts do",
		     (int)t->pid, (unsigned long long)file->bc_body,
		     (unsigned long long)file->bc_pc, t->path, t->how_lines ? t->how_lines : "file",
		     tally->good, tally->bad, tally->contexts);
	return true;
}

static bool hidden_proof__conclude_gc(const struct hidden_proof *h, struct target *t)
{
	if (h->check.gc != HIDDEN_PROVEN || t->row.gc_at == h->gc_at)
		return false;
	t->row.gc_at = h->gc_at;
	return true;
}

/*
 * Marks of environments tell nothing while the collector runs.  So a number of collections without
 * the collector's flag would make two calls one, where R uses an environment's memory again: calls
 * need both, or neither.
 */
static bool verify_hidden__conclude_count(struct verify_hidden *v, const struct hidden_proof *h,
					  struct target *t)
{
	const struct hidden_check *c = &h->check;
	const bool known =
		c->count == HIDDEN_PROVEN || (c->count == HIDDEN_OPEN && c->no_collection);
	const bool wanted = t->row.gc_at || !(t->row.flags & XR_ROW_CALLS);
	const uint64_t at = known && wanted ? h->gc_count_at : 0;

	if (t->row.gc_count_at == at)
		return false;
	t->row.gc_count_at = at;
	if (!at)
		return true;
	notes__debug(v->notes, "process %d: the number of collections is at 0x%llx of %s: %d",
		     (int)t->pid, (unsigned long long)h->family->file->gc_count, t->path,
		     (int)c->last_count);
	return true;
}

static bool verify_hidden__conclude_memory(struct verify_hidden *v, struct hidden_proof *h,
					   struct target *t)
{
	struct hidden_file *file = h->family->file;
	const struct hidden_memory *m = &file->memory;

	if (h->check.memory != HIDDEN_PROVEN || t->row.small_at == h->memory.small)
		return false;
	file->no_dups |= h->check.seen.no_dups;
	if (file->no_dups)
		h->memory.dups = 0;
	row__set_memory(&t->row, &h->memory);
	notes__debug(v->notes,
		     "process %d: R's memory counts are at 0x%llx, 0x%llx and 0x%llx, of "
		     "duplications at 0x%llx of %s (source: %s); %u checks agree, %u do not",
		     (int)t->pid, (unsigned long long)m->small, (unsigned long long)m->large,
		     (unsigned long long)m->nodes,
		     (unsigned long long)(h->memory.dups ? m->dups : 0), t->path,
		     t->how_memory ? t->how_memory : "file", h->check.seen.good, h->check.seen.bad);
	return true;
}

/* Act on what was found out since the last time.  Returns whether the row changed. */
static bool verify_hidden__conclude(struct verify_hidden *v, struct hidden_proof *h,
				    struct target *t)
{
	struct hidden_family *family = h->family;
	struct hidden_file *file = family->file;
	struct hidden_check *check = &h->check;
	struct xr_row supposed;
	bool changed;

	v->proofs += verdict__share(&check->bc, &family->bc, &file->bc_proven);
	v->proofs += verdict__share(&check->gc, &family->gc, &file->gc_proven);
	v->proofs += verdict__share(&check->count, &family->count, &file->count_proven);
	v->proofs += verdict__share(&check->memory, &family->memory, &file->memory_proven);
	h->proofs = v->proofs;
	changed = verify_hidden__conclude_bc(v, h, t);
	changed |= hidden_proof__conclude_gc(h, t);
	changed |= verify_hidden__conclude_count(v, h, t);
	changed |= verify_hidden__conclude_memory(v, h, t);
	supposed = hidden_proof__supposed(h, t);
	h->open = hidden_check__open(check, &supposed);
	return changed;
}

int verify_hidden__begin(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			 uint64_t now)
{
	struct xr_row *row = &t->row;

	*h = (struct hidden_proof){.opened_at = now, .due_at = now};
	if (!(row->flags & TARGET_HIDDEN))
		return 0;
	h->family = hidden_family__new(hidden_file__get(v, t));
	if (!h->family)
		return -ENOMEM;
	h->gc_at = row->gc_at;
	row->gc_at = 0;
	h->gc_count_at = row->gc_count_at;
	row->gc_count_at = 0;
	if (row->small_at && row->large_at && row->nodes_at && row->node_size)
		h->memory = (struct hidden_memory){row->small_at, row->large_at, row->nodes_at,
						   row->dups_at};
	row__set_memory(row, &(struct hidden_memory){0});
	if (t->srcref && row->layout.srcref && t->srcref != row->layout.srcref &&
	    (row->flags & XR_ROW_LINES)) {
		row->flags &= ~XR_ROW_LINES;
		notes__user(v->notes,
			    "process %d (%s): no source lines: in %s, R %s, srcref is at %u, not "
			    "at %u as in the table of layouts",
			    (int)t->pid, t->comm, t->path, t->version, t->srcref,
			    row->layout.srcref);
	}
	if (row->bc_body_at && row->bc_pc_at && how__certain(t->how_lines))
		h->check.bc = HIDDEN_PROVEN;
	if (h->gc_at && how__certain(t->how_gc))
		h->check.gc = HIDDEN_PROVEN;
	if (h->memory.small && how__certain(t->how_memory))
		h->check.memory = HIDDEN_PROVEN;
	verify_hidden__conclude(v, h, t);
	return 0;
}

void verify_hidden__inherit(struct hidden_proof *h, const struct hidden_proof *parent, uint64_t now)
{
	verify_hidden__end(h);
	*h = *parent;
	if (h->family)
		h->family->users++;
	h->opened_at = h->looked_at = h->due_at = now;
	h->idle = 0;
	h->unproven = 0;
	/* verdicts hold for both, but what was counted is of the parent alone */
	h->check = (struct hidden_check){
		.bc = parent->check.bc,
		.gc = parent->check.gc,
		.count = parent->check.count,
		.memory = parent->check.memory,
		.no_collection = parent->check.no_collection,
	};
}

void verify_hidden__end(struct hidden_proof *h)
{
	struct hidden_family *family = h->family;

	h->open = false;
	h->family = NULL;
	if (!family || --family->users)
		return;
	family->file->users--;
	free(family);
}

uint32_t *verify_hidden__said(const struct hidden_proof *h)
{
	return h->family->file->said;
}

uint64_t verify_hidden__due(const struct verify_hidden *v, const struct hidden_proof *h)
{
	uint64_t next = v->window_at + TURN_NS;

	if (!h->open)
		return 0;
	if (h->proofs != v->proofs)
		return 1;
	if (h->due_at < next && (v->looks >= LOOKS_MAX || (h->family->window_at == v->window_at &&
							   h->family->looks >= FAMILY_LOOKS_MAX)))
		return next;
	return h->due_at;
}

void verify_hidden__runs(struct hidden_proof *h)
{
	if (!h->open || h->idle <= IDLE_RUNNING)
		return;
	h->idle = IDLE_RUNNING;
	h->due_at = h->looked_at + (TURN_NS << IDLE_RUNNING);
}

/* How many of @looks there may be now; they are taken as done. */
static unsigned int verify_hidden__take(struct verify_hidden *v, struct hidden_proof *h,
					unsigned int looks, uint64_t now)
{
	struct hidden_family *family = h->family;

	if (now - v->window_at >= TURN_NS) {
		v->window_at = now;
		v->looks = 0;
	}
	if (family->window_at != v->window_at) {
		family->window_at = v->window_at;
		family->looks = 0;
	}
	if (!looks || verify_hidden__due(v, h) > now)
		return 0;
	v->looks += looks;
	family->looks += looks;
	return looks;
}

/* What @h saw since @before is its family's. */
static void verify_hidden__add_up(struct hidden_proof *h, const struct hidden_check *before,
				  uint64_t now)
{
	struct hidden_tally *all = &h->family->tally;
	const struct hidden_tally *mine = &h->check.tally, *had = &before->tally;
	uint64_t turn = now - h->opened_at;
	/* a collection will end, and its flag is wanted then */
	bool told =
		mine->good + mine->bad != had->good + had->bad ||
		h->check.seen.good + h->check.seen.bad != before->seen.good + before->seen.bad ||
		h->check.seen.collection != before->seen.collection || /* it runs */
		(h->gc_at && h->check.gc == HIDDEN_OPEN && h->check.flag);

	all->good += mine->good - had->good;
	all->bad += mine->bad - had->bad;
	all->contexts += mine->contexts - had->contexts;
	if (h->family->bc == HIDDEN_OPEN)
		h->check.bc = hidden_check__judge(all);
	if (turn < TURN_MIN_NS)
		turn = TURN_MIN_NS;
	if (turn >= TURN_NS) {
		h->idle = told ? 0 : h->idle + (h->idle < IDLE_MAX);
		turn = TURN_NS << h->idle;
	}
	h->looked_at = now;
	h->due_at = now + turn;
}

bool verify_hidden__advance(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			    unsigned int looks, uint64_t now, struct ask *q)
{
	bool changed;

	if (!h->open)
		return false;
	changed = verify_hidden__conclude(v, h, t);
	h->completed |= changed;
	q->looks = h->open ? verify_hidden__take(v, h, looks, now) : 0;
	if (!q->looks)
		return changed;
	q->check = h->check;
	q->target = *t;
	q->target.row = hidden_proof__supposed(h, t);
	return changed;
}

bool verify_hidden__answered(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			     const struct ask *answer, uint64_t now)
{
	struct hidden_check before = h->check;
	bool changed;

	if (!h->open)
		return false;
	if (!answer->err)
		h->check = answer->check;
	verify_hidden__add_up(h, &before, now);
	changed = verify_hidden__conclude(v, h, t);
	/* what cannot be read once never can, unless no worker tried */
	h->open = h->open && (!answer->err || answer->err == -EBUSY);
	h->completed |= changed;
	return changed;
}

bool verify_hidden__worth_waiting(const struct hidden_proof *h, const struct target *t,
				  uint64_t now)
{
	struct proc p;

	if (!h->open || now - h->opened_at >= FIRST_NS)
		return false;
	/* the state is the first thread's, which need not be R's */
	return h->check.looks < IDLE_LOOKS ||
	       (!proc__read(t->pid, &p) && (p.state == 'R' || p.threads > 1));
}

void verify_hidden__free(struct verify_hidden *v)
{
	struct hidden_file *f;

	while ((f = v->files)) {
		v->files = f->next;
		free(f);
	}
}
