/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of compilers as people write them. */
#ifndef XR_TARGET_LINUX_NATIVE_DEMANGLE_H
#define XR_TARGET_LINUX_NATIVE_DEMANGLE_H

#include "base/buf.h"

#define DEMANGLE_MAX 4096u /* bytes of a name that is looked at, and of what is made of it */

/*
 * demangle__add - append what @name is called in its language: C++ and Rust without parameters
 * (`std::vector<int>::push_back`), Fortran's procedures in modules (`module::procedure`).  Another
 * name, or one that is too long, is appended as it is.  -ENOMEM.
 *
 * What the compiler adds for parts and clones of a function (.cold, .part.0, .constprop.0, .isra.0)
 * stays.
 */
int demangle__add(struct buf *out, const char *name);

#endif
