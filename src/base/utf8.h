/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which bytes are text, and which text acts on who shows it.
 */
#ifndef XR_BASE_UTF8_H
#define XR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * utf8__length - of the character at @s, in bytes; 0 if there is none (RFC 3629: no overlong forms,
 * no surrogates, nothing past U+10FFFF).  @s is terminated, and so each look ahead ends.
 */
size_t utf8__length(const char *s);

/* utf8__code - the number of the character of @len bytes at @s. */
uint32_t utf8__code(const char *s, size_t len);

/* utf8__put - the character @c to @to, at most four bytes; where it ends. */
char *utf8__put(char *to, uint32_t c);

/*
 * utf8__acts - does the character of @len bytes at @s do something else than to be shown?  Control
 * characters (C0, DEL, C1); what ends a line (U+2028, U+2029); what turns the direction of writing,
 * so that one text is shown as another (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069); and U+FEFF, which some readers take for a mark of the encoding.
 */
bool utf8__acts(const char *s, size_t len);

/* utf8__tame - have each character of @line that acts, and each byte that is not UTF-8, be '?'. */
void utf8__tame(char *line);

#endif
