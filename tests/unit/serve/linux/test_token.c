/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The token of those who ask, and its file. */
#include "serve/linux/token.h"
#include "tap.h"

#define GOOD "0123456789abcdef-._~+/="

TEST(parse)
{
	static const struct {
		const char *text, *token; /* NULL: it is refused */
	} rows[] = {
		{GOOD, GOOD},
		{GOOD "\n", GOOD},
		{GOOD "\r\n", GOOD},
		{GOOD "\n# what it is for", GOOD},
		{"0123456789abcdef", "0123456789abcdef"},
		{"0123456789abcde", NULL},
		{"", NULL},
		{"\n" GOOD, NULL},
		{"0123456789 abcdef", NULL},
		{"0123456789abcdef\t", NULL},
		{"0123456789abcd\303\244ef", NULL},
	};
	char longest[TOKEN_MAX + 2];
	struct token t;
	struct errmsg f;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int err = token__parse(&t, rows[i].text, strlen(rows[i].text), "F", &f);

		if (rows[i].token)
			tap__ok(!err && !strcmp(t.text, rows[i].token) && t.len == strlen(t.text),
				"row %zu is a token", i);
		else
			tap__ok(err == -EINVAL && strstr(f.text, " F") && !t.len,
				"row %zu is refused: %s", i, f.text);
	}
	memset(longest, 'x', sizeof(longest));
	tap__ok(!token__parse(&t, longest, TOKEN_MAX, "F", &f) && t.len == TOKEN_MAX,
		"the longest");
	tap__ok(token__parse(&t, longest, TOKEN_MAX + 1, "F", &f) == -EINVAL, "too long: %s",
		f.text);
	tap__ok(token__parse(&t, "0123456789abcde\0fg", 18, "F", &f) == -EINVAL, "with a NUL: %s",
		f.text);
}

TEST(fits)
{
	char good[] = "Bearer " GOOD "|bearer " GOOD "|Bearer   " GOOD;
	char bad[] = "Bearer " GOOD "x|Bearer " GOOD GOOD "|Bearer x" GOOD "|Bearer |Bearer||" GOOD
		     "|Basic " GOOD "|Bearer" GOOD "|Bearer 0123456789abcdef";
	struct token t, none = {"", 0};

	token__parse(&t, GOOD, strlen(GOOD), "F", NULL);
	for (char *one, *at = good; (one = strsep(&at, "|"));)
		tap__ok(token__fits(&t, one), "'%s' fits", one);
	for (char *one, *at = bad; (one = strsep(&at, "|"));)
		tap__ok(!token__fits(&t, one), "'%s' does not", one);
	tap__ok(!token__fits(&t, NULL), "nor does no header");
	tap__ok(token__fits(&none, NULL) && token__fits(&none, "x"), "where there is none all fit");
}

TEST(file)
{
	const char *dir = tap__folder(), *path = tap__path("token");
	static const struct {
		mode_t mode;
		int err;
	} rows[] = {{0600, 0},	    {0400, 0},	    {0440, 0},	    {0640, 0},
		    {0604, -EPERM}, {0660, -EPERM}, {0602, -EPERM}, {0644, -EPERM}};
	struct token t;
	struct errmsg f;

	tap__ok(token__read(&t, path, &f) == -ENOENT && strstr(f.text, path), "no file: %s",
		f.text);
	tap__write(path, GOOD "\n", sizeof(GOOD));
	for (size_t i = 0; i < COUNT(rows); i++) {
		chmod(path, rows[i].mode);
		tap__ok(token__read(&t, path, &f) == rows[i].err &&
				(rows[i].err || !strcmp(t.text, GOOD)),
			"mode %04o: %d", (unsigned int)rows[i].mode, rows[i].err);
	}
	tap__ok(strstr(f.text, "0644") && strstr(f.text, "chmod"),
		"the message has the mode and what to do: %s", f.text);
	if (tap__root()) {
		tap__bail_if(chmod(path, 0400) || chown(path, 12345, 0), "%s", path);
		tap__ok(token__read(&t, path, &f) == -EPERM, "another user's: %s", f.text);
	}
	unlink(path);
	tap__ok(token__read(&t, dir, &f) == -EINVAL, "a directory: %s", f.text);
	tap__bail_if(mkfifo(path, 0600), "%s", path);
	tap__ok(token__read(&t, path, &f) == -EINVAL, "a pipe, at once: %s", f.text);
}
