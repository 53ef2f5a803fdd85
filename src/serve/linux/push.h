/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One server that profiles are sent to by HTTP: each is a request, in order, one at a time.  Each
 * is on disk (spool.h) from push__add on until it was sent, also over a restart; the oldest goes
 * first.  Nothing waits for a server.
 *
 * A profile is sent when the server said 2xx.  429, 502, 503, 504, no answer in time and a
 * connection that fails or breaks: tried again, after Retry-After (an hour at most) or a back-off
 * with jitter up to five minutes.  So are 401, 403 and 407, as the file of headers may be renewed.
 * Pyroscope answers 408, 422 and 500 for its own troubles, too: it is asked PUSH_TRIES times.  Any
 * other answer: the profile is given up, counted, and said.
 */
#ifndef XR_SERVE_LINUX_PUSH_H
#define XR_SERVE_LINUX_PUSH_H

#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "serve/linux/part.h"
#include "serve/status.h"

enum push_kind {
	PUSH_PYROSCOPE, /* POST URL/ingest, pprof */
	PUSH_OTLP,	/* POST URL/v1development/profiles, protobuf */
};

#define PUSH_SIZE_MAX (4u << 20) /* bytes of a profile: no server takes more unasked */
#define PUSH_TRIES    4u

/* Strings are borrowed for the life of the push. */
struct push_config {
	enum push_kind kind;
	const char *url;
	const char *headers; /* a file of lines `Name: value`, as of tokens; NULL: none */
	const char *ca;	     /* a file of certificates to trust; NULL: the system's */
	const char *spool;   /* a directory; made (0700) if missing */
	uint64_t spool_size; /* bytes at most; the oldest are given up, and counted */
	uint32_t timeout_ms; /* of a request, as post__open has it; 0: 10 s */
	uint32_t back_off_ms, back_off_max_ms; /* the first and the longest; 0: 1 s, 5 min */
};

struct push;

/* push__open - negative errno, @f filled: what is said is for the user who gave the option. */
int push__open(struct push **out, const struct push_config *config, struct errmsg *f);

/* What is sent; borrowed. */
struct push_item {
	uint64_t began, ended; /* ns since 1970 */
	uint64_t samples;
	const char *name; /* PUSH_PYROSCOPE: `service{label=value,...}`, not encoded yet */
	const void *data; /* the body, before what HTTP does with it */
	size_t size;
};

/*
 * push__add - it will be sent.  Negative errno: it is not, and counted as dropped; -EMSGSIZE: it is
 * larger than PUSH_SIZE_MAX, or than the spool may be.
 */
int push__add(struct push *p, const struct push_item *item);

/* push__wait, push__run - see part.h. */
struct part_wait push__wait(const struct push *p);
void push__run(struct push *p);

/* push__drain - at the end: try for up to @ms; what is left stays in the spool. */
void push__drain(struct push *p, int ms);

void push__status(const struct push *p, struct way_status *s);
void push__close(struct push *p); /* NULL is allowed */

#endif
