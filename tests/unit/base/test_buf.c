/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Growing buffers; and the one line that people are shown (errmsg, log). */
#define _GNU_SOURCE /* memfd_create() */
#include <sys/mman.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/errmsg.h"
#include "base/log.h"
#include "tap.h"

static bool holds(const struct buf *b, const char *text)
{
	return b->len == strlen(text) && !memcmp(b->data, text, b->len);
}

TEST(buf)
{
	struct buf b = {0};
	bool same = true;

	tap__ok(!buf__add(&b, "", 0) && !b.data && !b.len, "nothing added: nothing allocated");
	tap__ok(!buf__str(&b, "one ") && !buf__add(&b, "two\0three", 9) && b.len == 13 &&
			!memcmp(b.data, "one two\0three", 13),
		"strings and bytes follow one another");
	buf__free(&b);
	tap__ok(!b.data && !b.len && !b.cap, "freed: as it began");
	tap__ok(!buf__printf(&b, "%s-%d", "x", 42) && holds(&b, "x-42"), "printf");
	tap__ok(!buf__printf(&b, "%s", "") && holds(&b, "x-42"), "printf of nothing");
	buf__free(&b);
	/* across each size at which it grows */
	for (size_t i = 0; i < 70000 && same; i++)
		same = !buf__printf(&b, "%c", 'a' + (char)(i % 26)) && b.len == i + 1 &&
		       b.len <= b.cap;
	for (size_t i = 0; i < b.len && same; i++)
		same = b.data[i] == 'a' + (char)(i % 26);
	tap__ok(same && b.len == 70000, "70,000 bytes, one at a time");
	tap__ok(buf__add(&b, "x", SIZE_MAX / 2) == -ENOMEM && b.len == 70000 && b.data[0] == 'a',
		"more than can be: -ENOMEM, and it is as it was");
	tap__ok(buf__printf(&b, "%lc", (wint_t)0x7fffffff) == -EINVAL && b.len == 70000,
		"printf fails: -EINVAL, and it is as it was");
	buf__free(&b);
}

TEST(errmsg)
{
	struct errmsg f = {"before"};

	tap__ok(errmsg__set(NULL, -ENOENT, "x") == -ENOENT, "errmsg: without a place for the text");
	tap__ok(errmsg__set(&f, -EIO, "%s of %d", "part", 3) == -EIO &&
			!strcmp(f.text, "part of 3"),
		"errmsg: words and error");
	errmsg__set(&f, -EIO, "a\nb\x1b[31mc\x7f\tgröße");
	tap__is(f.text, "a?b?[31mc??größe", "errmsg: no control characters");
	errmsg__set(&f, -EIO, "%2000s", "y");
	tap__ok(strlen(f.text) == sizeof(f.text) - 1, "errmsg: what is too long is cut");
}

/* What log__line writes to stderr of @arg, in that many columns. */
static const char *logged(const char *arg, int width)
{
	static char text[4096];
	int file = memfd_create("stderr", 0), kept = dup(STDERR_FILENO);
	ssize_t n;

	fflush(stderr);
	dup2(file, STDERR_FILENO);
	log__line("process %*s", width, arg);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	n = pread(file, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(kept);
	close(file);
	return text;
}

TEST(log)
{
	const char *text;

	tap__is(logged("R\nroot: all is fine\r", 0), "xrprof-bpf: process R?root: all is fine?\n",
		"log: one line, whatever the target calls itself");
	text = logged("z", 3000);
	tap__ok(strlen(text) < 1100 && strchr(text, '\n') == text + strlen(text) - 1,
		"log: what is too long is cut, and ends its line");
}
