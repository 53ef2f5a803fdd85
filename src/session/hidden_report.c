/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/hidden_report.h"

#define SAID_MAX 3u /* processes of a file; the others are only counted */

/* A proof takes some dozen milliseconds of byte code; this is a second at 99 Hz. */
#define UNPROVEN_MIN 100u

static bool lines__wanted(const struct target *t)
{
	return t->row.flags & XR_ROW_LINES && t->row.in_bc && t->row.layout.bcbody;
}

static bool lines__found(const struct target *t)
{
	return t->row.bc_body_at && t->row.bc_pc_at;
}

/* May one more process of the file be spoken of?  The last one gets @more. */
static bool said__more(uint32_t *said, const char **more)
{
	if (*said >= SAID_MAX)
		return false;
	*more = ++*said == SAID_MAX ? "; more processes of this file are only counted" : "";
	return true;
}

static void hidden_report__lines(const struct notes *notes, struct hidden_proof *h,
				 const struct target *t, const char *why)
{
	const char *more;

	h->lines_said = true;
	if (said__more(verify_hidden__lines_said(h), &more))
		notes__user(notes,
			    "process %d (%s): byte-compiled functions have no innermost line, "
			    "their callers have lines: %s in %s%s",
			    (int)t->pid, t->comm, why, t->path, more);
}

static void hidden_report__gc(const struct notes *notes, struct hidden_proof *h,
			      const struct target *t, const char *why, bool by_code)
{
	const char *more;

	h->gc_said = true;
	if (said__more(verify_hidden__gc_said(h), &more))
		notes__user(notes, "process %d (%s): %s: %s %s%s", (int)t->pid, t->comm,
			    t->row.gc_begin && by_code
				    ? "GC marks are missing where the collector calls another "
				      "function"
				    : "no GC marks",
			    why, t->path, more);
}

static bool memory__wanted(const struct target *t)
{
	return t->row.flags & (XR_ROW_MEMORY | XR_ROW_COLLECTIONS);
}

static void hidden_report__memory(const struct notes *notes, struct hidden_proof *h,
				  const struct target *t, const char *why)
{
	const char *more;

	h->memory_said = true;
	if (said__more(verify_hidden__memory_said(h), &more))
		notes__user(notes, "process %d (%s): no memory counts%s: %s %s%s", (int)t->pid,
			    t->comm,
			    t->row.flags & XR_ROW_COLLECTIONS ? ", nothing for --event gc" : "",
			    why, t->path, more);
}

void hidden_report__say(const struct notes *notes, struct hidden_proof *h, const struct target *t,
			bool by_code)
{
	if (!h->family)
		return;
	if (lines__wanted(t) && !h->lines_said) {
		if (!lines__found(t))
			hidden_report__lines(notes, h, t, "R_BCbody and R_BCpc were not found");
		else if (h->check.bc == HIDDEN_REFUTED)
			hidden_report__lines(notes, h, t,
					     "R_BCbody and R_BCpc were found at wrong addresses");
	}
	if (t->row.flags & XR_ROW_GC && !h->gc_said) {
		if (!h->gc_at)
			hidden_report__gc(notes, h, t,
					  "the flag that R's collector is running was not found in",
					  by_code);
		else if (h->check.gc == HIDDEN_REFUTED)
			hidden_report__gc(notes, h, t,
					  "the flag that R's collector is running was found at a "
					  "wrong address in",
					  by_code);
	}
	if (memory__wanted(t) && !h->memory_said) {
		if (!h->memory.small)
			hidden_report__memory(notes, h, t,
					      "R_SmallVallocSize, R_LargeVallocSize and "
					      "R_NodesInUse were not found in");
		else if (h->check.memory == HIDDEN_REFUTED)
			hidden_report__memory(notes, h, t,
					      "R_SmallVallocSize, R_LargeVallocSize and "
					      "R_NodesInUse were found at wrong addresses in");
	}
}

void hidden_report__sample(const struct notes *notes, struct hidden_proof *h,
			   const struct target *t)
{
	if (++h->unproven == UNPROVEN_MIN && h->family && h->check.bc == HIDDEN_OPEN &&
	    lines__found(t) && !h->lines_said)
		hidden_report__lines(notes, h, t, "R_BCbody and R_BCpc are not confirmed yet");
}

void hidden_report__count(const struct hidden_proof *h, const struct target *t, bool by_code,
			  struct hidden_stats *s)
{
	if (h->unproven) {
		s->lines_incomplete += h->unproven;
		s->incomplete_processes++;
	}
	if (!h->family)
		return;
	if (lines__wanted(t)) {
		if (t->row.flags & XR_ROW_BC)
			s->lines_proven++;
		else if (lines__found(t) && h->check.bc != HIDDEN_REFUTED)
			s->lines_unproven++;
		else
			s->lines_none++;
	}
	if (t->row.flags & XR_ROW_GC) {
		if (t->row.gc_at)
			s->gc_proven++;
		else if (t->row.gc_begin && by_code)
			s->gc_code++;
		else
			s->gc_none++;
	}
	if (memory__wanted(t)) {
		if (t->row.small_at)
			s->memory_proven++;
		else if (h->memory.small && h->check.memory != HIDDEN_REFUTED)
			s->memory_unproven++;
		else
			s->memory_none++;
	}
}
