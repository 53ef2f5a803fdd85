/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Escaping: nothing that does harm is left, and nothing is lost. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "tap.h"

static const char *text(struct buf *b)
{
	buf__add(b, "", 1);
	return b->data;
}

static void check_escape(const char *name, const char *also, const char *want)
{
	struct buf b = {0};
	int err = escape__text(&b, name, also, SIZE_MAX);
	bool good = !err && !strcmp(text(&b), want);

	if (!tap__ok(good, "escaped as it should be: %s", want))
		tap__diag("got %s", b.data);
	buf__free(&b);
}

TEST(escape)
{
	check_escape("", "\"", "");
	check_escape("read.csv", "\"", "read.csv");
	check_escape("two words", "\"", "two words");
	check_escape("%in%", "\"", "%in%");
	check_escape("gr\xc3\xb6\xc3\x9f"
		     "e\xe2\x82\xac\xf0\x9f\x98\x80",
		     "\"",
		     "gr\xc3\xb6\xc3\x9f"
		     "e\xe2\x82\xac\xf0\x9f\x98\x80");
	check_escape("a\nb\tc\rd", "\"", "a\\nb\\tc\\rd");
	check_escape("\x1b[2J\x07\x7f", "\"", "\\x1b[2J\\x07\\x7f");
	check_escape("\xc2\x9b"
		     "31m",
		     "\"", "\\xc2\\x9b31m");
	check_escape("\xc2\xa0", "\"", "\xc2\xa0");
	/* quotes: R's own stay, all others go */
	check_escape("say \"hi\"", "\"", "say \\x22hi\\x22");
	check_escape("say \"hi\"", "", "say \"hi\"");
	check_escape("a[[\"b\"]]", "\"", "a[[\"b\"]]");
	check_escape("a[[\"b\" \"c\"]]", "\"", "a[[\"b\\x22 \\x22c\"]]");
	check_escape("a[[\"\"]]", "\"", "a[[\"\"]]");
	check_escape("a\"[[\"b\"]]", "\"", "a\\x22[[\"b\"]]");
	check_escape("[[\"b\"]]", "\"", "[[\\x22b\\x22]]");
	check_escape("a[[\"]]", "\"", "a[[\\x22]]");
	check_escape("a\"]]", "\"", "a\\x22]]");
	check_escape("\"]]", "\"", "\\x22]]");
	check_escape("a;b", "\";", "a\\x3bb");
	check_escape("a;b", "\"", "a;b");
	/* not UTF-8: stray, cut short, overlong, surrogate, too large */
	check_escape("\xe4", "\"", "\\xe4");
	check_escape("\x80z", "\"", "\\x80z");
	check_escape("\xe2\x82", "\"", "\\xe2\\x82");
	check_escape("\xf0\x9f\x98", "\"", "\\xf0\\x9f\\x98");
	check_escape("\xc0\xaf", "\"", "\\xc0\\xaf");
	check_escape("\xe0\x80\xaf", "\"", "\\xe0\\x80\\xaf");
	check_escape("\xed\xa0\x80", "\"", "\\xed\\xa0\\x80");
	check_escape("\xf4\x90\x80\x80", "\"", "\\xf4\\x90\\x80\\x80");
	check_escape("\xff\xfe", "\"", "\\xff\\xfe");
	/* a backslash is doubled where it would read as an escape, and only there */
	check_escape("a\\b", "\"", "a\\b");
	check_escape("%\\%", "\"", "%\\%");
	check_escape("a\\", "\"", "a\\");
	check_escape("a\\nb", "\"", "a\\\\nb");
	check_escape("\\x22", "\"", "\\\\x22");
	check_escape("a\\\\b", "\"", "a\\\\\\b");
	check_escape("a\\\nb", "\"", "a\\\\\\nb");
	check_escape("a\\\"", "\"", "a\\\\\\x22");
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* Any name comes back whole, and no byte that does harm is left. */
TEST(round_trip)
{
	static const char alphabet[] = "\\\\\\nrtx2\"[]\n\t\x1b\x7f \xc2\x9b\xa0\xc3\xe4\xf0;a";
	uint64_t state = 42;
	size_t lost = 0, harm = 0;

	for (int i = 0; i < 100000; i++) {
		size_t len = next(&state) % 12;
		struct buf b = {0}, back = {0};
		char name[16];

		for (size_t j = 0; j < len; j++)
			name[j] = alphabet[next(&state) % (sizeof(alphabet) - 1)];
		name[len] = '\0';
		if (escape__text(&b, name, "\";", SIZE_MAX))
			tap__bail("no memory");
		text(&b);
		for (const char *s = b.data; *s; s++)
			harm += (unsigned char)*s < 0x20 || *s == 0x7f || *s == ';' ||
				(*s == '"' && !strstr(b.data, "[[\""));
		if (escape__undo(&back, b.data, strlen(b.data)))
			tap__bail("no memory");
		if ((back.len != len || (len && memcmp(back.data, name, len))) && !lost++)
			tap__diag("first lost: round %d", i);
		buf__free(&b);
		buf__free(&back);
	}
	tap__ok(!lost, "100000 names come back from their escaped form, %zu lost", lost);
	tap__ok(!harm, "no control character, quote or semicolon is left, %zu are", harm);
}

/* What is no escape stays as it is. */
TEST(undo)
{
	static const struct {
		const char *text, *is;
	} all[] = {
		{"a\\q\\", "a\\q\\"}, {"\\x4", "\\x4"}, {"\\x4G", "\\x4G"}, {"\\x00", "\\x00"},
		{"\\X41", "\\X41"},   {"\\", "\\"},	{"", ""},	    {"\\x41\\n", "A\n"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct buf b = {0};

		if (escape__undo(&b, all[i].text, strlen(all[i].text)))
			tap__bail("no memory");
		text(&b);
		tap__ok(!strcmp(b.data, all[i].is), "%s", all[i].text);
		buf__free(&b);
	}
}
