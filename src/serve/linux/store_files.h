/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a directory of profiles that have a name of ours (serve/interval_name.h), and which
 * of them go first.  For store.c.
 */
#ifndef XR_SERVE_LINUX_STORE_FILES_H
#define XR_SERVE_LINUX_STORE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/errmsg.h"
#include "serve/linux/store.h"
#include "serve/interval_name.h"

#define STORE_FILES_MAX (1u << 20) /* more are not counted, and said */
#define STORE_BLOCK	4096u	   /* files are counted in whole ones, bytes */

struct store_file {
	uint64_t began; /* this and the next two: as of struct interval_name */
	uint32_t seconds, number;
	uint32_t blocks;
	bool stuck; /* it could not be removed */
	bool gone;  /* internal */
};

/* Sorted by name.  Starts as { 0 }. */
struct store_list {
	struct store_file *files;
	size_t n, cap;
};

/* Starts as { 0 }. */
struct store_files {
	struct store_list profiles, indexes;
	uint64_t blocks; /* of all */
	bool more;	 /* there are more than STORE_FILES_MAX */
};

/* store_files__scan - what there is in the directory @dir now.  Negative errno. */
int store_files__scan(struct store_files *all, int dir);

/* store_files__put - @name is there, of @size bytes; it may have been before.  -ENOMEM. */
int store_files__put(struct store_files *all, const struct interval_name *name, uint64_t size);

/* store_files__size - bytes that they take, in whole blocks; of one of @size bytes. */
uint64_t store_files__size(const struct store_files *all);
uint64_t store_files__round(uint64_t size);

/* What store_files__keep did. */
struct store_kept {
	uint64_t removed;
	uint64_t stuck; /* files that cannot be removed; @f says which was the last */
};

/*
 * store_files__keep - remove what is not to be kept at the time @now (seconds since 1970), so that
 * @more bytes find room: first what is too old, then the oldest.  By age nothing of the last day
 * that was recorded goes, however old it is: a clock that is wrong must not empty the directory.
 * What begins more than a day from now was written while the clock was wrong: it is not too old,
 * and goes first where there is no room.  The index of a day goes with its last profile, that of
 * @day stays; but where there is no room the index has half of it at most.  Returns 0; -EDQUOT:
 * there is no room all the same.
 */
int store_files__keep(struct store_files *all, int dir, const struct store_keep *keep, uint64_t now,
		      uint64_t day, uint64_t more, struct store_kept *kept, struct errmsg *f);

void store_files__free(struct store_files *all);

#endif
