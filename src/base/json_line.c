/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/json_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"

#define DEPTH_MAX 16

static void line__blanks(struct json_line *j)
{
	j->at += strspn(j->at, " \t\r\n");
}

/* Take @c, with blanks before it. */
static bool line__take(struct json_line *j, char c)
{
	line__blanks(j);
	if (*j->at != c)
		return false;
	j->at++;
	return true;
}

/* Four digits of hex. */
static bool line__hex(struct json_line *j, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++, j->at++) {
		int digit = parse__hex((char)tolower((unsigned char)*j->at));

		if (digit < 0)
			return false;
		*out = *out << 4 | (uint32_t)digit;
	}
	return true;
}

/* What \u stands for, behind that. */
static bool line__unicode(struct json_line *j, char **to)
{
	uint32_t c, low;

	if (!line__hex(j, &c) || !c || (c >= 0xdc00 && c <= 0xdfff))
		return false;
	if (c >= 0xd800 && c <= 0xdbff) {
		if (strncmp(j->at, "\\u", 2) != 0)
			return false;
		j->at += 2;
		if (!line__hex(j, &low) || low < 0xdc00 || low > 0xdfff)
			return false;
		c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
	}
	*to = utf8__put(*to, c);
	return true;
}

static bool line__escape(struct json_line *j, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c = *j->at;

	if (!c)
		return false;
	j->at++;
	if (c == 'u')
		return line__unicode(j, to);
	found = strchr(from, c);
	if (found)
		*(*to)++ = into[found - from];
	return found != NULL;
}

/* A string, in its place: what it stands for is never longer. */
static bool line__string(struct json_line *j, const char **out)
{
	char *to;

	if (!line__take(j, '"'))
		return false;
	to = j->at;
	*out = to;
	while (*j->at != '"') {
		size_t len = utf8__length(j->at);

		if (*j->at == '\\') {
			j->at++;
			if (!line__escape(j, &to))
				return false;
			continue;
		}
		if (!len || (unsigned char)*j->at < ' ')
			return false;
		memmove(to, j->at, len);
		to += len;
		j->at += len;
	}
	j->at++;
	*to = '\0';
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of RFC 8259.  The program never sets the locale of numbers, which strtod() heeds. */
static bool line__number(struct json_line *j, double *out)
{
	const char *at = j->at + (*j->at == '-');
	size_t digits = strspn(at, "0123456789");
	char *end;

	if (!digits || (*at == '0' && digits > 1) || at[digits] == 'x' || at[digits] == 'X')
		return false;
	*out = strtod(j->at, &end);
	j->at = end;
	return is_digit(end[-1]);
}

/* A value other than a string or a number: objects, arrays, true, false and null. */
static bool line__skip(struct json_line *j)
{
	static const char *const words[] = {"true", "false", "null"};
	char closer[DEPTH_MAX];
	const char *text;
	double number;
	int depth = 0;

	do {
		line__blanks(j);
		if (depth && *j->at == closer[depth - 1]) {
			depth--;
			j->at++;
		} else if (*j->at == '{' || *j->at == '[') {
			if (depth == DEPTH_MAX)
				return false;
			closer[depth++] = *j->at == '{' ? '}' : ']';
			j->at++;
		} else if (*j->at == '"') {
			if (!line__string(j, &text))
				return false;
		} else if (depth && (*j->at == ',' || *j->at == ':')) {
			j->at++;
		} else if (*j->at == '-' || is_digit(*j->at)) {
			if (!line__number(j, &number))
				return false;
		} else {
			size_t i, len = 0;

			for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
				len = strlen(words[i]);
				if (!strncmp(j->at, words[i], len))
					break;
			}
			if (i == sizeof(words) / sizeof(words[0]))
				return false;
			j->at += len;
		}
	} while (depth);
	return true;
}

void json_line__begin(struct json_line *j, char *text)
{
	*j = (struct json_line){.at = text};
}

/* What is behind the last field. */
static int line__end(struct json_line *j)
{
	if (!line__take(j, '}'))
		return -EINVAL;
	line__blanks(j);
	return *j->at ? -EINVAL : 0;
}

int json_line__next(struct json_line *j, struct json_field *field)
{
	bool fine;

	*field = (struct json_field){0};
	if (!j->begun) {
		if (!line__take(j, '{'))
			return -EINVAL;
		line__blanks(j);
		if (*j->at == '}')
			return line__end(j);
	} else if (!line__take(j, ',')) {
		return line__end(j);
	}
	j->begun = true;
	if (!line__string(j, &field->key) || !line__take(j, ':'))
		return -EINVAL;
	line__blanks(j);
	if (*j->at == '"') {
		fine = line__string(j, &field->text);
	} else if (*j->at == '-' || is_digit(*j->at)) {
		field->is_number = true;
		fine = line__number(j, &field->number);
	} else {
		fine = line__skip(j);
	}
	return fine ? 1 : -EINVAL;
}
