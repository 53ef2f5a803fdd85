/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "base/json.h"

/*
 * Length of the UTF-8 sequence at @s, 0 if it is none (RFC 3629: no overlong forms, no surrogates,
 * nothing above U+10FFFF).  @s is terminated: a continuation byte is never NUL.
 */
static size_t utf8__len(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static void json__quote(struct json *j, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len;

	fputc('"', j->out);
	while (*s) {
		len = utf8__len(s);
		if (!len) {
			fputs("\\ufffd", j->out);
			len = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(j->out, "\\%c", *s);
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(j->out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, len, j->out);
		}
		s += len;
	}
	fputc('"', j->out);
}

/* What comes before any value. */
static void json__lead(struct json *j, const char *key)
{
	if ((j->closer[j->depth] == '}') != (key != NULL) || (!j->depth && j->used[0]))
		j->err = j->err ? j->err : -EINVAL;
	if (j->used[j->depth])
		fputs(", ", j->out);
	j->used[j->depth] = true;
	if (key) {
		json__quote(j, key);
		fputs(": ", j->out);
	}
}

static void json__open(struct json *j, const char *key, char opener, char closer)
{
	json__lead(j, key);
	if (j->depth == JSON_DEPTH_MAX) {
		j->err = j->err ? j->err : -E2BIG;
		return;
	}
	fputc(opener, j->out);
	j->depth++;
	j->used[j->depth] = false;
	j->closer[j->depth] = closer;
}

void json__begin(struct json *j, FILE *out)
{
	*j = (struct json){.out = out};
}

void json__object(struct json *j, const char *key)
{
	json__open(j, key, '{', '}');
}

void json__array(struct json *j, const char *key)
{
	json__open(j, key, '[', ']');
}

void json__close(struct json *j)
{
	if (!j->depth) {
		j->err = j->err ? j->err : -EINVAL;
		return;
	}
	fputc(j->closer[j->depth--], j->out);
}

void json__str(struct json *j, const char *key, const char *value)
{
	json__lead(j, key);
	if (value)
		json__quote(j, value);
	else
		fputs("null", j->out);
}

void json__u64(struct json *j, const char *key, uint64_t value)
{
	json__lead(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json__double(struct json *j, const char *key, double value)
{
	json__lead(j, key);
	if (isfinite(value))
		fprintf(j->out, "%.9g", value);
	else
		fputs("null", j->out);
}

void json__bool(struct json *j, const char *key, bool value)
{
	json__lead(j, key);
	fputs(value ? "true" : "false", j->out);
}

int json__end(struct json *j)
{
	if (j->depth || !j->used[0])
		j->err = j->err ? j->err : -EINVAL;
	fputc('\n', j->out);
	errno = 0;
	if (fflush(j->out) || ferror(j->out))
		return errno ? -errno : -EIO;
	return j->err;
}
