/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text in columns, in a locale of UTF-8 and in that of C. */
#include "os/linux/columns.h"

#include <locale.h>

#include "tap.h"

static void fits(const char *text, unsigned int width, bool pad, const char *want)
{
	struct buf b = {0};

	tap__bail_if(columns__fit(&b, text, width, pad) || buf__add(&b, "", 1), "no memory");
	tap__ok(!strcmp(b.data, want), "'%s' in %u columns: '%s'", text, width, b.data);
	buf__free(&b);
}

static void test_ascii(void)
{
	fits("abc", 3, false, "abc");
	fits("abc", 5, true, "abc  ");
	fits("abcdefghij", 9, false, "abcdef...");
	fits("abcdefghij", 4, false, "abcd");
	fits("abc", 0, true, "");
	fits("", 2, true, "  ");
	fits("a\x1b[2J\x01", 20, false, "a?[2J?");
	fits("a\xff\xc3", 20, false, "a??");
}

/* U+00E9; U+5B57, two columns; U+0301, none: it goes on the letter before. */
static void test_utf8(void)
{
	fits("\xc3\xa9t\xc3\xa9", 3, false, "\xc3\xa9t\xc3\xa9");
	fits("\xe5\xad\x97\xe5\xad\x97", 3, true, "\xe5\xad\x97 ");
	fits("e\xcc\x81x", 2, false, "e\xcc\x81x");
	fits("\xe2\x80\xae", 2, false, "?");
	tap__ok(columns__of("\xe5\xad\x97"
			    "a") == 3,
		"wide characters take two");
}

TEST(columns)
{
	setlocale(LC_CTYPE, "C");
	test_ascii();
	fits("\xc3\xa9", 3, false, "?");
	tap__ok(columns__of("\xe5\xad\x97") == 1, "what is not shown takes the place of a mark");
	setenv("LC_ALL", "C.UTF-8", 1);
	columns__locale();
	test_ascii();
	test_utf8();
}
