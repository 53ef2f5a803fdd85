/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text of strangers, so that it can be written into a file or to a terminal.
 */
#ifndef XR_BASE_ESCAPE_H
#define XR_BASE_ESCAPE_H

#include "base/buf.h"

/*
 * escape__text - append @text to @b so that it cannot break the format or act on a terminal.
 * @also: characters to escape on top of that, the format's own; "" is allowed.
 *
 * Valid UTF-8 passes.  What acts on a terminal (utf8.h), bytes that are not UTF-8 and those of
 * @also become \n, \r, \t or \xNN.  A backslash is doubled only where it would read as the
 * start of one of these, so that names without any of this, all but hostile ones, are written byte
 * for byte as R does (R escapes nothing), and different names stay different.
 *
 * A double quote in @also spares the two quotes R itself puts into `a[["b"]]`.  It becomes \x22
 * and not \": no reader of these files knows escapes, so no quote may be left.
 */
/*
 * What takes more than @max bytes then ends in "...", which is part of them, and no quote in it is
 * spared.  Returns 0, 1 if it was cut, or -ENOMEM.
 */
int escape__text(struct buf *b, const char *text, const char *also, size_t max);

/*
 * escape__undo - append to @b what escape__text() made the @len bytes at @text of, unless that was
 * cut.  Other bytes stay as they are, and so does the escape of a NUL.  -ENOMEM.
 */
int escape__undo(struct buf *b, const char *text, size_t len);

#endif
