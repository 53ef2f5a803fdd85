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

/* The headers of @text, each with a | behind it, or what is wrong with it. */
static const char *parsed(const char *text)
{
	static char out[1024];
	struct push_headers h = {0};
	struct errmsg f = {""};

	*out = '\0';
	if (push_headers__parse(&h, "F", text, strlen(text), &f) == -EINVAL && !h.n)
		snprintf(out, sizeof(out), "%s", f.text);
	for (size_t i = 0; i < h.n; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s|", h.line[i]);
	push_headers__free(&h);
	return out;
}

TEST(parse)
{
	static const char *const rows[][3] = {
		{"", "", "no header"},
		{"\n# a: b\n\n", "", "nor here"},
		{"Authorization: Bearer x", "Authorization: Bearer x|", "one"},
		{"A:b\r\nC: d\r\n", "A: b|C: d|", "lines of another system"},
		{"A:  b c \t\n", "A: b c|", "blanks around a value are dropped"},
		{"A:\n", "A;|", "one without a value, as libcurl wants it"},
		{"A: b: c", "A: b: c|", "a value with a colon"},
		/* an error has the line's number, never its text */
		{"A: b\nsecret\n", "F: line 2 is not `Name: value`", "no name"},
		{": secret", "F: line 1 is not `Name: value`", "an empty one"},
		{"A b: secret", "F: line 1 is not `Name: value`", "a blank in it"},
		{" A: secret", "F: line 1 is not `Name: value`", "a blank before it"},
		{"A: secret\rB: x", "F: line 1 has a control character", "two lines in one"},
		{"A: \x7f", "F: line 1 has a control character", "a control character"},
		{"content-type: x", "F: line 1 is a header that is already set", "what is sent"},
		{"Transfer-Encoding: x", "F: line 1 is a header that is already set", "and how"},
	};
	char many[8192] = "";

	for (size_t i = 0; i < COUNT(rows); i++)
		tap__is(parsed(rows[i][0]), rows[i][1], "%s", rows[i][2]);
	for (int i = 0; i < 65; i++)
		strcat(many, "A: b\n");
	tap__is(parsed(many), "F: line 65 is one header too many", "not any number");
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
