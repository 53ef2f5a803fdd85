/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interned strings: equal strings have equal addresses, and live until the table is freed.
 */
#ifndef XR_BASE_INTERN_H
#define XR_BASE_INTERN_H

#include <stddef.h>

#define INTERN_MAX (256u << 20)

struct intern;

int intern__new(struct intern **out);

/*
 * intern__get - the one copy of the @len bytes at @text, terminated.  They end early at a NUL.
 * Returns NULL when there is no memory, or INTERN_MAX bytes are taken: a hostile target can make
 * up new names without end.
 */
const char *intern__get(struct intern *t, const char *text, size_t len);

void intern__free(struct intern *t); /* NULL is allowed */

#endif
