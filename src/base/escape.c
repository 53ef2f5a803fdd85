/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdbool.h>
#include <string.h>

#include "base/escape.h"
#include "base/parse.h"
#include "base/utf8.h"

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

	*len = utf8__length((const char *)s);
	if (!*len) {
		*len = 1;
		return true;
	}
	if (*s == '\\')
		return s[1] && (strchr("\\nrtx", s[1]) || escape__wants(e, s + 1, &ignored));
	if (*len == 1 && strchr(e->also, *s) && s != e->open && s != e->close)
		return true;
	return utf8__acts((const char *)s, *len);
}

/* Escape @text up to where it takes @max bytes.  1: there was more. */
static int escape__up_to(struct buf *b, const char *text, const struct escape *e, size_t max)
{
	const unsigned char *s = (const unsigned char *)text, *plain = s;
	size_t begin = b->len, whole = 0, len;
	const unsigned char *whole_at = s; /* where "..." still has room behind it */
	int err = 0;

	for (; *s && !err; s += len) {
		bool wants = escape__wants(e, s, &len);
		size_t size = b->len - begin + (size_t)(s - plain);

		if (size + 3 <= max) {
			whole = size;
			whole_at = s;
		}
		if (size + (wants ? 4 * len : len) > max) {
			/* what was escaped since then is taken back */
			if (whole_at < plain)
				b->len = begin + whole;
			else
				err = buf__add(b, plain, (size_t)(whole_at - plain));
			err = err ? err : buf__add(b, "...", 3);
			return err ? err : 1;
		}
		if (!wants)
			continue;
		err = buf__add(b, plain, (size_t)(s - plain));
		if (!err)
			err = escape__one(b, s, len);
		plain = s + len;
	}
	return err ? err : buf__add(b, plain, (size_t)(s - plain));
}

int escape__text(struct buf *b, const char *text, const char *also, size_t max)
{
	const unsigned char *s = (const unsigned char *)text;
	struct escape e = {.also = also};
	size_t size = strlen(text), begin = b->len;
	int err;

	if (size > 3 && !strcmp(text + size - 3, "\"]]")) {
		const char *item = strstr(text, "[[\"");

		/* a symbol comes first, and the quotes are two */
		if (item && item > text && item + 2 < text + size - 3) {
			e.open = s + (item + 2 - text);
			e.close = s + size - 3;
		}
	}
	err = escape__up_to(b, text, &e, max);
	if (err != 1 || !e.open)
		return err;
	/* the second of the two may be what was cut */
	b->len = begin;
	e.open = e.close = NULL;
	return escape__up_to(b, text, &e, max);
}

/* The byte that the escape at @s, of at most @len bytes, stands for, and its size; 0: it is not
 * one.
 */
static char escape__byte(const char *s, size_t len, size_t *size)
{
	static const char plain[] = "n\nr\rt\t\\\\";
	int high, low;

	*size = 2;
	for (size_t i = 0; len >= 2 && plain[i]; i += 2)
		if (s[1] == plain[i])
			return plain[i + 1];
	*size = 4;
	if (len < 4 || s[1] != 'x')
		return '\0';
	high = parse__hex(s[2]);
	low = parse__hex(s[3]);
	return high < 0 || low < 0 ? '\0' : (char)(high << 4 | low);
}

int escape__undo(struct buf *b, const char *text, size_t len)
{
	const char *end, *slash;
	size_t size;
	int err = 0;
	char byte;

	if (!len) /* of no text at all, maybe */
		return 0;
	end = text + len;
	while (!err && (slash = memchr(text, '\\', (size_t)(end - text)))) {
		byte = escape__byte(slash, (size_t)(end - slash), &size);
		/* another backslash stays */
		err = buf__add(b, text, (size_t)(slash - text) + (byte == '\0'));
		text = slash + (byte ? size : 1);
		if (!err && byte)
			err = buf__add(b, &byte, 1);
	}
	return err ? err : buf__add(b, text, (size_t)(end - text));
}
