/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is decided before anything is served: the address to listen on, the file of a token, and
 * what a request may have.  The first byte chooses.
 */
#include <arpa/inet.h>

#include "fuzz.h"
#include "serve/linux/http_rules.h"
#include "serve/linux/listen.h"

static void fuzz__listen(const char *text)
{
	struct listen_address a, again;
	char host[INET6_ADDRSTRLEN], whole[LISTEN_TEXT];
	struct errmsg f = {""};
	int err = listen__parse(text, &a, &f);

	if ((err != 0) != (f.text[0] != '\0'))
		fuzz__fail("error %d says '%s'", err, f.text);
	if (err || a.to.any.sa_family == AF_UNIX) {
		if (!err && (a.to.local.sun_path[0] != '/' || !a.loopback ||
			     !memchr(a.to.local.sun_path, '\0', sizeof(a.to.local.sun_path))))
			fuzz__fail("a path that cannot be");
		return;
	}
	/* what it was taken for, written as the C library does, means the same */
	if (a.to.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a.to.v6.sin6_addr, host, sizeof(host));
		snprintf(whole, sizeof(whole), "[%s]:%u", host, ntohs(a.to.v6.sin6_port));
		if (a.loopback != !strcmp(host, "::1"))
			fuzz__fail("%s is loopback: %d", host, a.loopback);
	} else {
		inet_ntop(AF_INET, &a.to.v4.sin_addr, host, sizeof(host));
		snprintf(whole, sizeof(whole), "%s:%u", host, ntohs(a.to.v4.sin_port));
		if (a.loopback != !strncmp(host, "127.", 4))
			fuzz__fail("%s is loopback: %d", host, a.loopback);
	}
	if (listen__parse(whole, &again, NULL) || memcmp(&a, &again, sizeof(a)))
		fuzz__fail("%s is not %s", text, whole);
}

static void fuzz__token(const struct input *in, const char *text)
{
	char header[TOKEN_MAX + 16];
	struct errmsg f = {""};
	struct token t;
	size_t len = strlen(text);

	token__fits(&(struct token){"0123456789abcdef", 16}, text);
	if (token__parse(&t, (const char *)in->at, in->left, "file", &f)) {
		if (!f.text[0] || t.len)
			fuzz__fail("a token refused without a word");
		return;
	}
	if (t.len < TOKEN_MIN || t.len > TOKEN_MAX || strlen(t.text) != t.len)
		fuzz__fail("a token of %zu characters", t.len);
	if (len < t.len || memcmp(text, t.text, t.len))
		fuzz__fail("another token than the first line");
	snprintf(header, sizeof(header), "bEARER   %s", t.text);
	if (!token__fits(&t, header))
		fuzz__fail("the token does not fit");
	header[9 + in->at[0] % t.len] ^= 0x40;
	if (token__fits(&t, header) || token__fits(&t, NULL) || token__fits(&t, t.text))
		fuzz__fail("something else fits");
	header[9 + t.len - 1] = '\0';
	if (token__fits(&t, header))
		fuzz__fail("the beginning of the token fits");
}

/* Lines of a request: each a field, "-" for one that it does not have. */
static void fuzz__request(uint8_t how, char *text)
{
	static const struct token tokens[] = {{"", 0}, {"0123456789abcdef", 16}};
	const struct token *token = &tokens[how & 1];
	struct http_said r = {.method = "GET", .path = "/", .body = how & 2};
	const char **fields[] = {&r.path,	&r.method,	  &r.host,   &r.origin,
				 &r.fetch_site, &r.authorization, &r.seconds};
	struct http_verdict v;
	char *rest = text;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && rest; i++) {
		const char *field = strsep(&rest, "\n");

		if (i < 2 || strcmp(field, "-"))
			*fields[i] = field;
	}
	if (http_rules__target(r.path) && (strstr(r.path, "%00") || strpbrk(r.path, "\t\r ")))
		fuzz__fail("%s is a target", r.path);
	r.malformed = how & 8;
	v = http_rules__judge(&r, token, how & 4);
	if (r.malformed && v.status != 400)
		fuzz__fail("a malformed request is served");
	if (v.status && (!v.line || (v.status == 405) != (v.allow != NULL)))
		fuzz__fail("%u has no line", v.status);
	if (!v.status && (v.want == HTTP_GONE || !v.seconds || v.seconds > HTTP_SECONDS_MAX))
		fuzz__fail("want %d of %u s", (int)v.want, v.seconds);
	if (!token__fits(token, r.authorization) &&
	    (v.trusted || ((!v.status || v.status == 200) && v.want != HTTP_HEALTH)))
		fuzz__fail("%s is served without the token", r.path);
	if ((how & 4) && !token->len && r.origin && v.status != 403 && v.status != 400)
		fuzz__fail("a page is served");
	if (!v.status && (r.body || (strcmp(r.method, "GET") && strcmp(r.method, "HEAD"))))
		fuzz__fail("%s is served, with a body: %d", r.method, r.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t what = input__u8(&in);
	char *text = input__text(in);

	switch (what & 3) {
	case 0:
		fuzz__listen(text);
		break;
	case 1:
		fuzz__token(&in, text);
		break;
	default:
		fuzz__request(what >> 2, text);
		break;
	}
	free(text);
	return 0;
}
