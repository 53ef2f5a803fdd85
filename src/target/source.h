/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What R knows of a source file: its srcfile, an environment that each srcref has as an attribute.
 *
 *   - srcfile() makes one of class "srcfile" with `filename`, `wd` (the working directory) and
 *     `timestamp` (when the file was changed last, in seconds since 1970).
 *   - srcfilecopy() makes one with the `lines` that were parsed: so do source(), parse() and knitr,
 *     and the console (R_Parse1Buffer in gram.c, where `lines` is one string).
 *   - srcfilealias() makes one for each `#line` in a file that was put together of others, as
 *     packages are: `original` is the srcfile of that one.
 *
 * Facts: base/R/srcfile.R, base/R/parse.R, base/R/source.R, tools/R/admin.R, main/gram.c.
 */
#ifndef XR_TARGET_SOURCE_H
#define XR_TARGET_SOURCE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem_reader.h"
#include "layout.h"
#include "target/ask.h"

#define SOURCE_NAME_MAX 4096u	     /* bytes of `filename` and `wd` */
#define SOURCE_TEXT_MAX LIMIT_SOURCE /* of an answer's text */

/* Starts as { 0 }; freed by source__free. */
struct source_found {
	struct buf name, directory; /* filename and wd; "": there is none */
	struct buf text;	    /* the lines, each with its end */
	bool has_text;
	double time; /* timestamp; 0: not known */
};

/*
 * source__read - the srcfile at @env of the process of @row; at most @max bytes of text.  0;
 * -EILSEQ: it is not a srcfile (any more), or changed while it was read; -E2BIG: its text is
 * longer; -EFAULT and others as of @m; -ENOMEM.
 */
int source__read(struct source_found *s, const struct xr_row *row, const struct mem_reader *m,
		 uint64_t env, size_t max);

/* source__make - the answer to ASK_SOURCE @q, a file.  As source__read. */
int source__make(const struct ask *q, int *fd);

/* source__take - what is in the answer @fd, which is closed.  -EBADMSG: it cannot be right. */
int source__take(struct source_found *s, int fd);

void source__free(struct source_found *s);

#endif
