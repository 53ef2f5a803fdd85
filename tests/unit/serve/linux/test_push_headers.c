/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of HTTP headers: what is one, what is refused and how, and when it is read again. */
#include "serve/linux/push_headers.h"
#include "tap.h"

static const char *path;

/* Another file of that name, as who renews a token makes it. */
static void put(const char *text, size_t len, mode_t mode)
{
	const char *fresh = tap__path("new");

	tap__write(fresh, text, len);
	tap__bail_if(chmod(fresh, mode) || rename(fresh, path), "%s", path);
}

static bool parses(const char *text, size_t n, const char *first)
{
	struct push_headers h = {0};
	struct errmsg f;
	bool good = !push_headers__parse(&h, "F", text, strlen(text), &f) && h.n == n &&
		    (!n || !strcmp(h.line[0], first));

	push_headers__free(&h);
	return good;
}

static bool refused(const char *text, const char *why)
{
	struct push_headers h = {0};
	struct errmsg f = {""};
	bool good = push_headers__parse(&h, "F", text, strlen(text), &f) == -EINVAL && !h.n;

	if (!good || strcmp(f.text, why) != 0)
		tap__diag("%s", f.text);
	return good && !strcmp(f.text, why);
}

TEST(parse)
{
	char many[8192] = "";

	tap__ok(parses("", 0, NULL) && parses("\n# a: b\n\n", 0, NULL), "no header");
	tap__ok(parses("Authorization: Bearer x", 1, "Authorization: Bearer x"), "one");
	tap__ok(parses("A:b\r\nC: d\r\n", 2, "A: b"), "lines of another system");
	tap__ok(parses("A:  b c \t\n", 1, "A: b c"), "blanks around a value are dropped");
	tap__ok(parses("A:\n", 1, "A;"), "one without a value, as libcurl wants it");
	tap__ok(parses("A: b: c", 1, "A: b: c"), "a value with a colon");
	tap__ok(refused("A: b\nsecret\n", "F: line 2 is not `Name: value`") &&
			refused(": secret", "F: line 1 is not `Name: value`") &&
			refused("A b: secret", "F: line 1 is not `Name: value`") &&
			refused(" A: secret", "F: line 1 is not `Name: value`"),
		"an error has the line's number, never its text");
	tap__ok(refused("A: secret\rB: x", "F: line 1 has a control character") &&
			refused("A: \x7f", "F: line 1 has a control character"),
		"no header has two lines in it");
	tap__ok(refused("content-type: x", "F: line 1 is a header that is already set") &&
			refused("Transfer-Encoding: x",
				"F: line 1 is a header that is already set"),
		"what is sent is not the user's to say");
	for (int i = 0; i < 65; i++)
		strcat(many, "A: b\n");
	tap__ok(refused(many, "F: line 65 is one header too many"), "not any number");
}

/* Files that are read, one after the other; what stays of them. */
TEST(file)
{
	static char large[PUSH_HEADERS_SIZE + 1];
	static const struct {
		const char *text, *line, *what;
		mode_t mode;
		int err;
	} rows[] = {
		{"A: 1\n", "A: 1", "a file is read", 0600, 1},
		{NULL, "A: 1", "and not again as long as it stays", 0, 0},
		{"A: 2\n", "A: 2", "another of that name is; a group may read it", 0640, 1},
		/* of another size: the second may have number and time of the one that was read */
		{"A: 33\n", "A: 2", "one that all may read is not", 0604, -EPERM},
		{"A: 33\n", "A: 2", "nor one that others may write", 0620, -EPERM},
		{"A 4\n", "A: 2", "what was there stays", 0600, -EINVAL},
		{large, "A: 2", "one that is too large", 0600, -EFBIG},
	};
	struct push_headers h = {0};
	struct errmsg f = {""};

	path = tap__path("headers");
	memset(large, '#', sizeof(large));
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].text)
			put(rows[i].text,
			    rows[i].text == large ? sizeof(large) : strlen(rows[i].text),
			    rows[i].mode);
		tap__ok(push_headers__read(&h, path, &f) == rows[i].err && h.n == 1 &&
				!strcmp(h.line[0], rows[i].line),
			"%s: %s", rows[i].what, f.text);
	}
	unlink(path);
	tap__ok(push_headers__read(&h, path, &f) == -ENOENT, "one that is gone: %s", f.text);
	tap__ok(push_headers__read(&h, "/", &f) < 0, "a directory is refused: %s", f.text);
	push_headers__free(&h);
	tap__ok(!h.n, "nothing is left");
}
