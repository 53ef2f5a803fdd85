/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Escaping: nothing that does harm is left, and nothing is lost. */
#include "base/escape.h"
#include "some.h"
#include "tap.h"

/* @b is @want; it is freed.  @name: the form of it that a line can show. */
static void is(struct buf *b, const char *want, const char *name)
{
	buf__add(b, "", 1);
	tap__is(b->data, want, "escaped: %s", name);
	buf__free(b);
}

TEST(escape)
{
	/* a name, what becomes of it, and what else is escaped, NULL: quotes */
	static const char *const rows[][3] = {
		{"", ""},
		{"read.csv two words %in% a;b gr\xc3\xb6\xc3\x9f "
		 "\xe2\x82\xac\xf0\x9f\x98\x80\xc2\xa0",
		 "read.csv two words %in% a;b gr\xc3\xb6\xc3\x9f "
		 "\xe2\x82\xac\xf0\x9f\x98\x80\xc2\xa0"},
		{"a\nb\tc\rd \x1b[2J\x07\x7f \xc2\x9b[",
		 "a\\nb\\tc\\rd \\x1b[2J\\x07\\x7f \\xc2\\x9b["},
		/* quotes: R's own stay, all others go */
		{"say \"hi\"", "say \"hi\"", ""},
		{"say \"hi\"", "say \\x22hi\\x22"},
		{"a[[\"b\"]]", "a[[\"b\"]]"},
		{"a[[\"b\" \"c\"]]", "a[[\"b\\x22 \\x22c\"]]"},
		{"a[[\"\"]]", "a[[\"\"]]"},
		{"a\"[[\"b\"]]", "a\\x22[[\"b\"]]"},
		{"[[\"b\"]]", "[[\\x22b\\x22]]"},
		{"a[[\"]]", "a[[\\x22]]"},
		{"a\"]]", "a\\x22]]"},
		{"\"]]", "\\x22]]"},
		{"a;b", "a\\x3bb", "\";"},
		/* not UTF-8: stray, overlong, surrogate, too large, cut short */
		{"\xe4 \x80z \xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xff\xfe \xe2\x82",
		 "\\xe4 \\x80z \\xc0\\xaf \\xe0\\x80\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 "
		 "\\xff\\xfe \\xe2\\x82"},
		{"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
		/* a backslash is doubled where it would read as an escape, and only there */
		{"a\\b %\\% a\\nb \\x22 a\\\\b a\\\nb a\\\" a\\",
		 "a\\b %\\% a\\\\nb \\\\x22 a\\\\\\b a\\\\\\nb a\\\\\\x22 a\\"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf b = {0};

		tap__bail_if(escape__text(&b, rows[i][0], rows[i][2] ? rows[i][2] : "\"", SIZE_MAX),
			     "no memory");
		is(&b, rows[i][1], rows[i][1]);
	}
}

/* Any name comes back whole, and no byte that does harm is left. */
TEST(round_trip)
{
	static const char alphabet[] = "\\\\\\nrtx2\"[]\n\t\x1b\x7f \xc2\x9b\xa0\xc3\xe4\xf0;a";
	size_t lost = 0, harm = 0;

	for (int i = 0; i < 100000; i++) {
		size_t len = some(12);
		struct buf b = {0}, back = {0};
		char name[16];

		for (size_t j = 0; j < len; j++)
			name[j] = alphabet[some(sizeof(alphabet) - 1)];
		name[len] = '\0';
		tap__bail_if(escape__text(&b, name, "\";", SIZE_MAX), "no memory");
		buf__add(&b, "", 1);
		for (const char *s = b.data; *s; s++)
			harm += (unsigned char)*s < 0x20 || *s == 0x7f || *s == ';' ||
				(*s == '"' && !strstr(b.data, "[[\""));
		tap__bail_if(escape__undo(&back, b.data, strlen(b.data)), "no memory");
		if ((back.len != len || (len && memcmp(back.data, name, len))) && !lost++)
			tap__diag("first lost: round %d", i);
		buf__free(&b);
		buf__free(&back);
	}
	tap__ok(!lost, "100000 names come back from their escaped form, %zu lost", lost);
	tap__ok(!harm, "no control character, quote or semicolon is left, %zu are", harm);
}

TEST(undo)
{
	static const char *const rows[][2] = {
		{"a\\q \\x4 \\x4G \\x00 \\X41 \\", "a\\q \\x4 \\x4G \\x00 \\X41 \\"},
		{"\\x4", "\\x4"},
		{"\\x41\\n", "A\n"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf b = {0};

		tap__bail_if(escape__undo(&b, rows[i][0], strlen(rows[i][0])), "no memory");
		is(&b, rows[i][1], rows[i][0]);
	}
}
