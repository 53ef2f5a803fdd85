/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where profiles are sent, as what, and what an answer of OTLP says. */
#include "serve/linux/push_body.h"
#include "tap.h"

static void address_is(enum push_kind kind, const char *service, const char *labels,
		       const char *wanted, const char *what)
{
	const struct interval_name file = {.began = 1700000000, .seconds = 60};
	struct buf out = {0};
	int err = push_body__address(&out, kind, "http://h:1/p", service, labels, &file);

	tap__is(err ? strerror(-err) : out.data, wanted, "%s", what);
	buf__free(&out);
}

TEST(address)
{
	address_is(PUSH_OTLP, NULL, "", "http://h:1/p/v1development/profiles", "OTLP's");
	address_is(PUSH_PYROSCOPE, "a-b_c.d~9", "",
		   "http://h:1/p/ingest?name=a-b_c.d~9"
		   "&from=1700000000&until=1700000060&format=pprof&spyName=xrprof-bpf",
		   "Pyroscope's");
	address_is(PUSH_PYROSCOPE, "a{b c", "{x=\xc3\xbc&?#%+/}",
		   "http://h:1/p/ingest?name=a_b_c%7Bx%3D%C3%BC%26%3F%23%25%2B%2F%7D"
		   "&from=1700000000&until=1700000060&format=pprof&spyName=xrprof-bpf",
		   "a name stands for itself");
}

TEST(labels)
{
	const struct profile_label labels[] = {{"host", "h 1"}, {"service", "x"}, {"dc", "a,b"}};
	struct buf out = {0};

	tap__ok(!push_body__labels(&out, labels, 3) && !strcmp(out.data, "{host=h_1,dc=a_b}"),
		"in a name: %s", out.data);
	out.len = 0;
	tap__ok(!push_body__labels(&out, labels + 1, 1) && !*out.data, "none");
	buf__free(&out);
}

static uint64_t rejected(const char *body, size_t len, struct push_rejected *r)
{
	*r = (struct push_rejected){0};
	push_body__rejected(r, body, len);
	return r->profiles;
}

TEST(rejected)
{
	struct push_rejected r;

	tap__ok(!rejected("", 0, &r) && !rejected("\n\0", 2, &r) && !rejected("\n\4\22\2hi", 6, &r),
		"nothing refused, with a warning or without");
	tap__ok(rejected("\n\6\10\3\22\2no", 8, &r) == 3 && strstr(r.why.text, "refused 3") &&
			strstr(r.why.text, ": no"),
		"some: %s", r.why.text);
	tap__ok(rejected("\n\3\10\1\22\033", 5, &r) == 0 && rejected("<html>", 6, &r) == 0,
		"a malformed answer refuses nothing");
	tap__ok(rejected("\n\7\10\1\22\3a\033b", 9, &r) == 1 && strstr(r.why.text, ": a?b"),
		"what it says does nothing to a terminal: %s", r.why.text);
	tap__ok(rejected("\n\13\10\377\377\377\377\377\377\377\377\377\1", 13, &r) == 0,
		"a negative count refuses nothing");
}
