/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/utf8.h"

#include <stdint.h>
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

bool utf8__acts(const char *text, size_t len)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x80, 0x9f},	  {0x61c, 0x61c},   {0x200e, 0x200f},
		{0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff},
	};
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;

	if (len == 1)
		return *s < 0x20 || *s == 0x7f;
	if (len > 3)
		return false;
	c = len == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
		     : (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
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
