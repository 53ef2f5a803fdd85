/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of a request, by what it says; nothing else is looked at.
 */
#ifndef XR_SERVE_LINUX_HTTP_RULES_H
#define XR_SERVE_LINUX_HTTP_RULES_H

#include <stdbool.h>

#include "serve/linux/http.h"
#include "serve/linux/token.h"

/* Of a request; NULL: it has no such header or parameter. */
struct http_said {
	const char *method, *path;
	bool malformed;	    /* its target is not http_rules__target() */
	unsigned int hosts; /* headers of that name */
	const char *host, *origin, *fetch_site, *authorization;
	const char *seconds; /* parameter; "" where it has no value */
	bool body;	     /* something follows its headers */
};

struct http_verdict {
	unsigned int status;  /* 0: it is asked for `want`; else it is answered with `line` */
	const char *line;     /* static */
	const char *allow;    /* with 405: the methods that there are; else NULL */
	enum http_want want;  /* HTTP_METRICS, HTTP_HEALTH, HTTP_PROFILE */
	unsigned int seconds; /* of HTTP_PROFILE */
	bool trusted;	      /* it has the token, or there is none */
};

/*
 * http_rules__target - is @target, as it came, a path and perhaps a query of printable ASCII
 * characters, in which each % is followed by the two digits of a character that is printable, too?
 */
bool http_rules__target(const char *target);

/*
 * http_rules__judge - a request that is malformed, or whose Host is not one host, is refused before
 * anything else.  @token: what a request has to have, except one for /healthz.  @browsers: a
 * browser can get here, so that a page of a stranger could ask through it: where there is no token,
 * requests for a host by name (its name could lead here from anywhere) and those that a page sent
 * are refused.
 */
struct http_verdict http_rules__judge(const struct http_said *r, const struct token *token,
				      bool browsers);

#endif
