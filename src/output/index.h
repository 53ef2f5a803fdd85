/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An index of a directory whose files have pids for names: index.jsonl has an object on a line for
 * each file of a process, in the order in which they were completed.
 */
#ifndef XR_OUTPUT_INDEX_H
#define XR_OUTPUT_INDEX_H

#include "base/buf.h"
#include "output/output.h"
#include "profile/profile.h"

struct index;

/*
 * index__open - make DIRECTORY/index.jsonl, or index.1.jsonl and so on where that is taken.  @to:
 * who writes; its path is not looked at.  Negative errno: @f says why.
 */
int index__open(struct index **out, const struct output_config *to, const char *directory,
		struct errmsg *f);

/*
 * index__describe - into @out, which is emptied: what a line says of process @p, nothing of what is
 * not known of it.  -ENOMEM.
 */
int index__describe(const struct profile_process *p, struct buf *out);

/*
 * index__add - the file @path has @samples of the process that @about describes; NULL: it has none.
 * 0 or a negative errno, -EFBIG: the index may not grow; after one it takes nothing more.
 */
int index__add(struct index *x, const struct buf *about, const char *path, uint64_t samples);

/* index__flush - have what is there written. */
int index__flush(struct index *x);

/* index__close - once all is written, or given up.  Its first error.  NULL is allowed. */
int index__close(struct index *x);

#endif
