/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One server to which profiles are sent by HTTP, in order, one request at a time.  Those that wait
 * are in a directory (queue.h), also over a restart.  Nothing waits for a server.
 *
 * A request is over when the server answers 2xx.  After 429, 502, 503, 504, a timeout or a
 * connection that fails or breaks it is sent again, after Retry-After (an hour at most) or a
 * back-off with jitter, up to five minutes.  So it is after 401, 403 and 407, as the file of
 * headers may be renewed.  Pyroscope answers 408, 422 and 500 for its own troubles, too: these are
 * tried PUSH_TRIES times.  After any other answer the request is dropped, counted, and reported.
 *
 * If the connection broke PUSH_PROBE times while a request was sent (or a proxy answered 502 or
 * 504), something on the way may always break on it.  Then each second try sends the request behind
 * it.  If the server accepts that one and the first one fails again, the first one is dropped,
 * counted and reported.  Otherwise the server is away, and both wait.
 */
#ifndef XR_SERVE_LINUX_PUSH_H
#define XR_SERVE_LINUX_PUSH_H

#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "serve/linux/poll_until.h"
#include "serve/linux/queue.h"
#include "serve/status.h"

enum push_kind {
	PUSH_PYROSCOPE, /* POST URL/ingest, pprof */
	PUSH_OTLP,	/* POST URL/v1development/profiles, protobuf */
};

#define PUSH_SIZE_MAX (4u << 20) /* bytes of a request: by default no server accepts more */
#define PUSH_TRIES    4u
#define PUSH_PROBE    8u

/* Strings are borrowed for the life of the push. */
struct push_config {
	enum push_kind kind;
	const char *url;
	const char *headers; /* a file of lines `Name: value`, as of tokens; NULL: none */
	const char *ca;	     /* a file of certificates to trust; NULL: the system's */
	const char *spool;   /* a directory for the queue; made (0700) if it is missing */
	uint64_t spool_size; /* bytes of the profiles that wait; the oldest are dropped */
	size_t memory;	     /* bytes for reading a profile (base/limits.h); 0: LIMIT_MEMORY */
	uint32_t timeout_ms; /* of a request, as post__open has it; 0: 10 s */
	uint32_t back_off_ms, back_off_max_ms; /* the first and the longest; 0: 1 s, 5 min */
};

struct push;

/* push__open - negative errno, @f filled: the message is for the user who gave the option. */
int push__open(struct push **out, const struct push_config *config, struct errmsg *f);

/*
 * push__add - the pprof file @e, of which `data` is known, will be sent.  @file: where it is; NULL:
 * it could not be written.  Negative errno: it was dropped, and counted.
 */
int push__add(struct push *p, const struct queue_entry *e, const char *file);

/* push__wait, push__run - see poll_until.h. */
struct poll_until push__wait(const struct push *p);
void push__run(struct push *p);

/* push__drain - at the end: try for up to @ms.  What is left waits for the next start. */
void push__drain(struct push *p, int ms);

void push__status(const struct push *p, struct way_status *s);
void push__close(struct push *p); /* NULL is allowed */

#endif
