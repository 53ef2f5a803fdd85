/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text in columns of a terminal, where a character may take none, one or two.
 */
#ifndef XR_OS_LINUX_COLUMNS_H
#define XR_OS_LINUX_COLUMNS_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * columns__locale - have the characters be those that the user's terminal shows (LC_CTYPE): before
 * anything else here.  Where it is not UTF-8, or says nothing, they are those of ASCII.
 */
void columns__locale(void);

/* columns__of - how many @text, escaped UTF-8, takes. */
unsigned int columns__of(const char *text);

/*
 * columns__fit - append what of @text, escaped UTF-8 (base/escape.h), fits in @width columns, with
 * "..." behind it where there was more and room for that; characters that the terminal does not
 * show are '?'.  @pad: blanks behind it, up to @width.  -ENOMEM.
 */
int columns__fit(struct buf *b, const char *text, unsigned int width, bool pad);

#endif
