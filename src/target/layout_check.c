/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/layout_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "sexp.h"
#include "base/clock.h"
#include "base/version.h"
#include "os/proc.h"

/* RCNTXT.callflag, Defn.h: one byte of flags */
#define CALLFLAG_MAX 255u

/* What an object that cannot be read has for its type. */
#define TYPE_NONE (R_TYPE_MASK + 1)

#define CHAIN_MAX  32768u /* contexts followed to the end of the chain */
#define LOOK_MAX   32u	  /* of them, the outermost, looked at closely: they stay for longest */
#define LOOKS	   24u	  /* looks at the chain */
#define LOOKS_GOOD 4u	  /* of which this number must be without fault */
#define CONTEXT_MIN                                                                                \
	32u /* where the field `sysparent` can begin: after callflag and a jump buffer */

/*
 * A candidate: sysparent at @base, call and cloenv in the two words behind it, and callfun in the
 * one before, as in all releases from 3.0 on (RCNTXT: promargs, callfun, sysparent, call, cloenv).
 */
struct candidate {
	uint16_t base;
	unsigned int good, bad; /* looks */
};

struct checker {
	const struct mem_reader *m;
	void (*pause)(void *arg);
	const struct xr_row *row;
	struct candidate candidates[XR_CONTEXT_MAX / 8];
	size_t n;
	unsigned int contexts; /* that kept the rules of the first candidate */
	unsigned int lines_good, lines_bad;
	unsigned int data_good[2]; /* names that fit with vector data at 40 and at 48 */
};

static int mem__read(const struct checker *c, uint64_t addr, void *to, size_t len)
{
	if (!addr || addr % 8)
		return -EFAULT;
	return mem_reader__read(c->m, addr, to, len);
}

/* SEXPTYPE of the object at @addr, or TYPE_NONE. */
static unsigned int mem__type(const struct checker *c, uint64_t addr)
{
	uint32_t head;

	return mem__read(c, addr, &head, sizeof(head)) ? TYPE_NONE : head & R_TYPE_MASK;
}

static uint64_t word(const uint8_t *context, size_t at)
{
	uint64_t value;

	memcpy(&value, context + at, sizeof(value));
	return value;
}

/*
 * Follow the chain from R_GlobalContext to its end; @last gets the outermost contexts, innermost of
 * these first.  Returns their number, 0 for a chain that does not end as R's does or changed while
 * it was followed, or a negative errno.
 */
static int chain__follow(const struct checker *c, uint64_t last[LOOK_MAX])
{
	uint64_t head[2], at, ring[LOOK_MAX];
	unsigned int n = 0, kept;
	int err;

	err = mem__read(c, c->row->head_at, &at, sizeof(at));
	if (err)
		return err;
	for (;;) {
		if (n == CHAIN_MAX || mem__read(c, at, head, sizeof(head)))
			return 0;
		if ((uint32_t)head[1] > CALLFLAG_MAX)
			return 0;
		ring[n++ % LOOK_MAX] = at;
		if (!head[0])
			break;
		at = head[0];
	}
	if ((uint32_t)head[1] != 0)
		return 0;
	kept = n < LOOK_MAX ? n : LOOK_MAX;
	for (unsigned int i = 0; i < kept; i++)
		last[i] = ring[(n - kept + i) % LOOK_MAX];
	return (int)kept;
}

/*
 * Does the context of a function keep the rules if its fields lie at @base?  eval() has such a
 * context, too, with itself, a builtin, for the function (eval.c, do_eval(); objects.c,
 * dispatchMethod()).
 */
static bool context__fits(const struct checker *c, const uint8_t *context, uint16_t base)
{
	unsigned int fun = mem__type(c, word(context, base - 8)), call;

	if ((fun != R_CLOSXP && fun != R_SPECIALSXP && fun != R_BUILTINSXP) ||
	    mem__type(c, word(context, base)) != R_ENVSXP ||
	    mem__type(c, word(context, base + 16)) != R_ENVSXP)
		return false;
	call = mem__type(c, word(context, base + 8));
	return call == R_LANGSXP || call == R_NILSXP;
}

/* A place of a call: none, the marker for byte code, or a srcref (INTSXP). */
static void context__lines(struct checker *c, const uint8_t *context)
{
	uint64_t srcref = word(context, c->row->layout.srcref);

	if (!srcref || srcref == c->row->nil)
		return;
	if (srcref == c->row->in_bc || mem__type(c, srcref) == R_INTSXP)
		c->lines_good++;
	else
		c->lines_bad++;
}

/* Where the data of vectors begins: the name of the function called is terminated there. */
static void context__name(struct checker *c, const uint8_t *context, uint16_t base)
{
	static const uint16_t at[2] = {40, 48};
	uint64_t cell[R_CELL_WORDS], sym[R_CELL_WORDS], chars[R_CAR + 1];
	char text[64];

	if (mem__read(c, word(context, base + 8), cell, sizeof(cell)) ||
	    mem__read(c, cell[R_CAR], sym, sizeof(sym)) ||
	    ((uint32_t)sym[0] & R_TYPE_MASK) != R_SYMSXP ||
	    mem__read(c, sym[R_CAR], chars, sizeof(chars)) ||
	    ((uint32_t)chars[0] & R_TYPE_MASK) != R_CHARSXP)
		return;
	chars[R_CAR] &= UINT32_MAX;
	if (!chars[R_CAR] || chars[R_CAR] >= sizeof(text))
		return;
	for (int i = 0; i < 2; i++)
		if (!mem__read(c, sym[R_CAR] + at[i], text, chars[R_CAR] + 1) &&
		    strnlen(text, chars[R_CAR] + 1) == chars[R_CAR])
			c->data_good[i]++;
}

/*
 * One look: each candidate is judged by all contexts of closures that did not change while they
 * were looked at.  Returns how many there were, or a negative errno.
 */
static int checker__look(struct checker *c)
{
	uint8_t before[XR_CONTEXT_MAX], after[XR_CONTEXT_MAX];
	bool fits[XR_CONTEXT_MAX / 8];
	uint64_t last[LOOK_MAX];
	int n = chain__follow(c, last), seen = 0;
	size_t len = XR_CONTEXT_MAX;

	if (n <= 0)
		return n;
	memset(fits, 1, sizeof(fits));
	for (int i = 0; i < n; i++) {
		bool now[XR_CONTEXT_MAX / 8];

		if (mem__read(c, last[i], before, len))
			continue;
		/* FUNCTION, RETURN or GENERIC, not a toplevel one */
		if (!(word(before, 8) & R_CTXT_FUNCTION))
			continue;
		for (size_t k = 0; k < c->n; k++)
			now[k] = fits[k] && context__fits(c, before, c->candidates[k].base);
		if (now[0]) {
			if (c->row->layout.srcref)
				context__lines(c, before);
			context__name(c, before, c->candidates[0].base);
		}
		if (mem__read(c, last[i], after, len) || memcmp(before, after, len))
			continue;
		memcpy(fits, now, c->n * sizeof(*now));
		c->contexts += now[0];
		seen++;
	}
	for (size_t k = 0; seen && k < c->n; k++) {
		c->candidates[k].good += fits[k];
		c->candidates[k].bad += !fits[k];
	}
	return seen;
}

static bool candidate__fits(const struct candidate *k)
{
	return k->good >= LOOKS_GOOD && k->bad <= k->good / 4;
}

/*
 * Was it seen often enough not to fit?  A context that ends while it is looked at may break a rule
 * now and then; of an R that just begins only a few looks may find any function.
 */
static bool candidate__refuted(const struct candidate *k)
{
	return k->bad >= LOOKS_GOOD && k->bad > k->good;
}

/* Look until candidate 0 is settled, or as often as that is sensible. */
static int checker__run(struct checker *c, struct layout_found *found)
{
	bool idle = true;
	int n = 0;

	for (unsigned int i = 0; i < LOOKS; i++) {
		n = checker__look(c);
		if (n < 0)
			return n;
		found->looks++;
		idle = idle && !n;
		if (c->candidates[0].good >= LOOKS_GOOD && !c->candidates[0].bad)
			break;
		/* at the prompt it will be so the next time, too: do not hold up others */
		if (idle && i >= 2)
			return -EAGAIN;
		c->pause(c->m->arg);
	}
	return idle ? -EAGAIN : 0;
}

/*
 * Move all fields behind the jump buffer by @shift bytes.  Those for lines are the last: if they
 * would be beyond what is read of a context, there are none.
 */
static void layout__shift(struct xr_layout *l, int shift)
{
	uint16_t *fields[] = {&l->read_plain, &l->read_lines, &l->callfun, &l->sysparent,
			      &l->call,	      &l->cloenv,     &l->bcbody,  &l->bcpc,
			      &l->relpc,      &l->srcref};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (*fields[i])
			*fields[i] = (uint16_t)(*fields[i] + shift);
	if (l->read_plain > XR_CONTEXT_MAX)
		l->read_plain = XR_CONTEXT_MAX;
	if (l->read_lines > XR_CONTEXT_MAX) {
		l->read_lines = XR_CONTEXT_MAX;
		l->bcbody = l->bcpc = l->relpc = l->srcref = 0;
	}
}

/* The one other place for the fields where they fit; 0: none, or several. */
static uint16_t checker__other(struct checker *c, struct layout_found *found)
{
	uint16_t base = 0;
	int err;

	c->n = 0;
	for (uint16_t at = CONTEXT_MIN; at <= XR_CONTEXT_MAX - 24; at += 8)
		c->candidates[c->n++] = (struct candidate){.base = at};
	err = checker__run(c, found);
	if (err)
		return 0;
	for (size_t k = 0; k < c->n; k++) {
		if (!candidate__fits(&c->candidates[k]))
			continue;
		if (base)
			return 0;
		base = c->candidates[k].base;
	}
	return base;
}

/* Candidate 0 fits: take over what else was seen. */
static void checker__finish(struct checker *c, struct xr_row *row, struct layout_found *found)
{
	found->contexts = c->contexts;
	if (c->data_good[0] && !c->data_good[1])
		row->layout.vector_data = 40;
	else if (c->data_good[1] && !c->data_good[0])
		row->layout.vector_data = 48;
	row->layout.has_altrep = row->layout.vector_data == 48;
	found->lines = c->lines_good && !c->lines_bad;
	if (!found->lines)
		row->flags &= ~(XR_ROW_LINES | XR_ROW_BC);
}

int layout_check__run(struct xr_row *row, const struct mem_reader *memory, void (*pause)(void *arg),
		      struct layout_found *found, struct errmsg *f)
{
	struct checker c = {.m = memory, .pause = pause, .row = row, .n = 1};
	uint16_t base = row->layout.sysparent;
	int err;

	memset(found, 0, sizeof(*found));
	c.candidates[0].base = base;
	err = checker__run(&c, found);
	if (err == -EAGAIN)
		return errmsg__set(f, err,
				   "process %u: unknown version of R, and no function is being "
				   "called, so its layout cannot be checked",
				   row->pid);
	if (err)
		return errmsg__set(f, err, "process %u: its contexts cannot be read: %s", row->pid,
				   strerror(-err));
	if (!candidate__fits(&c.candidates[0])) {
		if (!candidate__refuted(&c.candidates[0]))
			return errmsg__set(f, -EAGAIN,
					   "process %u: unknown version of R, and too few function "
					   "calls were seen to check its layout",
					   row->pid);
		base = checker__other(&c, found);
		if (!base)
			return errmsg__set(f, -ENOTSUP,
					   "process %u: unknown version of R whose contexts match "
					   "no known layout: use a newer %s",
					   row->pid, XR_PROGRAM);
		found->shift = base - row->layout.sysparent;
		layout__shift(&row->layout, found->shift);
		/* again at the place found: what else depends on it */
		c = (struct checker){.m = memory, .pause = pause, .row = row, .n = 1};
		c.candidates[0].base = base;
		err = checker__run(&c, found);
		if (err || !candidate__fits(&c.candidates[0]))
			return errmsg__set(f, -EAGAIN,
					   "process %u: its layout could not be confirmed",
					   row->pid);
	}
	checker__finish(&c, row, found);
	return 0;
}

static void process__pause(void *arg)
{
	struct timespec ms = {.tv_nsec = NS_PER_MS};

	(void)arg;
	nanosleep(&ms, NULL);
}

int layout_check__process(struct xr_row *row, struct layout_found *found, struct errmsg *f)
{
	struct mem_reader memory = proc__reader((pid_t)row->pid);

	return layout_check__run(row, &memory, process__pause, found, f);
}
