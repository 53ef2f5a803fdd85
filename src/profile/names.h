/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of frames: from the forms of abi.h to text, and escaping for the formats.
 */
#ifndef XR_PROFILE_NAMES_H
#define XR_PROFILE_NAMES_H

#include "abi.h"
#include "base/buf.h"

/*
 * name__render - append to @b the name R's profiler gives a frame.
 *
 * @word, @more: the texts of the slot's two words, NULL where the form has none.
 * @number: the slot's second word for the forms that hold a number there.
 * Returns 0, -ENOMEM, or -EINVAL for a form that is not a name.
 *
 * R's limits are not copied: until R 4.4 a name was cut at 498 bytes and frames past 10,000 bytes
 * of line were left out, from 4.5 on a line past 10,500 bytes loses the whole sample (eval.c,
 * doprof()); here all of it is shown.  A real subscript is written by %.0f, as R until 4.4 does;
 * R 4.5 and later write its integer part, and NA, NaN and Inf so spelt.  The record does not say
 * which R it comes from; both agree on every subscript that is a whole number.
 */
int name__render(struct buf *b, enum xr_form form, const char *word, const char *more,
		 uint64_t number);

/*
 * name__escape - append @name to @b so that it cannot break the format or act on a terminal.
 * @also: characters to escape on top of that, the format's own; "" is allowed.
 *
 * Valid UTF-8 passes.  Control characters (C0, DEL, C1), bytes that are not UTF-8 and those of
 * @also become \n, \r, \t or \xNN.  A backslash is doubled only where it would read as the
 * start of one of these, so that names without any of this, all but hostile ones, are written byte
 * for byte as R does (R escapes nothing), and different names stay different.
 *
 * A double quote in @also spares the two quotes R itself puts into `a[["b"]]`.  It becomes \x22
 * and not \": no reader of these files knows escapes, so no quote may be left.
 */
int name__escape(struct buf *b, const char *name, const char *also);

#endif
