/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/http_rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

/* The same as HTTP_SECONDS_MAX, in a text. */
#define RANGE "1 to 600"
_Static_assert(HTTP_SECONDS_MAX == 600, "RANGE says it");

static const char index_text[] =
	"/metrics                         metrics of the profiler, for Prometheus\n/healthz        "
	"                 200: it samples, with failures; 503: why "
	"not\n/debug/pprof/profile?seconds=10  a profile of the next seconds (" RANGE "), pprof\n";

static const struct path {
	const char *path, *allow;
	enum http_want want;
	bool index;
} paths[] = {
	{"/", "GET, HEAD", HTTP_METRICS, true},
	{"/metrics", "GET, HEAD", HTTP_METRICS, false},
	{"/healthz", "GET, HEAD", HTTP_HEALTH, false},
	/* HEAD would take a profile and throw it away */
	{"/debug/pprof/profile", "GET", HTTP_PROFILE, false},
};

static const struct path *path__find(const char *path)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(paths[i].path, path))
			return &paths[i];
	return NULL;
}

static bool path__allows(const struct path *p, const char *method)
{
	return !strcmp(method, "GET") || (!strcmp(method, "HEAD") && p->want != HTTP_PROFILE);
}

/* Is @host, with or without a port, an address or localhost, which no stranger's name server gives?
 */
static bool host__is_sure(const char *host)
{
	char name[INET6_ADDRSTRLEN];
	struct in6_addr to;
	bool v6 = host[0] == '[';
	size_t len = strcspn(host + v6, v6 ? "]" : ":");
	const char *after = host + v6 + len;

	if (!len || len >= sizeof(name) || (v6 && *after++ != ']') || (*after && *after != ':'))
		return false;
	memcpy(name, host + v6, len);
	name[len] = '\0';
	if (v6)
		return inet_pton(AF_INET6, name, &to) == 1;
	return !strcasecmp(name, "localhost") || inet_pton(AF_INET, name, &to) == 1;
}

/* Is @host a name or an address, perhaps with a port (RFC 3986, 3.2.2, without escapes)? */
static bool host__is_valid(const char *host)
{
	static const char digits[] = "0123456789";
	static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-._";
	const char *at = host;

	if (*at == '[') {
		at += 1 + strspn(at + 1, "0123456789abcdefABCDEF:.");
		if (at == host + 1 || *at++ != ']')
			return false;
	} else {
		at += strspn(at, name);
	}
	if (*at == ':')
		at += 1 + strspn(at + 1, digits);
	return !*at;
}

static int digit__value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool http_rules__target(const char *target)
{
	if (*target != '/')
		return false;
	for (const char *at = target; *at; at++) {
		int high, low, c = (unsigned char)*at;

		if (c == '%') {
			high = digit__value(at[1]);
			low = high < 0 ? -1 : digit__value(at[2]);
			if (low < 0)
				return false;
			c = high << 4 | low;
			at += 2;
			if (c == ' ')
				continue;
		}
		if (c <= ' ' || c >= 0x7f)
			return false;
	}
	return true;
}

/*
 * Did a page of another origin send it?  A request from the same origin, or for an address typed
 * into a browser, is not from one.
 */
static bool from_page(const struct http_said *r)
{
	return r->origin || (r->fetch_site && strcasecmp(r->fetch_site, "none") &&
			     strcasecmp(r->fetch_site, "same-origin"));
}

static struct http_verdict refused(unsigned int status, const char *line)
{
	return (struct http_verdict){.status = status, .line = line};
}

struct http_verdict http_rules__judge(const struct http_said *r, const struct token *token,
				      bool browsers)
{
	const struct path *p = path__find(r->path);
	struct http_verdict v = {.seconds = HTTP_SECONDS_DEFAULT};
	uint64_t seconds;

	if (r->malformed || r->hosts > 1 || (r->host && !host__is_valid(r->host)))
		return refused(400, "the request is malformed: its target or its Host header\n");
	v.trusted = token__fits(token, r->authorization);
	if (browsers && !token->len && from_page(r))
		return refused(403, "requests from a page in a browser are refused\n");
	if (browsers && !token->len && r->host && !host__is_sure(r->host))
		return refused(403, "use its address or localhost; other names require a token\n");
	if (!v.trusted && !(p && p->want == HTTP_HEALTH))
		return refused(401, "a token is required: Authorization: Bearer TOKEN\n");
	if (!p)
		return refused(404, "not found; / lists the pages\n");
	if (!path__allows(p, r->method)) {
		v = refused(405, "this method is not allowed\n");
		v.allow = p->allow;
		return v;
	}
	if (r->body)
		return refused(413, "a request must not have a body\n");
	if (p->index)
		return refused(200, index_text);
	v.want = p->want;
	if (v.want != HTTP_PROFILE || !r->seconds)
		return v;
	if (parse__u64(r->seconds, HTTP_SECONDS_MAX, &seconds) || !seconds)
		return refused(400, "seconds: a whole number from " RANGE "\n");
	v.seconds = (unsigned int)seconds;
	return v;
}
