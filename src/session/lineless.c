/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/lineless.h"

static bool stack__has_line(const struct stack *stack)
{
	if (stack->top.file)
		return true;
	for (uint32_t i = 0; i < stack->nframes; i++)
		if (stack->frames[i]->place.file)
			return true;
	return false;
}

static void lineless__say(struct lineless *l, const struct notes *notes, uint32_t *said,
			  uint32_t pid, const char *comm)
{
	l->over = true;
	if (*said >= LINELESS_SAID)
		return;
	++*said;
	notes__user(notes,
		    "process %u (%s): no source lines in %u sample%s: its code has no source "
		    "references. R keeps them for code that it reads after options(keep.source = "
		    "TRUE), and for packages installed with R_KEEP_PKG_SOURCE=yes%s",
		    pid, comm, l->samples, l->samples == 1 ? "" : "s",
		    *said == LINELESS_SAID ? "; more processes are not named" : "");
}

void lineless__sample(struct lineless *l, const struct notes *notes, uint32_t *said, uint32_t pid,
		      const char *comm, const struct stack *stack)
{
	if (l->over || stack__is_toplevel(stack))
		return;
	if (stack__has_line(stack))
		l->over = true;
	else if (++l->samples == LINELESS_SAMPLES)
		lineless__say(l, notes, said, pid, comm);
}

void lineless__end(struct lineless *l, const struct notes *notes, uint32_t *said, uint32_t pid,
		   const char *comm)
{
	if (!l->over && l->samples)
		lineless__say(l, notes, said, pid, comm);
}
