/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The index of a directory of profiles, read back: for `report --list`.
 */
#ifndef XR_CMD_REPORT_INDEX_H
#define XR_CMD_REPORT_INDEX_H

#include "base/errmsg.h"
#include "serve/index_line.h"

/* Who takes the lines.  Negative errno: it ends with that. */
typedef int (*report_index_take)(void *arg, const struct index_line *line);

/* What was read. */
struct report_index_read {
	uint64_t bad; /* lines that are not index lines */
	bool damaged; /* its end is: what may be only a part of a profile was left out */
};

/*
 * report_index__read - give the lines of the index file @path to @take, profile by profile: those
 * of one whose lines are not all there, or are next to a bad one, are left out.  Negative errno,
 * and @f says why.
 */
int report_index__read(const char *path, report_index_take take, void *arg,
		       struct report_index_read *read, struct errmsg *f);

/* The indexes of a span of profiles, and who takes their lines. */
struct report_index_span {
	const char *dir;
	const char *const *files; /* those profiles, by name */
	size_t n;
	/* @file: the number of the profile that @line is of.  Negative errno: it ends with that. */
	int (*take)(void *arg, size_t file, const struct index_line *line);
	void *arg;
	const char *lost; /* what it means if one is damaged; NULL: no message */
};

/*
 * report_index__span - give what the indexes say of these profiles to @span->take; of one that is
 * damaged what can be read.  Negative errno, and @f says why.
 */
int report_index__span(const struct report_index_span *span, struct errmsg *f);

#endif
