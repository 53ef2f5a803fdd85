/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

static void json__add(struct json *j, const char *text, size_t len)
{
	int err = buf__add(&j->text, text, len);

	j->err = j->err ? j->err : err;
}

static void json__put(struct json *j, char c)
{
	json__add(j, &c, 1);
}

static void json__puts(struct json *j, const char *text)
{
	json__add(j, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void json__printf(struct json *j, const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = buf__vprintf(&j->text, fmt, ap);
	va_end(ap);
	j->err = j->err ? j->err : err;
}

static void json__quote(struct json *j, const char *s)
{
	size_t len;

	json__put(j, '"');
	for (; *s; s += len) {
		len = utf8__length(s);
		if (!len) {
			json__puts(j, "\\ufffd");
			len = 1;
		} else if (*s == '"' || *s == '\\') {
			json__printf(j, "\\%c", *s);
		} else if (utf8__acts(s, len) || (j->html && strchr("<>&", *s))) {
			/* all that act on a terminal are of the first plane */
			json__printf(j, "\\u%04x", utf8__code(s, len));
		} else {
			json__add(j, s, len);
		}
	}
	json__put(j, '"');
}

/* What comes before any value. */
static void json__lead(struct json *j, const char *key)
{
	if ((j->closer[j->depth] == '}') != (key != NULL) || (!j->depth && j->used[0]))
		j->err = j->err ? j->err : -EINVAL;
	if (j->used[j->depth])
		json__puts(j, j->html ? "," : ", ");
	j->used[j->depth] = true;
	if (key) {
		json__quote(j, key);
		json__puts(j, j->html ? ":" : ": ");
	}
}

static void json__open(struct json *j, const char *key, char opener, char closer)
{
	json__lead(j, key);
	if (j->depth == JSON_DEPTH_MAX) {
		j->err = j->err ? j->err : -E2BIG;
		return;
	}
	json__put(j, opener);
	j->depth++;
	j->used[j->depth] = false;
	j->closer[j->depth] = closer;
}

void json__begin(struct json *j)
{
	*j = (struct json){0};
}

void json__begin_html(struct json *j)
{
	*j = (struct json){.html = true};
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
	json__put(j, j->closer[j->depth--]);
}

void json__str(struct json *j, const char *key, const char *value)
{
	json__lead(j, key);
	if (value)
		json__quote(j, value);
	else
		json__puts(j, "null");
}

/* Profiles have millions of numbers: printf() takes four times as long. */
void json__u64(struct json *j, const char *key, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);

	json__lead(j, key);
	do {
		digits[--first] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	json__add(j, digits + first, sizeof(digits) - first);
}

void json__double(struct json *j, const char *key, double value)
{
	json__lead(j, key);
	if (isfinite(value))
		json__printf(j, "%.9g", value);
	else
		json__puts(j, "null");
}

void json__bool(struct json *j, const char *key, bool value)
{
	json__lead(j, key);
	json__puts(j, value ? "true" : "false");
}

int json__end(struct json *j, struct buf *out)
{
	int err;

	if (j->depth || !j->used[0])
		j->err = j->err ? j->err : -EINVAL;
	json__put(j, '\n');
	err = buf__add(out, j->text.data, j->text.len);
	j->err = j->err ? j->err : err;
	buf__free(&j->text);
	return j->err;
}

int json__print(struct json *j, FILE *out)
{
	struct buf text = {0};
	int err = json__end(j, &text);

	if (!err)
		fwrite(text.data, 1, text.len, out);
	buf__free(&text);
	return err;
}
