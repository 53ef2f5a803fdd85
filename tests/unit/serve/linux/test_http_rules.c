/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of a request. */
#include "serve/linux/http_rules.h"
#include "tap.h"

#define PROFILE "/debug/pprof/profile"

static const struct token none = {"", 0}, token = {"0123456789abcdef", 16};

TEST(paths)
{
	static const struct {
		const char *method, *path, *seconds;
		unsigned int status, want, n;
	} rows[] = {
		{"GET", "/metrics", NULL, 0, HTTP_METRICS, 0},
		{"HEAD", "/metrics", NULL, 0, HTTP_METRICS, 0},
		{"GET", "/healthz", NULL, 0, HTTP_HEALTH, 0},
		{"GET", PROFILE, NULL, 0, HTTP_PROFILE, HTTP_SECONDS_DEFAULT},
		{"GET", PROFILE, "1", 0, HTTP_PROFILE, 1},
		{"GET", PROFILE, "600", 0, HTTP_PROFILE, 600},
		{"GET", PROFILE, "601", 400, 0, 0},
		{"GET", PROFILE, "0", 400, 0, 0},
		{"GET", PROFILE, "", 400, 0, 0},
		{"GET", PROFILE, "-1", 400, 0, 0},
		{"GET", PROFILE, "1.5", 400, 0, 0},
		{"GET", PROFILE, "18446744073709551617", 400, 0, 0},
		{"GET", "/", NULL, 200, 0, 0},
		{"HEAD", PROFILE, NULL, 405, 0, 0},
		{"POST", "/metrics", NULL, 405, 0, 0},
		{"OPTIONS", "/healthz", NULL, 405, 0, 0},
		{"get", "/metrics", NULL, 405, 0, 0},
		{"GET", "/metrics/", NULL, 404, 0, 0},
		{"GET", "", NULL, 404, 0, 0},
		{"GET", "//metrics", NULL, 404, 0, 0},
		{"PUT", "/nothing", NULL, 404, 0, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct http_said r = {
			.method = rows[i].method, .path = rows[i].path, .seconds = rows[i].seconds};
		struct http_verdict v = http_rules__judge(&r, &none, true);

		tap__ok(v.status == rows[i].status && (v.status || v.want == rows[i].want) &&
				(!rows[i].n || v.seconds == rows[i].n) &&
				(v.status == 405) == (v.allow != NULL),
			"%s %s?seconds=%s: %u", r.method, r.path, r.seconds ? r.seconds : "-",
			v.status);
		if (v.status == 400)
			tap__ok(strstr(v.line, "1 to 600"), "it says the range: %.30s", v.line);
	}
}

/* Are the targets of @list, between bars, such as a request may have? */
static void targets(char *list, bool good)
{
	for (const char *one; (one = strsep(&list, "|"));)
		tap__ok(http_rules__target(one) == good, "'%s' is %s target", one,
			good ? "a" : "not a");
}

/* What becomes of a request that names @host @n times, whether browsers get to it or not. */
static void host(const char *host, unsigned int n, unsigned int status)
{
	struct http_said r = {.method = "GET", .path = "/metrics", .host = host, .hosts = n};

	tap__ok(http_rules__judge(&r, &none, true).status == status &&
			http_rules__judge(&r, &none, false).status == status,
		"Host: %s, %u times: %u", host ? host : "-", n, status);
}

TEST(malformed)
{
	char good[] = "/|/metrics|/a?b=%20%7e",
	     good_hosts[] = "localhost|localhost:80|127.0.0.1:|[::1]:80";
	char bad[] = "/debug/pprof/profile?seconds=1&a=%C3%A9|/metrics%00x|/metrics%0a|/metrics%7F|"
		     "/metrics%|/metrics%4|/metrics%4g|/metrics\t|/metr ics|/\xc3\xa9||*|metrics|"
		     "http://localhost/metrics";
	char bad_hosts[] = "localhost:80@evil|evil@localhost|localhost:80:80|localhost:http|"
			   "localhost/|localhost,evil|local host|[::1|[::1]x|[evil]|[]";
	struct http_said r = {.method = "GET", .path = "/healthz", .malformed = true};
	char *at = good_hosts;

	targets(good, true);
	targets(bad, false);
	host(NULL, 0, 0);
	for (const char *one; (one = strsep(&at, "|"));)
		host(one, 1, 0);
	host("localhost", 2, 400);
	at = bad_hosts;
	for (const char *one; (one = strsep(&at, "|"));)
		host(one, 1, 400);
	tap__ok(http_rules__judge(&r, &none, true).status == 400 &&
			http_rules__judge(&r, &token, true).status == 400,
		"a malformed target is refused with and without a token");
}

TEST(token)
{
	static const struct {
		const char *path, *authorization;
		unsigned int status;
		bool trusted;
	} rows[] = {
		{"/metrics", NULL, 401, false},
		{"/metrics", "Bearer 0123456789abcdeX", 401, false},
		{"/metrics", "Bearer 0123456789abcdef", 0, true},
		{"/", NULL, 401, false},
		{"/nothing", NULL, 401, false},
		{PROFILE, NULL, 401, false},
		{"/healthz", NULL, 0, false},
		{"/healthz", "Bearer 0123456789abcdef", 0, true},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct http_said r = {.method = "GET",
				      .path = rows[i].path,
				      .host = "a.example",
				      .origin = "http://a.example",
				      .authorization = rows[i].authorization};
		struct http_verdict v = http_rules__judge(&r, &token, true);

		tap__ok(v.status == rows[i].status && v.trusted == rows[i].trusted,
			"%s with %s: %u", r.path, r.authorization ? r.authorization : "nothing",
			v.status);
	}
}

TEST(browsers)
{
	static const struct {
		const char *host, *origin, *site;
		bool served;
	} rows[] = {
		{NULL, NULL, NULL, true},
		{"127.0.0.1:9419", NULL, NULL, true},
		{"10.1.2.3", NULL, NULL, true},
		{"[::1]:9419", NULL, NULL, true},
		{"[::1]", NULL, NULL, true},
		{"LocalHost:9419", NULL, "none", true},
		{"localhost", NULL, "same-origin", true},
		{"localhost", NULL, "cross-site", false},
		{"localhost", NULL, "same-site", false},
		{"localhost", "null", NULL, false},
		{"127.0.0.1", "http://127.0.0.1", NULL, false},
		{"rebound.example:9419", NULL, NULL, false},
		{"127.0.0.1.example", NULL, NULL, false},
		{"localhost.example", NULL, NULL, false},
		{"", NULL, NULL, false},
		{":80", NULL, NULL, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct http_said r = {.method = "GET",
				      .path = "/healthz",
				      .host = rows[i].host,
				      .origin = rows[i].origin,
				      .fetch_site = rows[i].site};
		struct http_verdict v = http_rules__judge(&r, &none, true);

		tap__ok(v.status == (rows[i].served ? 0 : 403), "Host %s, Origin %s, from %s: %u",
			r.host ? r.host : "-", r.origin ? r.origin : "-",
			r.fetch_site ? r.fetch_site : "-", v.status);
		v = http_rules__judge(&r, &none, false);
		tap__ok(!v.status, "where no browser gets to it is served");
	}
}

TEST(body)
{
	struct http_said r = {.method = "GET", .path = "/metrics", .body = true};

	tap__ok(http_rules__judge(&r, &none, true).status == 413, "a body is refused");
	r.method = "POST";
	tap__ok(http_rules__judge(&r, &none, true).status == 405, "and so is its method");
}
