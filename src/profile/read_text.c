/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The encodings in which shells and editors write text: UTF-8, perhaps behind a byte order mark,
 * and UTF-16, which PowerShell's `>` writes.  Invalid characters become U+FFFD.
 */
#include <string.h>

#include "profile/read_parts.h"

#define REPLACEMENT 0xfffdu

/* Can a name begin with it?  No element of pprof's does that has no bytes. */
static bool byte__is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '<';
}

enum read_encoding read_text__encoding(const char *bytes, size_t len, size_t *mark)
{
	*mark = 0;
	if (len >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
		*mark = 3;
		return READ_UTF8;
	}
	if (len >= 2 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2))) {
		*mark = 2;
		return *bytes == '\xff' ? READ_UTF16_LE : READ_UTF16_BE;
	}
	/* without a mark: two characters that each have one byte of two */
	if (len < 4)
		return READ_UTF8;
	if (byte__is_letter(bytes[0]) && !bytes[1] && bytes[2] && !bytes[3])
		return READ_UTF16_LE;
	if (!bytes[0] && byte__is_letter(bytes[1]) && !bytes[2] && bytes[3])
		return READ_UTF16_BE;
	return READ_UTF8;
}

static int character__add(struct buf *to, uint32_t c)
{
	char text[4];
	size_t n;

	if (c < 0x80) {
		text[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		text[0] = (char)(0xc0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		text[0] = (char)(0xe0 | c >> 12);
		n = 3;
	} else {
		text[0] = (char)(0xf0 | c >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		text[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
	return buf__add(to, text, n);
}

/* One unit, which may be a half of a character. */
static int wide__unit(struct read_wide *w, struct buf *to, uint32_t unit)
{
	const uint32_t high = w->high;
	int err = 0;

	w->high = 0;
	if (high && unit >= 0xdc00 && unit <= 0xdfff)
		return character__add(to, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
	if (high)
		err = character__add(to, REPLACEMENT);
	if (unit >= 0xd800 && unit <= 0xdbff) {
		w->high = unit;
		return err;
	}
	if (unit >= 0xdc00 && unit <= 0xdfff)
		unit = REPLACEMENT;
	return err ? err : character__add(to, unit);
}

int read_text__add(struct read_wide *w, struct buf *to, const char *bytes, size_t len)
{
	int err = 0;

	if (w->encoding == READ_UTF8)
		return buf__add(to, bytes, len);
	for (size_t i = 0; i < len && !err; i++) {
		const uint32_t byte = (unsigned char)bytes[i];

		if (!w->odd) {
			w->first = byte;
			w->odd = true;
			continue;
		}
		w->odd = false;
		err = wide__unit(w, to,
				 w->encoding == READ_UTF16_LE ? byte << 8 | w->first
							      : w->first << 8 | byte);
	}
	return err;
}
