/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What waits to be sent, in a directory: a file for each item, in the order in which they were
 * added.  Whatever is added is on disk, synced, before spool__add returns, whether the server is
 * there or not: what was accepted outlives the end of the process or of the machine.  A file is
 * removed when its item was sent; the one that was being sent at a sudden end is sent again.
 *
 * While the disk is full, items are kept in memory, a few MiB of them, and written when there is
 * room.  The directory has a limit: the oldest items are given up for new ones.  All that is given
 * up is counted.
 *
 * Who else writes into the directory may damage what is in it and no more: a file that is not what
 * it should be is removed and counted, and so is one that cannot be read SPOOL_TRIES times.  Only
 * names that this spool gives are touched.
 */
#ifndef XR_SERVE_LINUX_SPOOL_H
#define XR_SERVE_LINUX_SPOOL_H

#include "base/errmsg.h"
#include "serve/linux/spool_file.h"

#define SPOOL_MEMORY	(8u << 20) /* bytes of items that are in memory, as the disk is full */
#define SPOOL_ITEMS_MAX 65536u	   /* however small they are */
#define SPOOL_TRIES	8u	   /* to read one that gives -EIO or -EACCES */

struct spool;

struct spool_counts {
	uint64_t waiting, wait_size;	   /* items, and bytes of them */
	uint64_t in_memory;		   /* of these, items that are not on disk */
	uint64_t dropped, dropped_samples; /* given up, damaged ones as well */
	uint64_t damaged;		   /* of these, files that were damaged */
};

/*
 * spool__open - take over what is in @dir, which is made (0700) if it is missing; one process at a
 * time has it.  What cannot be read there is left alone, and the reason.  @kind: tells the items of
 * one sender from those of another; @max: bytes of all. Negative errno, @f filled.
 */
int spool__open(struct spool **out, const char *dir, uint32_t kind, uint64_t max, struct errmsg *f);

/* spool__add - 0: it will be there until spool__done.  Negative errno: it was dropped, counted. */
int spool__add(struct spool *s, const struct spool_item *item);

/*
 * spool__first - the oldest, borrowed until one of the three below.  1; 0: there is none now;
 * -ENOMEM, or what reading it fails with: try again later.
 */
int spool__first(struct spool *s, struct spool_item *item);

/*
 * spool__done - what spool__first gave was sent; spool__drop - it is given up, and counted;
 * spool__later - neither: it waits, as the others do.
 */
void spool__done(struct spool *s);
void spool__drop(struct spool *s);
void spool__later(struct spool *s);

void spool__counts(const struct spool *s, struct spool_counts *counts);
void spool__close(struct spool *s); /* NULL is allowed */

#endif
