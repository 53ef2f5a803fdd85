/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of frames: from the forms of abi.h to text.
 */
#ifndef XR_PROFILE_NAMES_H
#define XR_PROFILE_NAMES_H

#include "abi.h"
#include "base/buf.h"

/* What is around the name of a builtin where it is told from other code, as R deparses it. */
#define PPROF_BUILTIN	  ".Primitive(\""
#define PPROF_BUILTIN_END "\")"

#define KERNEL_MODULE "[kernel.kallsyms]" /* as perf has it */

/*
 * name__render - append to @b the name R's profiler gives a frame.
 *
 * @word, @more: the texts of the slot's two words, NULL where the form has none.
 * @number: the slot's second word for the forms that hold a number there.
 * Returns 0, -ENOMEM, or -EINVAL for a form that is not a name.
 *
 * R's limits are not copied: until R 4.4 a name was cut at 498 bytes and frames past 10,000 bytes
 * of line were left out, from 4.5 on a line past 10,500 bytes loses the whole sample (eval.c,
 * doprof()); here all of it is shown.  A real subscript is written by %.0f, as R until 4.2 does;
 * for the R that write its integer part (layout.h, real_whole) the walk has taken the fraction off.
 */
int name__render(struct buf *b, enum xr_form form, const char *word, const char *more,
		 uint64_t number);

/*
 * code_name__make - append to @b what code is called that was in no file: srcfile number @n of
 * those that R calls @r_name, "" or "<text>".  `<console>`, `<text>`, `<text>#2`.  -ENOMEM.
 */
int code_name__make(struct buf *b, const char *r_name, uint32_t n);

/*
 * code_name__r - the bytes of @name that are R's own name of the file: of one that code_name__make
 * made those that it was made of.
 */
size_t code_name__r(const char *name, size_t len);

#endif
