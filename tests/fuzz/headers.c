/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file of HTTP headers, and an answer of a server of OTLP.  A header is one line.  A message
 * about either has nothing that acts on a terminal.  A message about a file has only the number of
 * a line.
 */
#include "fuzz.h"
#include "serve/linux/push_body.h"
#include "serve/linux/push_headers.h"

static void header__check(const char *line)
{
	size_t name = strcspn(line, ":;");

	if (!name || !line[name] || strpbrk(line, "\r\n"))
		fuzz__fail("not a header: %s", line);
	if (line[name] == ';' ? line[name + 1] : line[name + 1] != ' ')
		fuzz__fail("a header in another form: %s", line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct push_headers h = {0};
	struct push_rejected r = {0};
	struct errmsg f = {""};
	int err;

	err = push_headers__parse(&h, "F", (const char *)data, size, &f);
	if (err && (h.n || strncmp(f.text, "F: line ", 8) != 0 || strlen(f.text) > 60))
		fuzz__fail("%s", f.text);
	for (size_t i = 0; i < h.n; i++)
		header__check(h.line[i]);
	if (h.n > PUSH_HEADERS_MAX)
		fuzz__fail("%zu headers", h.n);
	push_headers__free(&h);
	push_body__rejected(&r, data, size);
	fuzz__plain(r.why.text, strlen(r.why.text), false);
	return 0;
}
