/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HTTP POST by libcurl, one at a time, without waiting: what it waits for is one descriptor and a
 * time.  Certificates are verified, nothing is redirected, an answer is cut at a limit.
 */
#ifndef XR_SERVE_LINUX_POST_H
#define XR_SERVE_LINUX_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "serve/linux/poll_until.h"

#define POST_ANSWER_MAX	 (64u << 10) /* bytes of the body of an answer; of its headers as many */
#define POST_HEADERS_MAX 80u
#define POST_SLOWEST	 20u /* bytes per ms: what is longer may take longer */

struct post;

/* Of a request; borrowed until it is over. */
struct post_request {
	const char *url;
	const char *headers[POST_HEADERS_MAX]; /* "Name: value" */
	size_t nheaders;
	const void *data;
	size_t size;
};

/* What became of it; borrowed until the next request. */
struct post_answer {
	unsigned int status;  /* of an answer whose headers all came; 0: there was none */
	bool begun;	      /* the request began to be sent: there was a connection */
	bool whole;	      /* all of its body came, too */
	uint32_t retry_after; /* seconds; 0: it did not say */
	const void *body;
	size_t body_len;
	const char *error; /* what failed, where something did */
};

/*
 * post__open - @timeout_ms: for a request without a body, and to connect; a body has the time that
 * it takes at POST_SLOWEST besides, so that a large one does not fail again and again where the
 * network is slow.  @ca: a file of certificates, borrowed for the life of it; NULL: the system's.
 * @f filled on failure.
 */
int post__open(struct post **out, const char *ca, uint32_t timeout_ms, struct errmsg *f);

/* post__start - 0, or negative errno: there is no request. */
int post__start(struct post *p, const struct post_request *request);
bool post__busy(const struct post *p);

/* post__wait - see poll_until.h.  post__run - go on; true: it is over, and @answer is filled. */
struct poll_until post__wait(const struct post *p);
bool post__run(struct post *p, struct post_answer *answer);

void post__close(struct post *p); /* NULL is allowed */

/*
 * post__url - may @url be that of a server?  http or https, without a user or a password, which a
 * command line would show to all, without a query.  Without its last slashes, to be freed.
 */
int post__url(char **out, const char *url, struct errmsg *f);

#endif
