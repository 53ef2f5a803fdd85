/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole pieces of a profile, to a file, a pipe or stdout, or to memory.  A separate process writes
 * files (os/files.h): only output__open waits for it, for a moment.
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
 * How long outputs that share a queue may wait for room in it, until the caller refills `ns`.  A
 * writer that is slow for a moment loses no samples; one that hangs costs no time.
 */
struct output_wait {
	uint64_t ns;   /* left to wait */
	bool hangs;    /* nothing was written during the last wait, */
	uint64_t news; /* and files__news() then */
};

/* Borrowed for the life of the output. */
struct output_config {
	struct files *files;
	const char *path;	  /* "-" is stdout.  A new file is made or an old one truncated. */
	struct budget *queue;	  /* of bytes that are not written yet; NULL: no limit */
	struct output_wait *wait; /* NULL: do not wait */
	/* where a number goes in a path that exists (files__open_new); 0: overwrite the file */
	size_t number_at;
	uint64_t max; /* bytes of a regular file; 0: no limit */
	int wait_ms;  /* wait for the file to open, at most; it may open later, too */
};

int output__open(struct output **out, const struct output_config *config, struct errmsg *f);

/*
 * output__memory - append to @to, which is borrowed until output__close; then it has what was
 * committed.  @max: limit of the bytes added, 0: none; a write beyond it fails with -EMSGSIZE.  All
 * calls below work; none waits.  -ENOMEM.
 */
int output__memory(struct output **out, struct buf *to, size_t max);

/*
 * output__write - add @len bytes of any value.  They reach the file after output__commit, so a file
 * always ends at a commit.
 */
int output__write(struct output *o, const char *data, size_t len);
int output__printf(struct output *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define OUTPUT_DROPPED 1

/*
 * output__commit - end a piece with @samples: the file may end here.  Without samples it is never
 * dropped.  Writers of lines call it after each line, others once at the end.  0; OUTPUT_DROPPED:
 * the queue is full, the piece is dropped and counted; or a negative errno, as of earlier calls: it
 * is counted, too.
 */
int output__commit(struct output *o, uint64_t samples);

/* output__room - does the queue take another @len bytes? */
bool output__room(struct output *o, size_t len);

/*
 * output__flush - pass on as much of what was committed as is taken now.  If the disk is full
 * (ENOSPC) or a write is cut short, a regular file is truncated to the last commit that is
 * complete. -EPIPE: the reader closed the pipe.  After an error all calls return the same error.
 */
int output__flush(struct output *o);

/* output__error - the first error; 0: none. */
int output__error(const struct output *o);

/* output__regular - is it a regular file that is open? */
bool output__regular(const struct output *o);

/*
 * output__path - the name of the file; *@numbered: a number was added (number_at).  Known when it
 * is open.  Borrowed.
 */
const char *output__path(const struct output *o, bool *numbered);

/* output__waiting - bytes that were committed and are not written yet. */
size_t output__waiting(const struct output *o);

/* output__complete - is all that was committed in the file, and is that anything? */
bool output__complete(const struct output *o);

/* output__end - close the file when all of it is written. */
void output__end(struct output *o);

/* output__done - after output__end: it was closed, or failed. */
bool output__done(struct output *o);

/*
 * output__close - close and free.  Bytes that are not committed or not written are lost.  NULL is
 * allowed.  Returns the first error.  Adds the samples that are not in the file to @unwritten (NULL
 * is allowed), except after -EPIPE.
 */
int output__close(struct output *o, uint64_t *unwritten);

/*
 * How long to wait at the end: OUTPUT_END_MS at most, and OUTPUT_STUCK_MS if nothing is written in
 * that time, unless the process that writes has no CPU.
 */
#define OUTPUT_END_MS	5000
#define OUTPUT_STUCK_MS 2000

struct patience {
	struct files *files;
	uint64_t news;	     /* files__news() at `since` */
	uint64_t since, end; /* ns */
	bool endless;	     /* no limit */
};

struct patience patience__begin(struct files *files);

/* patience__wait - wait a moment.  False: the time is over. */
bool patience__wait(struct patience *p);

/* output__finish - output__end, and wait until output__done; -ETIMEDOUT: abandoned. */
int output__finish(struct output *o);

#endif
