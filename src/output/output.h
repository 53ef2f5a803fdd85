/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a profile goes: a file, a pipe or stdout, written in whole pieces only.  Somebody else
 * writes (os/files.h), so nothing here waits for a disk or a reader, but output__open for a moment.
 * Or memory.
 */
#ifndef XR_OUTPUT_OUTPUT_H
#define XR_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/errmsg.h"
#include "os/files.h"

struct output;

/*
 * How long those that share a queue may wait for room in it until somebody fills this in again: a
 * writer that is slow for a moment costs no samples, one that hangs no time.
 */
struct output_wait {
	uint64_t ns;   /* what is left of it */
	bool hangs;    /* nothing moved during the last wait, */
	uint64_t news; /* and this was what had */
};

/* Borrowed for the life of the output. */
struct output_config {
	struct files *files;
	const char *path;	  /* "-" is stdout.  A new file is made or an old one truncated. */
	struct budget *queue;	  /* of what waits to be written; NULL: no limit */
	struct output_wait *wait; /* NULL: do not */
	/* what is there stays, as of files__open_new: where in the path a number goes; 0: no */
	size_t number_at;
	uint64_t max; /* bytes of a regular file; 0: no limit */
	int wait_ms;  /* for the file to be open, at most; if it is not yet, it may come */
};

int output__open(struct output **out, const struct output_config *config, struct errmsg *f);

/*
 * output__memory - one that appends to @to, which is borrowed: after output__close it has what was
 * committed, and nothing else may touch it before.  @max: bytes that are added at most, 0: no
 * limit; what would be more fails with -EMSGSIZE.  All calls below are for it, too; it is never
 * late.  -ENOMEM.
 */
int output__memory(struct output **out, struct buf *to, size_t max);

/*
 * output__write - add @len bytes, any bytes.  Nothing of them reaches the file before
 * output__commit; so the file always ends where a commit did.
 */
int output__write(struct output *o, const char *data, size_t len);
int output__printf(struct output *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define OUTPUT_DROPPED 1

/*
 * output__commit - what was written since the last commit, which tells of @samples (0: it is
 * needed in any case), may go: a file that ends here is a good one.  Writers of lines call it after
 * each, others once at the end.  0; OUTPUT_DROPPED: there was no room, it is forgotten and counted;
 * or a negative errno.
 */
int output__commit(struct output *o, uint64_t samples);

/* output__room - does the queue take another @len bytes? */
bool output__room(struct output *o, size_t len);

/*
 * output__flush - hand on what was committed, as much as is taken now.  When the disk is full
 * (ENOSPC) or the write was cut short, a regular file is truncated back to the last commit that
 * went out whole.  -EPIPE: the reader went away.  After a failure the output takes nothing more and
 * every call returns the same error.
 */
int output__flush(struct output *o);

/* output__error - the first there was; 0: none. */
int output__error(const struct output *o);

/* output__regular - does it go to a regular file?  Known when that is open; until then: no. */
bool output__regular(const struct output *o);

/*
 * output__path - the file's name: with a number that is not in the one asked for (number_at) if
 * *@numbered, which is known when it is open.  Borrowed.
 */
const char *output__path(const struct output *o, bool *numbered);

/* output__waiting - bytes that were committed and are not written yet. */
size_t output__waiting(const struct output *o);

/* output__end - no more comes: the file may be closed when all of it was written. */
void output__end(struct output *o);

/* output__done - after output__end: it was closed, or failed. */
bool output__done(struct output *o);

/*
 * output__close - close and free; what was not committed, and what was not written by now, is lost.
 * NULL is allowed.  Returns the first error there was; @unwritten (NULL is allowed) gets the
 * samples that are not in the file: none of a reader that went away.
 */
int output__close(struct output *o, uint64_t *unwritten);

/*
 * How long to wait at the end for what is still to be written: as long as something is, but not
 * longer than OUTPUT_END_MS; where nothing moves, OUTPUT_STUCK_MS, unless the process that writes
 * has no CPU.
 */
#define OUTPUT_END_MS	5000
#define OUTPUT_STUCK_MS 2000

struct patience {
	struct files *files;
	uint64_t news;	     /* when something moved last */
	uint64_t since, end; /* ns */
	bool endless;	     /* it is never enough */
};

struct patience patience__begin(struct files *files);

/* patience__wait - for news, for a while.  False: that was long enough. */
bool patience__wait(struct patience *p);

/* output__finish - output__end, and wait until output__done; -ETIMEDOUT: it was given up. */
int output__finish(struct output *o);

#endif
