/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_BASE_ERRMSG_H
#define XR_BASE_ERRMSG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What went wrong, for a person: one line without the program's name or a newline, that says
 * what failed, on what, and what to do.  A function that returns a negative errno through a
 * function that takes a `struct errmsg *` has filled it.
 */
struct errmsg {
	char text[512];
};

/*
 * errmsg__set - fill @f (which may be NULL) from a printf format; what came from outside and
 * would act on a terminal is replaced by '?' (utf8.h).
 *
 * Returns @err, so that a caller can write `return errmsg__set(f, -ENOENT, ...)`.
 */
int errmsg__set(struct errmsg *f, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* shortage__is - is @err (negative) for want of descriptors or memory, and not of what was looked
 * at? */
bool shortage__is(int err);

/* shortage__fault - process @pid could not be looked at for @err: what to do.  Returns @err. */
int shortage__fault(int pid, int err, struct errmsg *f);

/* count__word - the word that follows the number @n: "sample" or "samples", "is" or "are". */
static inline const char *count__word(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

#endif
