/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_FAULT_H
#define XR_FAULT_H

/*
 * What went wrong, for a person: one line without the program's name or a newline, that says
 * what failed, on what, and what to do.  Whoever returns a negative errno through a function
 * that takes a `struct fault *` has filled it.
 */
struct fault {
	char text[512];
};

/*
 * fault__set - fill @f (which may be NULL) from a printf format; control characters that came
 * from outside are replaced by '?'.
 *
 * Returns @err, so that a caller can write `return fault__set(f, -ENOENT, ...)`.
 */
int fault__set(struct fault *f, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
