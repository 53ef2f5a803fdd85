/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/utf8.h"

#include <string.h>

size_t utf8__length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
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

uint32_t utf8__code(const char *s, size_t len)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)s[0] & masks[len];

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

char *utf8__put(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

bool utf8__acts(const char *text, size_t len)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0, 0x1f},	  {0x7f, 0x9f},	    {0x61c, 0x61c},   {0x200e, 0x200f},
		{0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff},
	};
	const uint32_t c = utf8__code(text, len);

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

void utf8__tame(char *line)
{
	char *to = line;
	size_t len;

	for (const char *s = line; *s; s += len) {
		len = utf8__length(s);
		if (!len || utf8__acts(s, len)) {
			*to++ = '?';
			len = len ? len : 1;
			continue;
		}
		memmove(to, s, len);
		to += len;
	}
	*to = '\0';
}
