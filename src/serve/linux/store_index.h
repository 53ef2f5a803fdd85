/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The index of a directory of profiles: a file for each day, to which a gzip member is appended for
 * each profile.  A file whose end is not whole, since a crash came in between, stays as it is:
 * another one is begun.  For store.c.
 */
#ifndef XR_SERVE_LINUX_STORE_INDEX_H
#define XR_SERVE_LINUX_STORE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "serve/interval_name.h"

/* The file that was appended to last.  Starts as { 0 }. */
struct store_index {
	struct interval_name name;
	uint64_t inode, size; /* as it was left, and is whole then; 0: not known */
};

/*
 * store_index__pack - into @out, emptied before: a gzip member with @lines, `{"file":...,` before
 * each of them.  An interval without lines has none: @out stays empty.  -ENOMEM.
 */
int store_index__pack(struct buf *out, const struct interval_name *profile, const char *lines,
		      size_t len);

/*
 * store_index__append - @size bytes of @member to the index that @profile belongs into, and sync.
 * 0: @index says where; or a negative errno: nothing was appended.
 */
int store_index__append(struct store_index *index, int dir, const struct interval_name *profile,
			const void *member, size_t size);

#endif
