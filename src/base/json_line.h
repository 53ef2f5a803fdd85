/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A reader of lines of JSON (RFC 8259), an object each, whose values are strings and numbers.  Of
 * other values it knows only that they are there.
 *
 *	struct json_line j;
 *	struct json_field field;
 *
 *	json_line__begin(&j, text);
 *	while ((err = json_line__next(&j, &field)) > 0)
 *		...
 */
#ifndef XR_BASE_JSON_LINE_H
#define XR_BASE_JSON_LINE_H

#include <stdbool.h>

struct json_line {
	char *at;
	bool begun;
};

/* Strings are valid as long as the text. */
struct json_field {
	const char *key;
	const char *text; /* a string; NULL: the value is not one */
	double number;	  /* a number, if `is_number` */
	bool is_number;
};

/* json_line__begin - of @text, terminated, which is changed by what follows. */
void json_line__begin(struct json_line *j, char *text);

/*
 * json_line__next - the next field into @field.  1; 0: there are no more, and nothing is behind
 * them; -EINVAL: this is not such a line.  A string with NUL in it, or with half a surrogate pair,
 * is refused.
 */
int json_line__next(struct json_line *j, struct json_field *field);

#endif
