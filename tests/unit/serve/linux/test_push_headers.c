/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of HTTP headers: what is one, what is refused and how, and when it is read again. */
#include "serve/linux/push_headers.h"
#include "tap.h"

static char path[] = "/tmp/xrprof-headers.XXXXXX";

static void put(const char *text, size_t len, mode_t mode)
{
	char fresh[64];
	int fd;

	/* another file of that name, as who renews a token makes it */
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	fd = open(fresh, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	tap__bail_if(fd < 0 || write(fd, text, len) != (ssize_t)len || fchmod(fd, mode) < 0 ||
			     rename(fresh, path) < 0,
		     "%s", path);
	close(fd);
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

static void test_parse(void)
{
	char many[8192] = "";

	tap__ok(parses("", 0, NULL) && parses("\n# a: b\n\n", 0, NULL), "no header");
	tap__ok(parses("Authorization: Bearer x", 1, "Authorization: Bearer x"), "one");
	tap__ok(parses("A:b\r\nC: d\r\n", 2, "A: b"), "lines of another system");
	tap__ok(parses("A:  b c \t\n", 1, "A: b c"), "blanks around a value are none of it");
	tap__ok(parses("A:\n", 1, "A;"), "one without a value, as libcurl wants it");
	tap__ok(parses("A: b: c", 1, "A: b: c"), "a value with a colon");
	tap__ok(refused("A: b\nsecret\n", "F: line 2 is not `Name: value`") &&
			refused(": secret", "F: line 1 is not `Name: value`") &&
			refused("A b: secret", "F: line 1 is not `Name: value`") &&
			refused(" A: secret", "F: line 1 is not `Name: value`"),
		"what is none: by its line, never by what is in it");
	tap__ok(refused("A: secret\rB: x", "F: line 1 has a control character") &&
			refused("A: \x7f", "F: line 1 has a control character"),
		"no header has two lines in it");
	tap__ok(refused("content-type: x", "F: line 1 is a header that is set already") &&
			refused("Transfer-Encoding: x",
				"F: line 1 is a header that is set already"),
		"what is sent is not the user's to say");
	for (int i = 0; i < 65; i++)
		strcat(many, "A: b\n");
	tap__ok(refused(many, "F: line 65 is one header too many"), "not any number");
}

static void test_file(void)
{
	static char large[PUSH_HEADERS_SIZE + 1];
	struct push_headers h = {0};
	struct errmsg f = {""};

	put("A: 1\n", 5, 0600);
	tap__ok(push_headers__read(&h, path, &f) == 1 && h.n == 1 && !strcmp(h.line[0], "A: 1"),
		"a file is read");
	tap__ok(push_headers__read(&h, path, &f) == 0, "and not again as long as it stays");
	put("A: 2\n", 5, 0640);
	tap__ok(push_headers__read(&h, path, &f) == 1 && !strcmp(h.line[0], "A: 2"),
		"another one of that name is; a group may read it");
	put("A: 3\n", 5, 0604);
	tap__ok(push_headers__read(&h, path, &f) == -EPERM && !strcmp(h.line[0], "A: 2"),
		"one that all may read is not: %s", f.text);
	put("A: 3\n", 5, 0620);
	tap__ok(push_headers__read(&h, path, &f) == -EPERM, "nor one that others may write");
	put("A 4\n", 4, 0600);
	tap__ok(push_headers__read(&h, path, &f) == -EINVAL && !strcmp(h.line[0], "A: 2"),
		"what was there stays: %s", f.text);
	memset(large, '#', sizeof(large));
	put(large, sizeof(large), 0600);
	tap__ok(push_headers__read(&h, path, &f) == -EFBIG, "one that is too large: %s", f.text);
	unlink(path);
	tap__ok(push_headers__read(&h, path, &f) == -ENOENT, "one that is gone: %s", f.text);
	tap__ok(push_headers__read(&h, "/", &f) < 0, "what is no file: %s", f.text);
	push_headers__free(&h);
	tap__ok(!h.n, "nothing is left");
}

TEST(push_headers)
{
	int fd = mkstemp(path);

	tap__bail_if(fd < 0, "%s", path);
	close(fd);
	test_parse();
	test_file();
	unlink(path);
}
