/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile of the directory as the requests that a server accepts: Pyroscope wants one for each
 * service, and both limit the size.  The same file always becomes the same requests.
 */
#ifndef XR_SERVE_LINUX_PUSH_PROFILE_H
#define XR_SERVE_LINUX_PUSH_PROFILE_H

#include "base/buf.h"
#include "serve/linux/push.h"
#include "serve/linux/queue.h"

struct push_profile;

/* What a request has; borrowed until the next call. */
struct push_part {
	const char *service; /* PUSH_PYROSCOPE; NULL: all of them */
	const char *series;  /* the labels of the run, as push_body__labels has them; "": none */
	const void *data;
	size_t size;
	uint64_t samples;  /* in it */
	uint64_t left_out; /* of stacks before it that are too large for any request */
};

/*
 * push_profile__open - read the pprof @file called @name.  @memory: bytes that it may take
 * (base/limits.h).  Negative errno, @f filled: -EINVAL: it is damaged; -ENOMEM.
 */
int push_profile__open(struct push_profile **out, enum push_kind kind, const char *name,
		       const struct buf *file, size_t memory, struct errmsg *f);

/*
 * push_profile__next - the next request.  1; 0: there are no more, but @part may say what was left
 * out; -ENOMEM.
 */
int push_profile__next(struct push_profile *p, struct push_part *part);

void push_profile__close(struct push_profile *p); /* NULL is allowed */

/* A request of a profile in a queue.  Zeroed, with `kind` and `memory`: nothing is read yet. */
struct push_reader {
	enum push_kind kind;
	size_t memory;		      /* as of push_profile__open */
	struct push_profile *profile; /* NULL: none is open */
	uint64_t number;	      /* of that or the last profile, in the queue */
	uint32_t request;	      /* which of its requests `part` is */
	struct push_part part;
	uint64_t left_out; /* samples before that request that are too large for any */
};

/*
 * push_reader__request - read request @n of profile @e of @q into `part`.  1; 0: the profile has no
 * such; negative errno, @f filled: it cannot be read.
 */
int push_reader__request(struct push_reader *r, const struct queue *q, const struct queue_entry *e,
			 uint32_t n, struct errmsg *f);

/* push_reader__forget - close the profile. */
void push_reader__forget(struct push_reader *r);

#endif
