/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A directory of profiles, one file for each interval: DIR/20261122T021000Z-60.pb.gz, by the UTC
 * time of its beginning and its length in seconds; -60.1.pb.gz and so on where that name is taken
 * (serve/interval_name.h).  No file that is there is written to: each is written under another
 * name, .20261122T021000Z-60.pb.gz.tmp, synced, and gets its own name when it is whole.  What a
 * crash left of that kind is removed when the directory is opened.
 *
 * DIR/index-20261122.jsonl.gz has a line of JSON for each process of each file, gzip members one
 * after another.  Where a crash left half a member at its end, the day goes on in
 * index-20261122.1.jsonl.gz.
 *
 * Files without such a name are left alone.  Several may write to one directory.  The caller
 * ignores SIGXFSZ.  All calls wait for the disk.
 */
#ifndef XR_SERVE_LINUX_STORE_H
#define XR_SERVE_LINUX_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "serve/status.h"
#include "serve/interval_name.h"

struct store;

/*
 * What is kept: the oldest go first, whole days of the index with the last of their profiles
 * (store_files.h: what a clock that steps does to that).
 */
struct store_keep {
	uint64_t size; /* bytes of all, in whole blocks of 4 KiB, with the index; 0: no limit */
	uint64_t age;  /* seconds; 0: no limit */
};

/*
 * store__open - make the directory (0750) if it is missing.  Negative errno, @f filled; with 0, it
 * may say something for people.
 */
int store__open(struct store **out, const char *dir, const struct store_keep *keep,
		struct errmsg *f);

/* One interval; borrowed. */
struct store_interval {
	uint64_t began, ended; /* ns since 1970 */
	uint64_t samples;
	const void *data; /* the file's bytes */
	size_t size;
	/*
	 * What the index says: lines without their beginning, `"pid":17,...}\n`.  The store writes
	 * `{"file":"20261122T021000Z-60.pb.gz","from":"2026-11-22T02:10:00Z",...,` before each.
	 */
	const char *index;
	size_t index_len;
};

/*
 * store__add - write it, as @name.  While the disk is full, or the directory cannot be made again,
 * it fails and is counted; the next one is tried again.  Room is made by --keep first.  0: it is
 * there, and the `error` of its status says what else failed, "" if nothing did: a file that --keep
 * could not remove, a line that is missing in the index.  Negative errno: it is dropped, and
 * `error` says why.
 */
int store__add(struct store *st, const struct store_interval *w, struct interval_name *name);

/* store__status - into @s: sent, failed, dropped, kept and what else it knows. */
void store__status(const struct store *st, struct way_status *s);

void store__close(struct store *st); /* NULL is allowed */

#endif
