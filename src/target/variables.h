/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of discovery that is the same on every system: which of R's variables are needed, what
 * is read from them, and the layout that goes with R's version.  For linux/find.c and
 * win32/find.c.
 */
#ifndef XR_TARGET_VARIABLES_H
#define XR_TARGET_VARIABLES_H

#include "target/layouts.h"
#include "target/target.h"

/* R's variables (Rinternals.h, Defn.h; names.c and eval.c set them). */
enum target_variable {
	TARGET_CONTEXT,
	TARGET_NIL,
	TARGET_COLON2,
	TARGET_COLON3,
	TARGET_DOLLAR,
	TARGET_ITEM,
	TARGET_SRCFILE,
	TARGET_CLASS,
	TARGET_EVAL,
	TARGET_IN_BC,
	TARGET_SRCREF,
	TARGET_GLOBAL_ENV,
	TARGET_BASE_ENV,
	TARGET_BASE_NAMESPACE,
	TARGET_NAME_SYMBOL,
	TARGET_FUN_TAB,
	TARGET_BC_TOP,
	TARGET_PP,
	TARGET_PP_TOP,
	TARGET_SRCREF_SYMBOL,
	TARGET_NAMES_SYMBOL,
	TARGET_NAMESPACES,
	TARGET_VARIABLES
};

/* variables__name - what R calls it. */
const char *variables__name(enum target_variable variable);

/*
 * variables__read - fill @t->row's addresses and values.  @at: the variables' addresses in
 * the target, 0 for those that this R has not.  Errors as target__find's: -EAGAIN R is not
 * initialised yet, -EACCES, -ESRCH, -EBADMSG.
 */
int variables__read(struct target *t, const uint64_t at[TARGET_VARIABLES], struct errmsg *f);

/*
 * variables__layout - @t->row.layout for @t->version (if that is "" or not in the table, the
 * newest that is) and @t->version_known.  -ENOTSUP: an R before 3.0.
 */
int variables__layout(struct target *t, enum layouts_arch arch, struct errmsg *f);

/* target__denied - @what ("memory") of @t may not be looked at: -EACCES.  By each system itself. */
int target__denied(const struct target *t, const char *what, struct errmsg *f);

/* target__not_begun - R is there, but it has not begun: -EAGAIN. */
int target__not_begun(const struct target *t, struct errmsg *f);

/* target__gone - @t ended meanwhile: -ESRCH. */
int target__gone(const struct target *t, struct errmsg *f);

#endif
