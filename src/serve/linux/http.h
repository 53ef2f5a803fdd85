/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What listens, if it was asked for: GET /metrics, /healthz, /debug/pprof/profile?seconds=N, and /
 * with a line about each.  It asks for what it serves, and waits for http__answer.
 */
#ifndef XR_SERVE_LINUX_HTTP_H
#define XR_SERVE_LINUX_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "serve/linux/poll_until.h"

enum http_want {
	HTTP_METRICS,
	HTTP_HEALTH,
	HTTP_PROFILE,
	HTTP_GONE, /* the client of `id` went away or was answered: no answer is needed */
};

struct http_request {
	uint32_t id; /* never 0 */
	enum http_want want;
	uint32_t seconds; /* HTTP_PROFILE: 1 to HTTP_SECONDS_MAX */
	bool trusted;	  /* it has the token, or there is none */
};

#define HTTP_SECONDS_MAX     600u
#define HTTP_SECONDS_DEFAULT 10u
#define HTTP_CLIENTS_MAX     32u
#define HTTP_PEER_MAX	     16u /* of them, from one address of another machine */
#define HTTP_PROFILES_MAX    4u	 /* profiles at a time, until they are sent */

#define HTTP_TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"
#define HTTP_TYPE_TEXT	  "text/plain; charset=utf-8"
#define HTTP_TYPE_PROFILE "application/octet-stream"

/* Strings are borrowed for the life of the server. */
struct http_config {
	/*
	 * "unix:/run/xrprof-bpf.sock", "127.0.0.1:9419", "[::1]:9419", "9419" (of 127.0.0.1).
	 * Other addresses than loopback need `token`.  Port 0: the kernel chooses (http__address).
	 */
	const char *listen;
	const char *token; /* a file: its first line is the token of `Authorization: Bearer ...`;
			      NULL: none */
	void (*ask)(void *arg, const struct http_request *r);
	void *arg;
};

struct http;

/* http__open - negative errno, @f filled: the message is for the user who gave the option. */
int http__open(struct http **out, const struct http_config *config, struct errmsg *f);

/* http__address - where it listens, as of http_config's `listen`, with the port it really has. */
const char *http__address(const struct http *h);

/* http__wait, http__run - see poll_until.h.  Only http__run calls `ask`. */
struct poll_until http__wait(const struct http *h);
void http__run(struct http *h);

/* http__waiting - request @id, if it waits for an answer; else NULL.  @h: NULL is allowed. */
const struct http_request *http__waiting(const struct http *h, uint32_t id);

/*
 * http__answer - to request @id; one that is not there any more is ignored.  @data is copied.
 * @status: 200, 503 and so on; @type: of the content.  It may be called by `ask`.
 *
 * A request that gets no answer (5 s, or 20 s beyond those of its profile) is answered with 503.
 * Then `ask` gets HTTP_GONE.
 */
void http__answer(struct http *h, uint32_t id, unsigned int status, const char *type,
		  const void *data, size_t size);

/* http__counts - requests answered; of them those refused. */
void http__counts(const struct http *h, uint64_t *requests, uint64_t *refused);

/* http__close - clients that still wait get a 503.  NULL is allowed. */
void http__close(struct http *h);

#endif
