/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `dump --globals`: the largest objects of a process.
 */
#ifndef XR_CMD_LINUX_DUMP_GLOBALS_H
#define XR_CMD_LINUX_DUMP_GLOBALS_H

#include "base/json.h"
#include "values/globals.h"

/* dump_globals__read - within the limits that dump has.  As globals__find. */
int dump_globals__read(const struct mem_reader *reader, const struct xr_row *row,
		       uint64_t namespaces, struct globals *g);

/* dump_globals__text - append a table.  @how the memory was read.  -ENOMEM. */
int dump_globals__text(struct buf *b, const struct globals *g, const char *how);

/* dump_globals__json - into the object of a process. */
void dump_globals__json(struct json *j, const struct globals *g);

#endif
