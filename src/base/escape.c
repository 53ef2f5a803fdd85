/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdbool.h>
#include <string.h>

#include "base/escape.h"

/*
 * The length of the UTF-8 character at @s, 0 if there is none (RFC 3629: no overlong forms, no
 * surrogates, nothing past U+10FFFF).  @s is terminated, so a NUL ends each look ahead.
 */
static size_t utf8__length(const unsigned char *s)
{
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static int escape__hex(struct buf *b, const unsigned char *s, size_t len)
{
	int err = 0;

	for (size_t i = 0; i < len && !err; i++)
		err = buf__printf(b, "\\x%02x", s[i]);
	return err;
}

/* One character of @len bytes at @s that may not pass as it is. */
static int escape__one(struct buf *b, const unsigned char *s, size_t len)
{
	switch (*s) {
	case '\n':
		return buf__str(b, "\\n");
	case '\r':
		return buf__str(b, "\\r");
	case '\t':
		return buf__str(b, "\\t");
	case '\\':
		return buf__str(b, "\\\\");
	default:
		return escape__hex(b, s, len);
	}
}

/* What to escape: the characters @also, but not at the two places of R's own quotes. */
struct escape {
	const char *also;
	const unsigned char *open, *close;
};

/* Must the character at @s be escaped?  @len: its length in bytes. */
static bool escape__wants(const struct escape *e, const unsigned char *s, size_t *len)
{
	size_t ignored;

	*len = utf8__length(s);
	if (!*len) {
		*len = 1;
		return true;
	}
	if (*s == '\\')
		return s[1] && (strchr("\\nrtx", s[1]) || escape__wants(e, s + 1, &ignored));
	if (*len == 1)
		return *s < 0x20 || *s == 0x7f ||
		       (strchr(e->also, *s) && s != e->open && s != e->close);
	return *len == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

int escape__text(struct buf *b, const char *text, const char *also)
{
	const unsigned char *s = (const unsigned char *)text, *plain = s;
	struct escape e = {.also = also};
	size_t size = strlen(text), len;
	int err;

	if (size > 3 && !strcmp(text + size - 3, "\"]]")) {
		const char *item = strstr(text, "[[\"");

		/* a symbol comes first, and the quotes are two */
		if (item && item > text && item + 2 < text + size - 3) {
			e.open = s + (item + 2 - text);
			e.close = s + size - 3;
		}
	}
	for (; *s; s += len) {
		if (!escape__wants(&e, s, &len))
			continue;
		err = buf__add(b, plain, (size_t)(s - plain));
		if (!err)
			err = escape__one(b, s, len);
		if (err)
			return err;
		plain = s + len;
	}
	return buf__add(b, plain, (size_t)(s - plain));
}
