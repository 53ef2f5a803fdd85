/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What frames are called: R's names for them, and the labels that people read, with the package in
 * front, and how readers take these apart again.  Formats escape what their syntax needs.
 */
#ifndef XR_PROFILE_NAMES_H
#define XR_PROFILE_NAMES_H

#include "abi.h"
#include "base/buf.h"
#include "profile/profile.h"

/* Around the name of a builtin, as R deparses it: distinguishes it from other code. */
#define PPROF_BUILTIN	  ".Primitive(\""
#define PPROF_BUILTIN_END "\")"

#define PPROF_GIVEN "label" /* the comments that say which labels the R program gave */

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

/*
 * A frame's name: the `safe` or the `field` form of base/intern.h.  A function whose name is
 * reserved (profile.h), `<GC>`, has its first character escaped, `\\x3cGC>`.
 * frame__name_size - its bytes.  frame__name - append it.
 */
enum name_form { NAME_SAFE, NAME_FIELD };

size_t frame__name_size(const struct frame *frame, enum name_form form);
int frame__name(struct buf *b, const struct frame *frame, enum name_form form);

/*
 * The label of a frame: `package::function` for a function of a namespace, unless R's name begins
 * like that; only the name for a function of the global environment or a `package:` environment,
 * or if the package is not known.  The names that many functions have, `<Anonymous>` and `FUN`, are
 * followed by ` {file:line}`, where the definition begins, if that is known.
 * frame__label_size - its bytes, at most.  frame__label - append it.
 */
size_t frame__label_size(const struct frame *frame, enum name_form form);
int frame__label(struct buf *b, const struct frame *frame, enum name_form form);

/* place__text - append ` (file:line)`; nothing if the place is not known. */
int place__text(struct buf *b, struct place place, enum name_form form);

/* name__package - the bytes of `package` if @text begins with `package::`, else 0. */
size_t name__package(const char *text, size_t len);

/* name__bare - @text, which is terminated, behind the first `::` or `:::` that it has. */
const char *name__bare(const char *text);

/* text__find - the first @what among the @len bytes at @text, or NULL (as memmem(), a GNU one). */
const char *text__find(const char *text, size_t len, const char *what);

/* A label taken apart. */
struct frame_label {
	size_t package; /* bytes of it in front; 0: none */
	bool disguised; /* a function that is called as a mark is */
};

/* frame_label__parse - is @text a label of a function that R calls @r_name? */
bool frame_label__parse(struct frame_label *label, const char *text, size_t len, const char *r_name,
			size_t r_len);

/*
 * frame_label__has_many - is @text, perhaps behind `package::`, a name that many functions have?
 * Then ` {file:line}` may follow.  @package: the bytes of the package.
 */
bool frame_label__has_many(const char *text, size_t len, size_t *package);

#endif
