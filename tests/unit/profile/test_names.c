/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names: the forms of the naming rule, and escaping. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "profile/names.h"
#include "tap.h"

static const char *text(struct buf *b)
{
	buf__add(b, "", 1);
	return b->data;
}

static void check_render(enum xr_form form, uint64_t number, const char *want)
{
	struct buf b = {0};
	int err = name__render(&b, form, "a", "b", number);

	tap__ok(!err && !strcmp(text(&b), want), "form %d: %s", form, want);
	buf__free(&b);
}

static uint64_t bits(double real)
{
	uint64_t u;

	memcpy(&u, &real, sizeof(u));
	return u;
}

static void test_render(void)
{
	struct buf b = {0};
	char line[400];

	check_render(XR_FORM_SYMBOL, 0, "a");
	check_render(XR_FORM_ANON, 0, "<Anonymous>");
	check_render(XR_FORM_COLON2, 0, "a::b");
	check_render(XR_FORM_COLON3, 0, "a:::b");
	check_render(XR_FORM_DOLLAR, 0, "a$b");
	check_render(XR_FORM_ITEM_SYM, 0, "a[[b]]");
	check_render(XR_FORM_ITEM_STR, 0, "a[[\"b\"]]");
	check_render(XR_FORM_ITEM_INT, 7, "a[[7]]");
	check_render(XR_FORM_ITEM_INT, (uint64_t)-2147483648LL, "a[[-2147483648]]");
	check_render(XR_FORM_ITEM_REAL, bits(2), "a[[2]]");
	check_render(XR_FORM_ITEM_REAL, bits(-3), "a[[-3]]");
	check_render(XR_FORM_ITEM_REAL, bits(2.7), "a[[3]]");
	check_render(XR_FORM_ITEM_REAL, bits(INFINITY), "a[[inf]]");
	check_render(XR_FORM_ITEM_REAL, bits(-INFINITY), "a[[-inf]]");
	check_render(XR_FORM_ITEM_REAL, 0x7ff80000000007a2ULL, "a[[nan]]"); /* NA_real_ */
	snprintf(line, sizeof(line), "a[[%.0f]]", 1.7e308);
	check_render(XR_FORM_ITEM_REAL, bits(1.7e308), line);
	check_render(XR_FORM_ITEM_ODD, 0, "a[[?]]");
	check_render(XR_FORM_NATIVE, 0, "a");
	tap__ok(name__render(&b, XR_FORM_NONE, "a", "b", 0) == -EINVAL, "no form is no name");
	tap__ok(name__render(&b, XR_FORMS, "a", "b", 0) == -EINVAL, "a form past the last is none");
	buf__free(&b);
}

static void check_escape(const char *name, const char *also, const char *want)
{
	struct buf b = {0};
	int err = name__escape(&b, name, also);
	bool good = !err && !strcmp(text(&b), want);

	if (!tap__ok(good, "escaped as it should be: %s", want))
		tap__diag("got %s", b.data);
	buf__free(&b);
}

static void test_escape(void)
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

/* Undo name__escape: what a reader that knows escapes would do. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (*s != '\\' || !s[1] || !strchr("\\nrtx", s[1])) {
			*to++ = *s++;
		} else if (s[1] == 'x') {
			char hex[3] = {s[2], s[3], 0};

			*to++ = (char)strtoul(hex, NULL, 16);
			s += 4;
		} else {
			*to++ = s[1] == 'n' ? '\n' : s[1] == 'r' ? '\r' : s[1] == 't' ? '\t' : '\\';
			s += 2;
		}
	}
	*to = '\0';
}

/* Any name comes back whole, and no byte that does harm is left. */
static void test_round_trip(void)
{
	static const char alphabet[] = "\\\\\\nrtx2\"[]\n\t\x1b\x7f \xc2\x9b\xa0\xc3\xe4\xf0;a";
	uint64_t state = 42;
	size_t lost = 0, harm = 0;

	for (int i = 0; i < 100000; i++) {
		size_t len = next(&state) % 12;
		struct buf b = {0};
		char name[16];

		for (size_t j = 0; j < len; j++)
			name[j] = alphabet[next(&state) % (sizeof(alphabet) - 1)];
		name[len] = '\0';
		if (name__escape(&b, name, "\";"))
			tap__bail("no memory");
		text(&b);
		for (const char *s = b.data; *s; s++)
			harm += (unsigned char)*s < 0x20 || *s == 0x7f || *s == ';' ||
				(*s == '"' && !strstr(b.data, "[[\""));
		unescape(b.data);
		if (strcmp(b.data, name) && !lost++)
			tap__diag("first lost: round %d", i);
		buf__free(&b);
	}
	tap__ok(!lost, "100000 names come back from their escaped form, %zu lost", lost);
	tap__ok(!harm, "no control character, quote or semicolon is left, %zu are", harm);
}

int main(void)
{
	test_render();
	test_escape();
	test_round_trip();
	return tap__done();
}
