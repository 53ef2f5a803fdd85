/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/hidden_check.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "sexp.h"

#define GOOD_MIN	10u	     /* looks that must have been good */
#define BAD_SHARE	4u	     /* good looks for each bad one, at least */
#define BAD_MAX		30u	     /* bad looks that refute, if the share is too large */
#define CONTEXTS_MAX	8u	     /* of the innermost contexts, in one look */
#define COUNT_MAX	(1 << 30)    /* collections */
#define GC_MAX		200u	     /* collections in which the flag was 1, and never 0 between */
#define MEMORY_GOOD_MIN 4u	     /* looks in which counts of memory had grown */
#define MEMORY_MAX	(1ULL << 48) /* bytes: more than a process can have */
#define PAUSE_NS	200000	     /* between two looks at counts of memory */
#define NODES_MIN	10000u	     /* R has 50,000 when it began, without any package but base */

/* A look counts only if this is the same before and after it. */
struct state {
	uint64_t head, srcref, body, pc_at;
};

static int word__read(const struct mem_reader *m, uint64_t addr, uint64_t *value)
{
	return mem_reader__read(m, addr, value, sizeof(*value));
}

static int state__read(const struct xr_row *row, const struct mem_reader *m, struct state *s)
{
	int err = word__read(m, row->head_at, &s->head);

	if (!err)
		err = word__read(m, row->srcref_at, &s->srcref);
	if (!err)
		err = word__read(m, row->bc_body_at, &s->body);
	if (!err)
		err = word__read(m, row->bc_pc_at, &s->pc_at);
	return err;
}

/* Is @body a byte-code object?  Then where its code begins, and how long it is in bytes. */
static bool body__read(const struct xr_row *row, const struct mem_reader *m, uint64_t body,
		       uint64_t *code, uint64_t *size)
{
	uint64_t cell[R_CELL_WORDS], part[R_CELL_WORDS];

	if (body % 8 || mem_reader__read(m, body, cell, sizeof(cell)) ||
	    (cell[0] & R_TYPE_MASK) != R_BCODESXP)
		return false;
	if (cell[R_CDR] % 8 || mem_reader__read(m, cell[R_CDR], part, sizeof(part)) ||
	    (part[0] & R_TYPE_MASK) != R_VECSXP)
		return false;
	if (cell[R_CAR] % 8 || mem_reader__read(m, cell[R_CAR], part, sizeof(part)) ||
	    (part[0] & R_TYPE_MASK) != R_INTSXP)
		return false;
	*code = cell[R_CAR] + row->layout.vector_data;
	*size = (row->layout.vector_data < 48 ? part[R_CAR] & 0xffffffff : part[R_CAR]) * 4;
	return true;
}

static uint64_t context__field(const uint8_t *context, size_t at)
{
	uint64_t value;

	memcpy(&value, context + at, sizeof(value));
	return value;
}

/* How many of the innermost contexts byte code made; -1 if one of these has no byte code. */
static int contexts__check(const struct xr_row *row, const struct mem_reader *m, uint64_t at)
{
	const struct xr_layout *l = &row->layout;
	uint8_t context[XR_CONTEXT_MAX];
	uint64_t code, size, body;
	int n = 0;

	for (unsigned int i = 0; i < CONTEXTS_MAX && at; i++) {
		if (mem_reader__read(m, at, context, l->read_lines))
			return -1;
		at = context__field(context, l->nextcontext);
		if (context__field(context, l->srcref) != row->in_bc)
			continue;
		body = context__field(context, l->bcbody);
		if (!body)
			continue;
		if (!body__read(row, m, body, &code, &size))
			return -1;
		n++;
	}
	return n;
}

/* Look at byte code. 1: right; 0: wrong; -EAGAIN: no conclusion. */
static int bc__look(const struct xr_row *row, const struct mem_reader *m, uint32_t *contexts)
{
	uint64_t code = 0, size = 0, pc = 0;
	struct state before, after;
	bool right;
	int err, n;

	err = state__read(row, m, &before);
	if (err)
		return err == -ESRCH ? err : 0;
	if (before.srcref != row->in_bc)
		return -EAGAIN;
	right = body__read(row, m, before.body, &code, &size) && before.pc_at &&
		!word__read(m, before.pc_at, &pc);
	if (right && pc)
		right = pc >= code && pc - code < size && !((pc - code) % 8);
	n = contexts__check(row, m, before.head);
	err = state__read(row, m, &after);
	if (err == -ESRCH)
		return err;
	if (err || memcmp(&before, &after, sizeof(before)))
		return -EAGAIN;
	if (right && !pc) /* not begun */
		return -EAGAIN;
	if (right && n > 0)
		*contexts += (uint32_t)n;
	return right && n >= 0;
}

/*
 * The flag is 1.  A collection may take any time, so the duration proves nothing.  But looks come
 * at random moments: if all looks of very many collections find 1, the variable is not the flag. If
 * the number of collections is not known, there is no conclusion.
 */
static int gc__is_set(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m)
{
	int32_t count = 0;
	int err;

	if (!row->gc_count_at)
		return 0;
	err = mem_reader__read(m, row->gc_count_at, &count, sizeof(count));
	if (err || count == c->collection)
		return err == -ESRCH ? err : 0;
	c->collection = count;
	if (++c->in_collection > GC_MAX)
		c->gc = HIDDEN_REFUTED;
	return 0;
}

/* A process that is about to exec cannot be read for a moment.  An address that never can is wrong.
 */
static int gc__look(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m)
{
	uint32_t flag = 0;
	int err = mem_reader__read(m, row->gc_at, &flag, row->gc_size == 1 ? 1 : 4);

	if (err == -ESRCH)
		return err;
	if (err) {
		if (++c->unreadable >= BAD_MAX)
			c->gc = HIDDEN_REFUTED;
		return 0;
	}
	c->flag = flag;
	if (flag == 1)
		return gc__is_set(c, row, m);
	c->gc = flag ? HIDDEN_REFUTED : HIDDEN_PROVEN;
	return 0;
}

/*
 * The number is 0.  A collection marks all objects that it leaves (memory.c, RunGenCollect), so
 * R_GlobalEnv has no mark until the first one, which the number counts when it begins.
 */
static int count__is_zero(struct hidden_check *c, const struct xr_row *row,
			  const struct mem_reader *m)
{
	uint64_t header = 0;
	int32_t count = 0;
	int err;

	if (!row->global_env)
		return 0;
	err = word__read(m, row->global_env, &header);
	if (!err)
		err = mem_reader__read(m, row->gc_count_at, &count, sizeof(count));
	if (err || count)
		return err == -ESRCH ? err : 0;
	c->no_collection = !(header & R_MARK_BIT);
	if (!c->no_collection)
		c->count = HIDDEN_REFUTED;
	return 0;
}

static int count__look(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m)
{
	int32_t count = 0;
	int err = mem_reader__read(m, row->gc_count_at, &count, sizeof(count));

	if (err == -ESRCH)
		return err;
	if (err || count < c->last_count || count > COUNT_MAX)
		c->count = HIDDEN_REFUTED;
	else if (c->last_count)
		c->count = HIDDEN_PROVEN;
	else if (!count)
		err = count__is_zero(c, row, m);
	c->last_count = count;
	return err == -ESRCH ? err : 0;
}

/* Without an address in the row the value is 0. */
static int collector__read(const struct xr_row *row, const struct mem_reader *m, int32_t *count,
			   uint32_t *flag)
{
	int err = 0;

	*count = 0;
	*flag = 0;
	if (row->gc_count_at)
		err = mem_reader__read(m, row->gc_count_at, count, sizeof(*count));
	if (!err && row->gc_at)
		err = mem_reader__read(m, row->gc_at, flag, row->gc_size == 1 ? 1 : 4);
	return err;
}

static int memory__read(const struct xr_row *row, const struct mem_reader *m,
			struct hidden_memory_seen *now)
{
	int err = word__read(m, row->small_at, &now->small);

	if (!err)
		err = word__read(m, row->large_at, &now->large);
	if (!err)
		err = word__read(m, row->nodes_at, &now->nodes);
	return err;
}

/* Are these values possible? */
static bool memory__is_possible(const struct xr_row *row, const struct hidden_memory_seen *now)
{
	return now->small < MEMORY_MAX / 8 && now->large < MEMORY_MAX / 8 && row->node_size &&
	       now->nodes < MEMORY_MAX / row->node_size;
}

static int dups__look(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m)
{
	uint64_t dups = 0;
	int err;

	if (!row->dups_at || c->seen.no_dups)
		return 0;
	err = word__read(m, row->dups_at, &dups);
	if (err == -ESRCH)
		return err;
	c->seen.no_dups = err || dups > MEMORY_MAX;
	return 0;
}

/*
 * During a collection the counts are in pieces, so looks with the flag set are not counted.  Some
 * looks may be bad: the flag may not be known, and R sets it after the number of collections
 * (R_gc_internal(), memory.c).
 */
static int memory__look(struct hidden_check *c, const struct xr_row *row,
			const struct mem_reader *m)
{
	struct hidden_memory_seen now = c->seen, *had = &c->seen;
	uint32_t flag, flag_after;
	bool grew, fell;
	int32_t after;
	int err;

	err = collector__read(row, m, &now.collection, &flag);
	if (!err)
		err = memory__read(row, m, &now);
	if (err == -ESRCH)
		return err;
	if (err || !memory__is_possible(row, &now)) {
		had->bad++;
		goto out;
	}
	err = collector__read(row, m, &after, &flag_after);
	if (err == -ESRCH)
		return err;
	if (err || flag || flag_after || after != now.collection || now.nodes < NODES_MIN ||
	    !now.small || !now.large)
		return 0;
	grew = now.small > had->small || now.large > had->large || now.nodes > had->nodes;
	fell = now.small < had->small || now.large < had->large || now.nodes < had->nodes;
	if (had->nodes && now.collection == had->collection) {
		now.bad += fell;
		now.good += grew && !fell;
	}
	*had = now;
	err = dups__look(c, row, m);
	if (err)
		return err;
out:
	if (had->good >= MEMORY_GOOD_MIN && had->bad <= had->good / BAD_SHARE)
		c->memory = HIDDEN_PROVEN;
	else if (had->bad >= BAD_MAX && had->bad > had->good / BAD_SHARE)
		c->memory = HIDDEN_REFUTED;
	return 0;
}

static bool memory__wanted(const struct xr_row *row)
{
	return (row->flags & (XR_ROW_MEMORY | XR_ROW_COLLECTIONS)) && row->small_at &&
	       row->large_at && row->nodes_at;
}

static bool count__wanted(const struct xr_row *row)
{
	return (row->flags & (XR_ROW_LINES | XR_ROW_PACKAGES | XR_ROW_COLLECTIONS)) &&
	       row->gc_count_at;
}

static bool bc__wanted(const struct xr_row *row)
{
	return (row->flags & XR_ROW_LINES) && !(row->flags & XR_ROW_BC) && row->in_bc &&
	       row->bc_body_at && row->bc_pc_at && row->layout.bcbody && row->layout.srcref;
}

static bool gc__wanted(const struct xr_row *row)
{
	return (row->flags & (XR_ROW_GC | XR_ROW_COLLECTIONS)) && row->gc_at;
}

bool hidden_check__open(const struct hidden_check *c, const struct xr_row *row)
{
	return (c->bc == HIDDEN_OPEN && bc__wanted(row)) ||
	       (c->gc == HIDDEN_OPEN && gc__wanted(row)) ||
	       (c->count == HIDDEN_OPEN && count__wanted(row)) ||
	       (c->memory == HIDDEN_OPEN && memory__wanted(row));
}

int hidden_check__look(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m)
{
	int result;

	c->looks++;
	if (c->gc == HIDDEN_OPEN && gc__wanted(row)) {
		result = gc__look(c, row, m);
		if (result)
			return result;
	}
	if (c->count == HIDDEN_OPEN && count__wanted(row)) {
		result = count__look(c, row, m);
		if (result)
			return result;
	}
	if (c->memory == HIDDEN_OPEN && memory__wanted(row)) {
		result = memory__look(c, row, m);
		if (result)
			return result;
	}
	if (c->bc != HIDDEN_OPEN || !bc__wanted(row))
		return 0;
	result = bc__look(row, m, &c->tally.contexts);
	if (result < 0)
		return result == -EAGAIN ? 0 : result;
	c->tally.good += result == 1;
	c->tally.bad += result == 0;
	c->bc = hidden_check__judge(&c->tally);
	return 0;
}

/*
 * The counts grow when R allocates.  Looks that follow each other at once see no growth, and looks
 * far apart have a collection between them.
 */
static void hidden_check__pause(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

int hidden_check__run(struct hidden_check *c, const struct xr_row *row, const struct mem_reader *m,
		      unsigned int looks)
{
	int err = 0;

	for (unsigned int i = 0; i < looks && !err && hidden_check__open(c, row); i++) {
		if (i && c->memory == HIDDEN_OPEN && memory__wanted(row))
			hidden_check__pause();
		err = hidden_check__look(c, row, m);
	}
	return err;
}

enum lines_verdict hidden_check__judge(const struct hidden_tally *t)
{
	if (t->good >= GOOD_MIN && t->bad <= t->good / BAD_SHARE)
		return HIDDEN_PROVEN;
	if (t->bad >= BAD_MAX && t->bad > t->good / BAD_SHARE)
		return HIDDEN_REFUTED;
	return HIDDEN_OPEN;
}
