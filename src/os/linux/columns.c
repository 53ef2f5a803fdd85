/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/linux/columns.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"

#define CUT "..."

void columns__locale(void)
{
	setlocale(LC_CTYPE, "");
}

/* One character: its bytes, and the columns it takes; `shown` false: a '?' stands for it. */
struct cell {
	size_t len;
	unsigned int width;
	bool shown;
};

static struct cell cell__at(const char *s, bool utf8)
{
	struct cell c = {.len = utf8__length(s), .width = 1};
	int width;

	if (!c.len || utf8__acts(s, c.len)) {
		c.len = c.len ? c.len : 1;
		return c;
	}
	width = c.len == 1 ? 1 : utf8 ? wcwidth((wchar_t)utf8__code(s, c.len)) : -1;
	c.shown = width >= 0;
	c.width = c.shown ? (unsigned int)width : 1;
	return c;
}

static bool locale__is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* The bytes of @text that fit in @width; *@taken: the columns that they take. */
static size_t text__fits(const char *text, unsigned int width, bool utf8, unsigned int *taken)
{
	size_t at = 0;

	*taken = 0;
	while (text[at]) {
		struct cell c = cell__at(text + at, utf8);

		if (*taken + c.width > width)
			break;
		*taken += c.width;
		at += c.len;
	}
	return at;
}

unsigned int columns__of(const char *text)
{
	unsigned int taken;

	text__fits(text, UINT32_MAX / 2, locale__is_utf8(), &taken);
	return taken;
}

int columns__fit(struct buf *b, const char *text, unsigned int width, bool pad)
{
	bool utf8 = locale__is_utf8(), cut;
	unsigned int taken;
	size_t end = text__fits(text, width, utf8, &taken);
	int err = 0;

	cut = text[end] && width > 2 * strlen(CUT);
	if (cut)
		end = text__fits(text, width - (unsigned int)strlen(CUT), utf8, &taken);
	for (size_t at = 0; at < end && !err;) {
		struct cell c = cell__at(text + at, utf8);

		err = c.shown ? buf__add(b, text + at, c.len) : buf__str(b, "?");
		at += c.len;
	}
	if (cut && !err) {
		err = buf__str(b, CUT);
		taken += strlen(CUT);
	}
	if (pad && !err)
		err = buf__printf(b, "%*s", (int)(width - taken), "");
	return err;
}
