/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/advice.h"

#include <string.h>

#include "base/clock.h"
#include "base/map.h"

#define SAID_MAX 3u /* processes that have a line; the others are only counted */

#define WAITED_NS   NS_PER_S
#define WAITED_PART 10u /* on the CPU less than this part of the time */

/* A proof takes some dozen milliseconds of byte code; this is a second at 99 Hz. */
#define UNPROVEN_MIN 100u

/* --- processes that waited --- */

/* Was it off the CPU nearly all the time, for long enough to judge? */
static bool verdict__waited(const struct cpu_use *u)
{
	return cpu_use__elapsed(u) >= WAITED_NS &&
	       cpu_use__used(u) < cpu_use__elapsed(u) / WAITED_PART;
}

void verdict__add(struct verdict *v, const struct notes *notes, const struct cpu_use *u,
		  uint32_t pid, const char *comm, bool named)
{
	const double used = (double)cpu_use__used(u) / (double)NS_PER_S;
	const double elapsed = (double)cpu_use__elapsed(u) / (double)NS_PER_S;

	v->processes++;
	v->cpu_ns += cpu_use__used(u);
	if (!verdict__waited(u))
		return;
	if (u->stopped && named) {
		notes__user(notes,
			    "process %u (%s) is stopped, by a signal (SIGSTOP) or a debugger: it "
			    "used %.2f s of CPU in %.2f s; kill -CONT %u resumes it",
			    pid, comm, used, elapsed, pid);
		return;
	}
	v->waited++;
	if (!named || v->said == SAID_MAX)
		return;
	v->said++;
	notes__user(notes,
		    "process %u (%s) used %.2f s of CPU in %.2f s and waited the rest; --clock "
		    "wall shows where",
		    pid, comm, used, elapsed);
}

void verdict__end(const struct verdict *v, const struct notes *notes)
{
	if (v->waited > v->said)
		notes__user(notes,
			    "%u%s of %u %s used less than a tenth of a CPU and waited the rest; "
			    "--clock wall shows where",
			    v->waited - v->said, v->said ? " more" : "", v->processes,
			    count__word(v->processes, "process", "processes"));
}

/* --- code without source references --- */

static bool stack__has_line(const struct stack *stack)
{
	if (stack->top.file)
		return true;
	for (uint32_t i = 0; i < stack->nframes; i++)
		if (stack->frames[i]->place.file)
			return true;
	return false;
}

static void advice__no_lines(struct advice *a, struct process *p)
{
	p->lines_settled = true;
	if (a->lineless >= SAID_MAX)
		return;
	a->lineless++;
	notes__user(a->notes,
		    "process %u (%s): no source lines in %u %s: its code has no source "
		    "references. R keeps them for a script that source(FILE, keep.source = TRUE) "
		    "runs, for code that it reads after options(keep.source = TRUE), and for "
		    "packages installed with R_KEEP_PKG_SOURCE=yes%s",
		    p->pid, p->comm, p->without_lines,
		    count__word(p->without_lines, "sample", "samples"),
		    a->lineless == SAID_MAX ? "; more processes are not named" : "");
}

void advice__lines(struct advice *a, struct process *p, const struct stack *stack)
{
	if (p->lines_settled || stack__is_toplevel(stack))
		return;
	if (stack__has_line(stack))
		p->lines_settled = true;
	else if (++p->without_lines == LINELESS_SAMPLES)
		advice__no_lines(a, p);
}

void advice__lines_end(struct advice *a, struct process *p)
{
	if (!p->lines_settled && p->without_lines)
		advice__no_lines(a, p);
}

/* --- releases of R --- */

void advice__unlisted(struct advice *a, const struct process *p, const struct layout_found *found,
		      bool lines)
{
	const bool no_lines = lines && !found->lines;
	const char *version = p->target.version[0] ? p->target.version : "of unknown version";
	const uint64_t which = map__hash_bytes(version, strlen(version)) << 2 |
			       (uint64_t)(found->shift != 0) << 1 | no_lines;
	bool known = false;

	for (size_t i = 0; i < ADVICE_UNLISTED; i++)
		known |= a->unlisted[i] == which;
	if (!known)
		a->unlisted[a->nunlisted++ % ADVICE_UNLISTED] = which;
	(known ? notes__debug : notes__user)(a->notes,
					     "R %s (process %u) is not in the table of layouts: "
					     "the newest layout in it fits%s%s",
					     version, p->pid, found->shift ? " when shifted" : "",
					     no_lines ? ", except for source lines" : "");
}

/* --- hidden variables --- */

/* What one option needs of a process. */
struct need {
	bool wanted, found, in_use;
	enum lines_verdict verdict;
};

static struct need need__of(const struct process *p, enum hidden_thing thing)
{
	const struct hidden_proof *h = &p->hidden;
	const struct xr_row *row = &p->target.row;

	switch (thing) {
	case HIDDEN_LINES:
		return (struct need){row->flags & XR_ROW_LINES && row->in_bc && row->layout.bcbody,
				     row->bc_body_at && row->bc_pc_at, row->flags & XR_ROW_BC,
				     h->check.bc};
	case HIDDEN_GC:
		return (struct need){row->flags & XR_ROW_GC, h->gc_at, row->gc_at, h->check.gc};
	default:
		return (struct need){row->flags & (XR_ROW_MEMORY | XR_ROW_COLLECTIONS),
				     h->memory.small, row->small_at, h->check.memory};
	}
}

/* What is missing without the variables of @thing. */
static const char *need__effect(const struct target *t, enum hidden_thing thing, bool by_code)
{
	switch (thing) {
	case HIDDEN_LINES:
		return "byte-compiled functions have no innermost line, their callers have lines";
	case HIDDEN_GC:
		return t->row.gc_begin && by_code ? "GC marks are missing where the collector "
						    "calls another function"
						  : "no GC marks";
	default:
		return t->row.flags & XR_ROW_COLLECTIONS
			       ? "no memory counts, nothing for --event gc"
			       : "no memory counts";
	}
}

/* Print that the variables of @thing are not available: @how they are.  Once for a process. */
static void advice__missing(const struct advice *a, struct process *p, enum hidden_thing thing,
			    const char *how, bool by_code)
{
	static const char *const names[HIDDEN_THINGS] = {
		[HIDDEN_LINES] = "R_BCbody and R_BCpc",
		[HIDDEN_GC] = "the flag that R's collector is running",
		[HIDDEN_MEMORY] = "R_SmallVallocSize, R_LargeVallocSize and R_NodesInUse",
	};
	uint32_t *said = &verify_hidden__said(&p->hidden)[thing];

	p->hidden.said[thing] = true;
	if (*said >= SAID_MAX)
		return;
	++*said;
	notes__user(a->notes, "process %d (%s): %s: %s %s in %s%s", (int)p->target.pid,
		    p->target.comm, need__effect(&p->target, thing, by_code), names[thing], how,
		    p->target.path,
		    *said == SAID_MAX ? "; more processes of this file are only counted" : "");
}

void advice__hidden(const struct advice *a, struct process *p, bool by_code)
{
	for (enum hidden_thing i = 0; p->hidden.family && i < HIDDEN_THINGS; i++) {
		const struct need need = need__of(p, i);

		if (!need.wanted || p->hidden.said[i])
			continue;
		if (!need.found)
			advice__missing(a, p, i,
					i == HIDDEN_GC ? "was not found" : "were not found",
					by_code);
		else if (need.verdict == HIDDEN_REFUTED)
			advice__missing(a, p, i,
					i == HIDDEN_GC ? "was found at a wrong address"
						       : "were found at wrong addresses",
					by_code);
	}
}

void advice__unproven(const struct advice *a, struct process *p)
{
	struct hidden_proof *h = &p->hidden;

	if (++h->unproven == UNPROVEN_MIN && h->family && h->check.bc == HIDDEN_OPEN &&
	    need__of(p, HIDDEN_LINES).found && !h->said[HIDDEN_LINES])
		advice__missing(a, p, HIDDEN_LINES, "are not confirmed yet", false);
}

void advice__count_hidden(const struct process *p, bool by_code, bool settled,
			  struct hidden_stats *s)
{
	uint64_t *const counts[HIDDEN_THINGS][3] = {
		[HIDDEN_LINES] = {&s->lines_proven, &s->lines_unproven, &s->lines_none},
		[HIDDEN_GC] = {&s->gc_proven, &s->gc_code, &s->gc_none},
		[HIDDEN_MEMORY] = {&s->memory_proven, &s->memory_unproven, &s->memory_none},
	};

	s->lines_incomplete += p->hidden.unproven;
	for (enum hidden_thing i = 0; p->hidden.family && i < HIDDEN_THINGS; i++) {
		const struct need need = need__of(p, i);
		bool partly = need.found && need.verdict != HIDDEN_REFUTED;

		if (i == HIDDEN_GC) /* where the collector's own code is executed */
			partly = p->target.row.gc_begin && by_code;
		if (settled && need.found && !need.in_use && need.verdict == HIDDEN_OPEN)
			continue;
		if (need.wanted)
			++*counts[i][need.in_use ? 0 : partly ? 1 : 2];
	}
}
