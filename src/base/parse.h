/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decimal numbers in text: options, and what the kernel writes in /proc.  No sign, no blanks, no
 * locale; a number that is too large is an error and never wraps around.
 */
#ifndef XR_BASE_PARSE_H
#define XR_BASE_PARSE_H

#include <stdint.h>

/*
 * parse__digits - the digits at *@at, up to the first other character, which *@at then
 * points at.  -EINVAL: there is no digit; -ERANGE: above @max.  @at and @out are as they were then.
 */
int parse__digits(const char **at, uint64_t max, uint64_t *out);

/* parse__field - the same behind blanks and tabs: the next number of a line of numbers. */
int parse__field(const char **at, uint64_t max, uint64_t *out);

/* parse__u64 - all of @text is one number.  -EINVAL, -ERANGE. */
int parse__u64(const char *text, uint64_t max, uint64_t *out);

/*
 * parse__u64_to - the number at *@at, which @end or the end of the text must follow; *@at then
 * points at that.  -EINVAL, -ERANGE.
 */
int parse__u64_to(const char **at, char end, uint64_t max, uint64_t *out);

/* parse__hex - what the hexadecimal digit @c, a small letter if it is one, stands for; -1: it is
 * none. */
int parse__hex(char c);

/*
 * parse__seconds - a time: digits with or without a fraction, then nothing or "s" (seconds), "ms",
 * "m" (minutes) or "h" (hours).  In seconds; -EINVAL.
 */
int parse__seconds(const char *text, double *out);

/*
 * parse__size - bytes: a number, then nothing or "K", "M" or "G", for KiB, MiB, GiB.  -EINVAL,
 * -ERANGE.
 */
int parse__size(const char *text, uint64_t *out);

#endif
