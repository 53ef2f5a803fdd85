/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profiles that wait for one server, in a directory: a link to the file of each, or a copy if
 * there is no such file or it is on another file system.  The name of a link says all there is to
 * know of it: its place in the queue, how many of its requests are over and how many samples are
 * not sent yet, and the name of the profile:
 *
 *	000000000000002a-1-1140-20261122T021000Z-60.pb.gz
 *
 * A profile that was added is on disk, and synced, until it is done: it outlives the end of the
 * process and of the machine, and its removal from the directory of profiles.  After a sudden end
 * of the process at most one request is sent again; of the machine, those of the last seconds, as
 * renames are not synced.
 *
 * While the disk is full, profiles are kept in memory, QUEUE_MEMORY of all.  All that wait have a
 * limit in bytes: the oldest are dropped for new ones, and counted.  Only names of this kind are
 * touched.
 */
#ifndef XR_SERVE_LINUX_QUEUE_H
#define XR_SERVE_LINUX_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/errmsg.h"
#include "serve/interval_name.h"

#define QUEUE_MEMORY (8u << 20) /* bytes of profiles that are in memory */
#define QUEUE_MAX    65536u	/* profiles */

struct queue_entry {
	uint64_t number;	   /* its place; given by the queue */
	struct interval_name name; /* of the profile */
	uint64_t samples;	   /* not sent yet */
	uint32_t requests;	   /* that are over, sent or dropped */
	uint64_t size;		   /* bytes */
	const void *data;	   /* borrowed; in a queue, NULL: it is in a file */
};

struct queue;

struct queue_counts {
	uint64_t waiting, wait_size; /* profiles, and bytes of them */
	uint64_t dropped, dropped_samples;
};

/*
 * queue__open - go on with those in @dir, which is made (0700) if it is missing; one process at a
 * time has it.  @max: bytes of all.  Negative errno, @f filled.
 */
int queue__open(struct queue **out, const char *dir, uint64_t max, struct errmsg *f);

/*
 * queue__add - @e, of which `data` is known, waits behind all others.  @file: one that has these
 * bytes; NULL: there is none.  Negative errno: it was dropped, and counted.
 */
int queue__add(struct queue *q, const struct queue_entry *e, const char *file);

/* queue__at - number @i, from the oldest on; NULL: there are fewer.  Borrowed until the next call.
 */
const struct queue_entry *queue__at(const struct queue *q, size_t i);

/* queue__read - append the bytes of @e to @out.  Negative errno. */
int queue__read(const struct queue *q, const struct queue_entry *e, struct buf *out);

/* queue__progress - @requests more of the oldest are over, with @samples. */
void queue__progress(struct queue *q, uint32_t requests, uint64_t samples);

/* queue__done - the oldest does not wait any more; queue__drop - and its samples are lost. */
void queue__done(struct queue *q);
void queue__drop(struct queue *q);

/* queue__end - those in memory are written; or, if that fails, dropped: the process ends. */
void queue__end(struct queue *q);

void queue__counts(const struct queue *q, struct queue_counts *counts);
void queue__close(struct queue *q); /* NULL is allowed */

#endif
