/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does a layout fit a running R?  For an R that is newer than the table of layouts, or a patched
 * one: its chain of contexts is looked at from outside, several times, and must keep R's own rules
 * (Defn.h, context.c): the outermost context is a toplevel one; in the context of a closure the
 * function is a CLOSXP (or a builtin, for eval()), the call a LANGSXP, both environments are
 * ENVSXPs.
 */
#ifndef XR_TARGET_LAYOUT_CHECK_H
#define XR_TARGET_LAYOUT_CHECK_H

#include <stdint.h>

#include "base/errmsg.h"
#include "base/mem_reader.h"
#include "layout.h"

/* What was found out. */
struct layout_found {
	unsigned int looks;    /* how often the chain was looked at */
	unsigned int contexts; /* contexts of closures that kept the rules */
	int shift; /* bytes by which the fields of the result lie behind those asked about */
	int lines; /* 1: places of calls can be read; 0: not known to be right, not used */
};

/*
 * layout_check__run - check @row->layout, and if it does not fit look for one that does: the same
 * fields at another offset.  On success @row->layout is the one that fits, and XR_ROW_LINES is
 * taken from @row->flags when the fields for lines could not be confirmed.  @memory reads the
 * target and @pause, called with its argument, lets the target run on for a moment.
 *
 * Returns 0; -EAGAIN when R calls no function now, or was seen in too few for a verdict; -ENOTSUP
 * when no layout fits, or more than one; -ESRCH or another error of reading when even the first
 * context cannot be read.
 */
int layout_check__run(struct xr_row *row, const struct mem_reader *memory, void (*pause)(void *arg),
		      struct layout_found *found, struct errmsg *f);

/* layout_check__process - the same for the live process of @row->pid. */
int layout_check__process(struct xr_row *row, struct layout_found *found, struct errmsg *f);

#endif
